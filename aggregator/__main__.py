"""`python -m aggregator`, and the console script: the command line."""

from aggregator.commands.cli import main

if __name__ == "__main__":
    main()
