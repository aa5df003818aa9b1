"""`python -m aggregator`: the same as the console script."""

from aggregator.cli import main

main()
