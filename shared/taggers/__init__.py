"""What finds PHI in a sentence: one interface, one file for each kind, and the registry that names them all."""
