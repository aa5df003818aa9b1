"""All that crosses the trust boundary: shares, releases, keys, messages, each versioned and within limits."""
