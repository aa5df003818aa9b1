"""Measurements of taggers for docs/results/taggers.json."""
