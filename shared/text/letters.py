"""What of a text stays the same however it is exported: each letter and its marks one sign, or nothing but letters and digits."""

from __future__ import annotations

import re
import unicodedata

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")


# Beside blanks, what an export may write where a line ends: tags of HTML, and line ends as escapes.
_LINE_ENDS = re.compile(r"</?(?:br|div|p)\b[^<>]*>|\\[nr]", re.IGNORECASE)


def compose(text: str) -> str:
    """Each letter and its marks as one sign wherever there is one: some systems, and what reads PDF, write them apart."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def only_letters(text: str) -> str:
    """Its letters and digits, one after another and in small letters; a mark without a composed letter is none."""
    return _NEITHER_LETTER_NOR_DIGIT.sub("", compose(text).casefold())


def only_words(text: str) -> list[str]:
    """Its words, each as its letters and digits, wherever lines end."""
    return [word for part in compose(text).split() if (word := only_letters(part))]


def as_printed(text: str) -> str:
    """The text as most exports have it: signs of other widths or fonts as plain ones, and a blank for each line end that is written in signs."""
    return _LINE_ENDS.sub(" ", unicodedata.normalize("NFKC", text))
