"""Which sentences of shares are joined."""
