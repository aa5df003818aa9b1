r"""Texts whose letters are written as escapes of another format: RTF, JSON, quoted-printable, those of addresses.

`Garc\'eda`, `Garc\u00eda`, `Garc=C3=ADa` and `Garc%C3%ADa` are one name each to whoever wrote them, and pieces of none to whatever reads signs: what looks for PHI
would leave the pieces. References of HTML are read (`shared.text.references`), these are refused: any program that knows the format makes plain
text of them, and a note in which they stand has lost its lines and tables, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RTF = re.compile(r"\s*\{\\rtf")
_LETTER = r"[^\W\d_]"
_IN_RTF = re.compile(rf"{_LETTER}\\'[0-9a-fA-F]{{2}}|\\'[0-9a-fA-F]{{2}}{_LETTER}|\\u-?[0-9]{{3,5}} ?\?")
_IN_JSON = re.compile(r"\\u[0-9a-fA-F]{4}(?![0-9])")
# Letters beyond ASCII in UTF-8, or in Latin-1 within a word of small letters: "tube=EDTA" is none.
_QUOTED = re.compile(r"=C[23]=[89AB][0-9A-F]|[a-z]=[EF][0-9A-F][a-z]")
# A line of as many signs as such lines have, cut within a word or not; a row of "=" is a rule.
_CUT = re.compile(r"^.{71,74}[^=\n]=\r?$", re.MULTILINE)
_CUTS = 2
# An address may hold them, and is one piece of PHI as a whole.
_OF_ADDRESSES = re.compile(r"(?<!\S)[^\s/]*%C[23]%[89AB][0-9A-F]", re.IGNORECASE)


def find_escapes(text: str) -> tuple[int, str] | None:
    """Where the first escape stands, and of which format it is; None where there is none.

    Args:
        text: of a note, any length.
    """
    return min(_escapes(text), default=None)


def _escapes(text: str) -> Iterator[tuple[int, str]]:
    # Plain searches first, for few texts hold either sign of them all.
    if "\\" in text:
        if found := _RTF.match(text) or _IN_RTF.search(text):
            yield found.start(), "RTF"
        if found := _IN_JSON.search(text):
            yield found.start(), "JSON"
    if "=" in text:
        if found := _QUOTED.search(text):
            yield found.start(), "quoted-printable"
        cuts = [cut.start() for cut in _CUT.finditer(text)]
        if len(cuts) >= _CUTS:
            yield cuts[0], "quoted-printable"
    if "%" in text and (found := _OF_ADDRESSES.search(text)):
        yield found.start(), "addresses"
