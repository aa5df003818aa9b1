"""Word vectors: reading, training, storing them, looking any word up, and its exact nearest neighbours."""
