"""PHI that nobody has labelled, looked for in labelled notes without a look at what is labelled."""
