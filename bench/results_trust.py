"""Measures the figures of docs/results/trust.json: `python -m bench.results_trust [PART...]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench import load, speed_stream
from bench.results import record


def speed() -> None:
    """How fast shares are encrypted and decrypted."""
    with tempfile.TemporaryDirectory() as folder:
        record("trust", speed_stream.measure(Path(folder), "python -m bench.results_trust speed"))


def upload_load() -> None:
    """Fifty sites at once against a running server."""
    with tempfile.TemporaryDirectory() as folder:
        record("trust", load.measure(Path(folder), "python -m bench.results_trust load"))


PARTS = {"speed": speed, "load": upload_load}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
