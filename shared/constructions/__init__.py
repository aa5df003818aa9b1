"""Constructions: what protects a share, each in a file of its own, and the registry that lists the procedures that make them."""
