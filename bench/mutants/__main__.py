"""Runs it: `python -m bench.mutants`."""

import sys

from bench.mutants.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
