"""Notes in which blocks stand in the place of every span: as many as it has signs, or always the same number."""

from __future__ import annotations

from collections.abc import Sequence

from shared.document import Document
from site_client.deid.lines import hide_lines
from site_client.deid.mode import Hiding

_BLOCK = "█"
_WIDTH = 8


class Block(Hiding):
    """Shows of a span how long it was, and where it had blanks: columns and lines stay where they are."""

    name = "block"
    writes = "a block for every sign of a span"

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        return [
            hide_lines(
                document.covered_text(span), lambda line: "".join(" " if sign == " " else _BLOCK for sign in line)
            )
            for span in document.annotations
        ]


class Fixed(Hiding):
    """Shows of a span that it was there, and nothing else."""

    name = "fixed"
    writes = f"{_WIDTH} blocks for every span"

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        return [hide_lines(document.covered_text(span), lambda line: _BLOCK * _WIDTH) for span in document.annotations]


BLOCK = Block()
FIXED = Fixed()
