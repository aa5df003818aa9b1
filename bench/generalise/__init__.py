"""A hospital that nobody has seen: what patterns find, and what each step behind the tagger adds."""
