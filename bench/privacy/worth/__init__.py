"""What sharing is worth: at one hospital's corpus, and at several hospitals."""
