"""Notes in which the name of its category stands in the place of every span."""

from __future__ import annotations

import re

from shared.document import Document
from site_client.deid.mode import Mode

_LINE_END = re.compile("(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")


class Redact(Mode):
    """Shows of a span that it was there, and its category."""

    name = "redact"
    writes = "text with [CATEGORY]"
    format = "txt"
    hides = True

    def turn(self, document: Document) -> Document:
        """The document with every annotated span replaced by its category in brackets, and no annotations.

        The replacement is built from left to right over sorted, disjoint spans, which `Document` guarantees, so no part of a
        span can slip through between two replacements.
        """
        pieces: list[str] = []
        position = 0
        for span in document.annotations:
            pieces.append(document.text[position : span.start])
            # Whoever reads the note line by line finds its lines: a span that goes over their end is hidden in each.
            for number, piece in enumerate(_LINE_END.split(document.covered_text(span))):
                ends_a_line = number % 2
                pieces.append(piece if ends_a_line else f"[{span.category}]" if piece.strip() else "")
            position = span.end
        pieces.append(document.text[position:])
        return Document(document.identifier, "".join(pieces))


REDACT = Redact()
