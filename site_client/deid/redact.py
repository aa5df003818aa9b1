"""Notes in which the name of its category stands in the place of every span."""

from __future__ import annotations

from collections.abc import Sequence

from shared.document import Document
from site_client.deid.lines import hide_lines
from site_client.deid.mode import Hiding


class Redact(Hiding):
    """Shows of a span that it was there, and its category."""

    name = "redact"
    writes = "text with [CATEGORY]"

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        return [redacted(span.category, document.covered_text(span)) for span in document.annotations]


def redacted(category: str, text: str) -> str:
    """What stands in the place of a text of a category."""
    return hide_lines(text, lambda line: f"[{category}]")


REDACT = Redact()
