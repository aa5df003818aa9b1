"""Training loops: the tagger, and the representer against its adversaries."""
