r"""Texts whose letters are not written as letters: escapes of RTF, JSON, quoted-printable, addresses and others, base64, another encoding.

`Garc\'eda`, `Garc\u00eda`, `Garc=C3=ADa`, `Garc%C3%ADa` and `GarcÃ­a` are one name each to whoever wrote them, and pieces of none to whatever reads
signs, as `\nGarcia` is: what looks for PHI would leave the pieces. References of HTML are read (`shared.text.references`), these are refused: any program
that knows the format makes plain text of them, and a note in which they stand has lost its lines and tables, too.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

_LETTER = r"[^\W\d_]"
_RTF = re.compile(r"\s*\{\\rtf")
_IN_RTF = re.compile(rf"{_LETTER}\\'[0-9a-fA-F]{{2}}|\\'[0-9a-fA-F]{{2}}{_LETTER}|\\u-?[0-9]{{3,5}} ?\?")
_IN_JSON = re.compile(r"\\u(?:[0-9a-fA-F]{4}(?![0-9])|\{[0-9a-fA-F]+\})|\\x[89a-fA-F][0-9a-fA-F]")
# A word begins right behind them. A folder's path has such signs too; small letters stand behind them there, as far as nobody names folders in capitals.
_PATH = r"(?<!\S)(?:[A-Za-z]:|\\\\[\w.$-]+)\\\S*"
_LINE_END = re.compile(rf"{_PATH}|(\\(?:(?:r\\)?n|t)(?![a-zß-ÿ])(?=[^\W_]))")
_LINE_ENDS = re.compile(rf"{_PATH}|(\\n)(?=[a-zß-ÿ])")
# A text that has lines of its own may be one about patterns or folders.
_ENDS = 2
_IN_HL7 = re.compile(r"\\X(?:[0-9A-F]{2})+\\")
_IN_R = re.compile(r"<U\+[0-9A-F]{4,6}>")
_IN_EXCEL = re.compile(r"_x[0-9A-Fa-f]{4}_")
# Bytes of UTF-8, as databases and shells show them; also in a path where a word goes on behind them, which no number of a folder does.
_BYTES = r"\\3[0-7]{2}\\2[0-7]{2}"
_OCTAL = re.compile(rf"(?<!\S)(?!\S*{_BYTES}{_LETTER}){_PATH}|({_BYTES})")
# Letters beyond ASCII in UTF-8, or in Latin-1 within a word of small letters: "tube=EDTA" is none.
_QUOTED = re.compile(rf"=C[23]=[89AB][0-9A-F]|[a-z]=[EF][0-9A-F][a-z]|=0D=0A|{_LETTER}=0A{_LETTER}")
# A line of as many signs as such lines have, cut within a word or not; a row of "=" is a rule.
_CUT = re.compile(r"^.{71,74}[^=\n]=\r?$", re.MULTILINE)
_CUTS = 2
# Not a value below its name: "Na=" at the end of a line, "140" on the next.
_CUT_WORD = re.compile(r"^.{71,74}(?:[^\W\d_]=\r?\n(?=[^\W\d_])|[0-9]=\r?\n(?=[0-9]))", re.MULTILINE)
_NO_PERCENTAGE = re.compile("%[0-9A-Fa-fu][0-9A-Fa-f]")
# An address may hold them, and is one piece of PHI as a whole; "98%FEV1" is none.
_OF_ADDRESSES = re.compile(
    rf"(?<!\S)[^\s/]*?(?:%C[23]%[89AB][0-9A-F]|%0[9AD](?=[^\W\d_]|%)|%u[0-9A-F]{{4}}|{_LETTER}%[C-F][0-9A-F](?=[^\W\d_]|%))",
    re.IGNORECASE,
)
_BLANKS_OF_ADDRESSES = re.compile(r"(?<!\S)(?:[^\s/%]+%20){3}")
_OF_FORMS = re.compile(r"(?<!\S)(?=[^\s/]*%2[CF])(?:[^\s/+]+\+){3}", re.IGNORECASE)
_OF_TERMINAL = re.compile(r"\x1b[\[\]()]")
# The last four part words as a blank does; a number that they part is read as several.
_CONTROL = re.compile(
    r"(?<=[^\W_])(?:[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+(?=[^\W_])|(?<=[0-9])[\x1c-\x1f]+(?=[0-9]))"
)
# Letters in UTF-8 that were read as Latin-1 or Windows-1252; signs, as in "mmÂ³", hide no name.
_FOLLOWING = "\x80-\xbf" + bytes(range(0x80, 0xC0)).decode("windows-1252", "ignore")
_ENCODING = re.compile(rf"{_LETTER}Ã[\xa1-\xbf]|Ã[{_FOLLOWING}]{_LETTER}")
_LONG = 40
_BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LONG},}}")
# A file, such as a scan, on one line or on lines of such a length.
_BASE64_LINES = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{240}|(?:[A-Za-z0-9+/]{60,}+\r?\n){3})[A-Za-z0-9+/]*+")
_HEXADECIMAL = re.compile(rf"[0-9A-Fa-f]{{{_LONG},}}")
# Of what is decoded: an image is less of a text, and so is a word that is none of base64.
_PRINTABLE = 0.9
# Behind a text of so many, zeros fill up a field of a database; else they are those of a number.
_LEAST_BYTES = 8
# A heading is written so too, in capitals.
_APART = re.compile(rf" (?:{_LETTER} {{1,3}}){{10,}}{_LETTER}(?!\S)")


def find_escapes(text: str) -> tuple[int, str] | None:
    """Where letters first are no letters, and how they are written, such as "as escapes of RTF"; None where all are.

    Args:
        text: of a note, any length.
    """
    return min(_escapes(text), default=None)


def _escapes(text: str) -> Iterator[tuple[int, str]]:
    # Plain searches first, for few texts hold any of these signs.
    if "\\" in text:
        if found := _RTF.match(text) or _IN_RTF.search(text):
            yield found.start(), "as escapes of RTF"
        if found := _IN_JSON.search(text) or _line_end(text):
            yield found.start(), "as escapes of JSON"
        if found := _IN_HL7.search(text):
            yield found.start(), "as escapes of HL7"
        if found := next((one for one in _OCTAL.finditer(text) if one[1]), None):
            yield found.start(), "as octal bytes"
    if "=" in text:
        if found := _QUOTED.search(text):
            yield found.start(), "as quoted-printable"
        cuts = [cut.start() for cut in _CUT.finditer(text)]
        if len(cuts) >= _CUTS:
            yield cuts[0], "as quoted-printable"
        elif found := _CUT_WORD.search(text):
            yield found.start(), "as quoted-printable"
    if _NO_PERCENTAGE.search(text) and (found := _OF_ADDRESSES.search(text) or _BLANKS_OF_ADDRESSES.search(text)):
        yield found.start(), "as escapes of addresses"
    if "%2" in text and (found := _OF_FORMS.search(text)):
        yield found.start(), "as escapes of forms"
    if "<U+" in text and (found := _IN_R.search(text)):
        yield found.start(), "as escapes of R"
    if "_x" in text and (found := _IN_EXCEL.search(text)):
        yield found.start(), "as escapes of Excel"
    if "\x1b" in text and (found := _OF_TERMINAL.search(text)):
        yield found.start(), "among escapes of a terminal"
    if "Ã" in text and (found := _ENCODING.search(text)):
        yield found.start(), "in another encoding"
    if found := _CONTROL.search(text):
        yield found.start(), "with control characters among them"
    yield from _hidden_texts(text)
    for found in _APART.finditer(text):
        if not found[0].isupper():
            yield found.start(), "apart"
            break


def _line_end(text: str) -> re.Match[str] | None:
    """The first line end or tabulator that is written as two signs; None for none."""
    found = next((one for one in _LINE_END.finditer(text) if one[1]), None)
    if found is None and "\n" not in text:
        ends = [one for one in _LINE_ENDS.finditer(text) if one[1]]
        found = ends[0] if len(ends) >= _ENDS else None
    return found


def _hidden_texts(text: str) -> Iterator[tuple[int, str]]:
    """Texts, or whole files, as signs that stand for bytes."""
    if all(len(word) < _LONG for word in text.split()):
        return
    for found in _BASE64.finditer(text):
        whole = len(found[0]) // 4 * 4
        if _is_text(base64.urlsafe_b64decode(found[0][:whole])):
            yield found.start(), "in base64"
            break
    for found in _BASE64_LINES.finditer(text):
        if all(re.search(kind, found[0]) for kind in ("[a-z]", "[A-Z]", "[0-9]")):
            yield found.start(), "in base64"
            break
    for found in _HEXADECIMAL.finditer(text):
        whole = len(found[0]) // 2 * 2
        if _is_text(bytes.fromhex(found[0][:whole])):
            yield found.start(), "in hexadecimal"
            break


def _is_text(decoded: bytes) -> bool:
    """Whether bytes are those of a text, with blanks in it; of UTF-16 every second one is none."""
    filled_up = decoded.rstrip(b"\0")
    if len(filled_up) >= _LEAST_BYTES:
        decoded = filled_up
    if decoded.count(0) <= len(decoded) // 2 + 1:
        decoded = decoded.replace(b"\0", b"")
    text = decoded.decode(errors="ignore")
    shown = sum(sign.isprintable() or sign.isspace() for sign in text)
    return " " in text and shown >= _PRINTABLE * len(text) and len(text.encode()) >= _PRINTABLE * len(decoded)
