"""`python -m bench.attack [--record]`: every lie of a provider and of a hospital, one at a time; prints what refused each.

With --record the page docs/results/attacks.md and the entries of docs/results/gate.json are written. About two CPU-minutes. Ends with 1
where a lie was not refused.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import torch

from bench.attack.report import entries, page
from bench.attack.run import tell_all
from bench.attack.world import build
from bench.results import RESULTS, record
from foundation.files import write_text


def main(arguments: list[str]) -> int:
    """Tell, print, and record where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write docs/results")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        told = tell_all(build(Path(folder) / "world"), lambda line: print(line, flush=True))
    found = entries(told)
    for entry in found:
        print(f"{entry.measure}: {entry.value:g}")
    if asked.record:
        record("gate", found)
        write_text(RESULTS / "attacks.md", page(told), private=False)
    return int(any(entry.reached is False for entry in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
