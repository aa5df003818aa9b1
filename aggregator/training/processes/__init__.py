"""Several processes that train a head together."""
