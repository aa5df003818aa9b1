"""Tokens, sentences and casing: the only view of a text that the models get."""
