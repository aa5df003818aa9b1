"""A text with each sign as it is typed most plainly: one sign for one sign, so that every offset stays what it was."""

from __future__ import annotations

import unicodedata

# Not the em dash, which parts sentences and stands in no number and no name.
_HYPHENS = frozenset("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
_APOSTROPHES = frozenset("\u2018\u2019\u02bc\uff07")
_LINE_ENDS = frozenset("\v\f\x85\u2028\u2029")
# From a wide form ("＠", "Ａ") to what it is the wide form of.
_WIDE, _NARROWER = range(0xFF01, 0xFF5F), 0xFEE0


class _Plain(dict[int, int]):
    """Every sign that was ever asked for: to look through all of Unicode would cost every start a fifth of a second."""

    def __missing__(self, point: int) -> int:
        self[point] = plain = ord(_plain(chr(point)))
        return plain


_PLAIN = _Plain()


def plain_signs(text: str) -> str:
    """The text with blanks, line ends, hyphens, apostrophes, digits and wide forms of any kind as ASCII has them; letters stay.

    Args:
        text: any text.
    """
    # The first of two signs that end one line becomes a blank at its end, which parts nothing.
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    if text.isascii() and not any(sign in text for sign in "\t\v\f"):
        return text
    return text.translate(_PLAIN)


def _plain(sign: str) -> str:
    if sign in _LINE_ENDS:
        return "\n"
    if sign == "\t" or unicodedata.category(sign) == "Zs":
        return " "
    if sign in _HYPHENS:
        return "-"
    if sign in _APOSTROPHES:
        return "'"
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    return chr(ord(sign) - _NARROWER) if ord(sign) in _WIDE else sign
