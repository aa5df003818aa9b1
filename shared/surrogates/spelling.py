"""How words are written: what counts as the same, and a surrogate written like what it replaces."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LINE_END = re.compile("(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_MARKS = re.compile(r"[^\w]+|_+")
_MANY = 1 << 14


@lru_cache(maxsize=_MANY)
def strip_accents(text: str) -> str:
    """The text without accents."""
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


@lru_cache(maxsize=_MANY)
def folded(text: str) -> str:
    """What is alike in all spellings of one thing: no capitals, accents, marks."""
    return " ".join(_MARKS.sub(" ", strip_accents(text.casefold())).split())


def on_one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def cased_like(surrogate: str, model: str) -> str:
    """A surrogate in the capitals of what it replaces."""
    letters = "".join(filter(str.isalpha, model))
    if len(letters) > 1 and letters.isupper():
        return surrogate.upper()
    if letters.islower():
        return surrogate.lower()
    return surrogate[:1].upper() + surrogate[1:] if letters[:1].isupper() else surrogate


def accented_like(surrogate: str, model: str, proper: str) -> str:
    """A surrogate without accents where the model leaves out those that it should have.

    Args:
        surrogate: as it is properly written.
        model: what it replaces.
        proper: the model as it is properly written.
    """
    return strip_accents(surrogate) if model.isascii() and not proper.isascii() else surrogate


def with_line_ends(surrogate: str, original: str) -> str:
    """The surrogate, going over as many lines as what it replaces, so that who reads the note line by line finds its lines."""
    pieces = LINE_END.split(original)
    if len(pieces) == 1:
        return surrogate
    words, lines = surrogate.split(" "), pieces[::2]
    written = ""
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        count = len(words) if last else min(len(line.split()), max(len(words) - 1, 0) if number == 0 else len(words))
        written += " ".join(words[:count]) + ("" if last else pieces[2 * number + 1])
        del words[:count]
    return written
