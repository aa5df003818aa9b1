"""PHI that rules find, and names that lists know."""
