"""Runs it: `python -m bench.faults`."""

import sys

from bench.faults.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
