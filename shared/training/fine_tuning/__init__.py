"""Fine-tuning of a transformer: the recipe, and the search for its settings."""
