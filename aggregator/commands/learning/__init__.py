"""Commands that train: on public text, on public notes, on the pool."""
