"""Providers and hospitals that lie, with keys that count: what our own programs make of each, one lie at a time."""
