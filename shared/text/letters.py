"""What of a text stays the same however it is exported: each letter and its marks one sign, or nothing but letters and digits."""

from __future__ import annotations

import re
import unicodedata

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")


def compose(text: str) -> str:
    """Each letter and its marks as one sign wherever there is one: some systems, and what reads PDF, write them apart."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def only_letters(text: str) -> str:
    """Its letters and digits, one after another and in small letters; a mark without a composed letter is none."""
    return _NEITHER_LETTER_NOR_DIGIT.sub("", compose(text).casefold())
