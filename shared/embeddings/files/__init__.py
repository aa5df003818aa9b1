"""Word vectors from disk and to it, in the formats of others and in that of a release."""
