"""The tagger of Tchouka et al. 2023: a transformer that was trained on public text, and a layer of tags on it."""
