"""Learning together without pooling: what a site does in a round, and how its results become one."""
