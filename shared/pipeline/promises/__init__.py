"""What operating points are made of: what a pipeline hides of labelled sentences, and what of that a hospital may tell."""
