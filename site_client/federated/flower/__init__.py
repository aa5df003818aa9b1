"""Flower at the site: the app that relays, the gate before it, and the node that runs it."""
