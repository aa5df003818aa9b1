"""Whoever attacks a representer while it learns: the networks, the pairs that they are shown, and what is asked for."""
