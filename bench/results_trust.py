"""Measures the figures of docs/results/trust.json: `python -m bench.results_trust [PART...]`.

Those of `make faults` and `make fuzz` come from these commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from bench.exchange import load, load_registry
from bench.results import ROOT, Entry, record
from bench.speed import stream as speed_stream


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


def exchange() -> None:
    """The end-to-end tests, over both transports and on both databases."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "tests/e2e/test_exchange.py", f"--junitxml={report}"]
        subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "DEID_COMMONS_EXCHANGES": "all"})
        cases = list(ElementTree.parse(report).iter("testcase"))  # noqa: S314 - pytest wrote it
    passed = [str(case.get("name")) for case in cases if not list(case)]
    record(
        "trust",
        [
            Entry(
                "end-to-end tests that pass: a transport on a database each",
                len(passed),
                4,
                ">=",
                "combinations",
                None,
                1,
                "small generated notes",
                "python -m bench.results_trust exchange",
                ", ".join(sorted(passed)),
            )
        ],
    )


PARTS = {"speed": speed, "load": upload_load, "listing": listing, "exchange": exchange}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
