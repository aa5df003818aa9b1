"""`python -m aggregator`, and the console script: the command line.

The server runs for months beside other programs, so `serve` is started without what trainings and audits need.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that was typed."""
    if sys.argv[1:2] == ["serve"]:
        from aggregator.commands.serve import program
    else:
        from aggregator.commands.cli import main as program
    program()


if __name__ == "__main__":
    main()
