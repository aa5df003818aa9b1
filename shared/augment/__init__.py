"""Changed copies of labelled text: what the adversarial training learns its invariance from."""
