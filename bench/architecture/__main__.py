"""`python -m bench.architecture`, or `make architecture`: draws docs/architecture.svg anew."""

from __future__ import annotations

import sys

from bench.architecture.drawing import draw
from bench.architecture.house import ROOT, read_house

DRAWING = ROOT / "docs" / "architecture.svg"


def main(arguments: list[str]) -> int:
    """Write the drawing; returns the exit code."""
    if arguments:
        print("usage: python -m bench.architecture", file=sys.stderr)
        return 2
    DRAWING.write_text(draw(read_house()), encoding="utf-8")
    print(DRAWING.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
