"""Notes in which a code stands in the place of every span, the same for the same text.

The code is a keyed digest, so nobody who lacks the key can try out names against it, as with a plain one. It tells who has the notes which spans
are the same, throughout all notes of the site: whoever knows one of them knows the others.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from shared.document import Document
from shared.text.references.decoding import decode
from site_client.deid.choices.sameness import said
from site_client.deid.lines import hide_lines
from site_client.deid.mode import Hiding, Mode, Setting

_PURPOSE = b"deid-commons hash 1\0"
_SIGNS = 16


class Hash(Hiding):
    """Shows of a span its category, and which others are the same.

    Args:
        key: secret bytes; None for some that are thrown away with the object.
    """

    name = "hash"
    writes = "[CATEGORY:code], the same code for the same text, under a key of the site"

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(32) if key is None else key

    def prepared(self, setting: Setting) -> Mode:
        """See `Mode`."""
        return Hash(setting.key() if setting.key is not None else None)

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        return [self._hidden(span.category, document.covered_text(span)) for span in document.annotations]

    def _hidden(self, category: str, text: str) -> str:
        same = said(decode(text).text) or text.strip()
        digest = hmac.digest(self._key, _PURPOSE + same.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
        return hide_lines(text, lambda line: f"[{category}:{digest[:_SIGNS]}]")


HASH = Hash()
