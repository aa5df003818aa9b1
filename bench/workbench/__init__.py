"""What the tools of a hospital cost and promise, measured."""
