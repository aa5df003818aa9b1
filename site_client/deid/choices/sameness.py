"""What says the same thing: capitals, accents and marks aside, but nothing that makes another word of one."""

from __future__ import annotations

import re
import unicodedata

# What alphabets set above or below a letter. All other marks are vowels, tones and sounds of a script: without them two names would be one.
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")


def is_mark(sign: str) -> bool:
    """Whether it stands on another sign."""
    return unicodedata.category(sign)[0] == "M"


def is_unseen(sign: str) -> bool:
    """Whether nobody sees it: a soft hyphen, a blank of no width."""
    return unicodedata.category(sign) == "Cf"


def said(text: str) -> str:
    """What a text says, the same for all its spellings.

    Marks of other scripts than alphabets stay, and signs that nobody sees, which may join two words or part one.
    """
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    kept = (sign if sign.isalnum() or is_mark(sign) or is_unseen(sign) else " " for sign in plain)
    return " ".join("".join(kept).split())
