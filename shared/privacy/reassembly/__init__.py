"""Which sentences of a share belong together: what two of them have in common, and how that is learnt on public notes."""
