"""The documentation as a site that needs no network: the pages of the repository, gathered, built by MkDocs, and looked through."""
