"""Walks through everything that README and docs tell people to type, the tutorials line by line, from a wheel, outside of the checkout: `python -m bench.walks`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.walks.walk import walks


def main() -> None:
    """Walk; the first that stumbles ends it."""
    with tempfile.TemporaryDirectory() as name:
        for done in walks(Path(name)):
            print(done.transcript, flush=True)
            if done.code:
                sys.exit(f"{done.name} ended with code {done.code} at the last line above")


if __name__ == "__main__":
    main()
