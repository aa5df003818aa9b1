"""A span that goes over the end of a line is hidden in each of its lines: whoever reads the note line by line finds its lines."""

from __future__ import annotations

import re
from collections.abc import Callable

_LINE_END = re.compile("(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")


def hide_lines(text: str, shown: Callable[[str], str]) -> str:
    """What is shown for every line of a covered text that says anything, between the ends of lines as they were."""
    pieces = _LINE_END.split(text)
    return "".join(
        piece if number % 2 else shown(piece) if piece.strip() else "" for number, piece in enumerate(pieces)
    )
