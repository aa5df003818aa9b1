"""`python -m bench.results [TOPIC]...`: the pages of docs/results written anew from their figures, all of them by default."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.results.entries import RESULTS, TOPICS
from bench.results.recording import render

# Its report writes the page, from runs that are no entries.
_THEIR_OWN = ("friedrich2019",)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write pages; nothing is measured.

    Args:
        arguments: of the command line.
    """
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m bench.results", description=__doc__.partition(": ")[2])
    there = [topic for topic in TOPICS if topic not in _THEIR_OWN and (RESULTS / f"{topic}.md").exists()]
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"among {', '.join(there)}; all by default")
    chosen = parser.parse_args(arguments).topics or there
    if unknown := set(chosen) - set(there):
        parser.error(f"expected topics among {', '.join(there)}, got {', '.join(sorted(unknown))}")
    for topic in chosen:
        render(topic)


if __name__ == "__main__":
    main()
