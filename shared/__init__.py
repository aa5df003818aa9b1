"""The science that both sides run: text, labels, models, training, privacy."""
