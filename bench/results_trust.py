"""Measures the figures of docs/results/trust.json: `python -m bench.results_trust [PART...]`.

Those of `make faults` and `make fuzz` come from these commands; the end-to-end tests on both transports and both databases
are part of the suite (tests/e2e/test_exchange.py).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench import load, load_registry, speed_stream
from bench.results import record


def speed() -> None:
    """How fast shares are encrypted and decrypted."""
    with tempfile.TemporaryDirectory() as folder:
        record("trust", speed_stream.measure(Path(folder), "python -m bench.results_trust speed"))


def upload_load() -> None:
    """Fifty sites at once against a running server."""
    with tempfile.TemporaryDirectory() as folder:
        record("trust", load.measure(Path(folder), "python -m bench.results_trust load"))


def listing() -> None:
    """How long ten thousand shares take to be listed."""
    record("trust", [load_registry.listing("python -m bench.results_trust listing")])


PARTS = {"speed": speed, "load": upload_load, "listing": listing}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
