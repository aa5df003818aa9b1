"""Runs it: `python -m bench.fuzz`."""

import sys

from bench.fuzz.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
