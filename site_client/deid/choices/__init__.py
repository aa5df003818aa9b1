"""What a hospital decides about notes that it hides: a file of settings, lists of its own, patients, and whether anybody may ever look back."""
