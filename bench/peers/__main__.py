"""`python -m bench.peers [PEER]...`, or `make bench-peers`: what others find on the notes that ours is measured on, for docs/results/peers.md.

`DEID_COMMONS_PEERS` names the Python of an environment with python-crfsuite 0.9.12, spacy 3.8.18, flair 0.15.1, presidio-analyzer 2.2.366,
philter-lite 0.6.0 with NLTK's averaged_perceptron_tagger_eng, and pyDeid 1.0.1 from its repository (what its name brings from PyPI is
empty). Speed where much is tagged is `python -m bench.results_generalise speed`, to be run where nothing else runs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.peers.accuracy import PEERS, measure
from bench.results import record, render
from shared.errors import ConfigurationError


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure those that are named, all by default; without an environment for them, only the page is written.

    Args:
        arguments: of the command line.
    """
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"among {', '.join(PEERS)}; all by default")
    chosen = parser.parse_args(arguments).peers or list(PEERS)
    if unknown := set(chosen) - set(PEERS):
        parser.error(f"expected peers among {', '.join(PEERS)}, got {', '.join(sorted(unknown))}")
    interpreter = os.environ.get("DEID_COMMONS_PEERS")
    if not interpreter:
        render("peers")
        raise ConfigurationError(
            "DEID_COMMONS_PEERS: expected the Python of an environment with the packages of the peers, got nothing; the page was written, nothing was measured"
        )
    with tempfile.TemporaryDirectory() as name:
        for entry in measure(interpreter, chosen, Path(name)):
            print(f"{entry.value:8g} {entry.unit:12} {entry.measure}", flush=True)
            record("peers", [entry])


if __name__ == "__main__":
    main()
