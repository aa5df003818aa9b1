"""Flower at the provider: the app that relays, and the link that nodes connect to."""
