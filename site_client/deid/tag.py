"""Notes as they are, with what was found beside them."""

from __future__ import annotations

from shared.document import Document
from site_client.deid.mode import Mode


class Tag(Mode):
    """Hides nothing: for a person or a program that goes on from the annotations."""

    name = "tag"
    writes = "brat annotations beside the text"
    format = "brat"
    hides = False

    def turn(self, document: Document) -> Document:
        """The document itself."""
        return document


TAG = Tag()
