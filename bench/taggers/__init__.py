"""Other taggers than the one of Friedrich et al. 2019, as published and then better: docs/results/taggers.json."""
