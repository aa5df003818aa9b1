"""What training together is worth and what it costs: parts of `docs/results/federated.json`."""
