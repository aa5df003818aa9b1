"""The central provider's program: representer, shares, pool, head, releases."""
