"""Attacks on which sentences belong together: to one note, or to one hospital's earlier share."""
