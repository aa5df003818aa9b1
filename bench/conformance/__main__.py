"""Runs it: `python -m bench.conformance`."""

import sys

from bench.conformance.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
