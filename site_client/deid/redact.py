"""Notes in which the name of its category stands in the place of every span."""

from __future__ import annotations

from shared.document import Document
from site_client.deid.mode import Mode


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
            pieces += [document.text[position : span.start], f"[{span.category}]"]
            position = span.end
        pieces.append(document.text[position:])
        return Document(document.identifier, "".join(pieces))


REDACT = Redact()
