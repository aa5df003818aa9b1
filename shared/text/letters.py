"""What of a text stays the same however it is exported: each letter and its marks one sign, or nothing but letters and digits."""

from __future__ import annotations

import re
import unicodedata

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
# Beside blanks, what an export may write where a line ends or a cell does: tags of HTML, and line ends as escapes.
_LINE_ENDS = re.compile(r"</?[A-Za-z][^<>]*>|\\[nr]")
_CUT_WORD = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010][^\S\n]*\n\s*(?=[^\W\d_])")
_NUMBER_OF_LINE = re.compile(r"^[^\S\n]*\(?[0-9]{1,3}[.)][^\S\n]", re.MULTILINE)


def compose(text: str) -> str:
    """Each letter and its marks as one sign wherever there is one: some systems, and what reads PDF, write them apart."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def only_letters(text: str) -> str:
    """Its letters and digits, one after another and in small letters; a mark without a composed letter is none."""
    return _NEITHER_LETTER_NOR_DIGIT.sub("", compose(text).casefold())


def only_words(text: str) -> list[str]:
    """Its words, each as its letters and digits, wherever lines end."""
    parts = compose(text).casefold().split()
    return [word for part in parts if (word := _NEITHER_LETTER_NOR_DIGIT.sub("", part))]


def as_printed(text: str) -> str:
    """The text as most exports have it: plain signs for those of other widths or fonts, no tags, no numbers of lines, no word cut at the end of one."""
    lines = _LINE_ENDS.sub("\n", unicodedata.normalize("NFKC", text))
    return _NUMBER_OF_LINE.sub("", _CUT_WORD.sub("", lines))
