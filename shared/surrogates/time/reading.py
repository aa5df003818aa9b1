"""Finds what the text of a span says of time: every spelling of dates, ages and spans of time in English, Spanish and French.

A span is read whole or not at all: what holds a digit or a word that nobody here knows is not guessed at, and has no surrogate.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

from shared.surrogates.spelling import folded, on_one_line, strip_accents
from shared.surrogates.time.languages import Language, languages
from shared.surrogates.time.writing import ROMAN, Part, Written, word_language

_DAY, _MONTH = r"(?:3[01]|[12]\d|0?[1-9])", r"(?:1[0-2]|0?[1-9])"
_YEAR, _SHORT = r"(?P<Y>(?:1[89]|20|21)\d\d)(?!\d)", r"(?P<y>\d\d)(?!\d)"
_SIGN = r"\s?[/.\-|]\s?"
# Two marks of one date are the same: in "10-12/03" the other one makes a range, whose last number is no year.
# Nor is that of "10-12-14/03" or of "10/12/14-2019".
_NO_MORE = r"(?!\s?[/.|]\s?\d|\s?-\s?(?:1[89]|20|21)\d\d(?!\d))"
_FIRST_SIGN, _SAME_SIGN = r"\s?(?P<s>[/.\-|])\s?", r"\s?(?P=s)\s?"
_OF = r"(?:of\s|de\sl'|del?\s|d')?"
_LINK = rf"(?:\s?[/.\-]\s?|\s)?{_OF}"
_END = r"(?P<o>st|nd|rd|th|er|[ºª°])?"
_THEN = rf"(?:(?:\.?,?\s?[/.\-]?\s?(?:of\s|de\sl'ano\s|del?\s(?:ano\s)?|ano\s)?(?:{_YEAR}|'?{_SHORT}))(?![\w/]))?"
_AFTER = rf"(?:(?:,?\s{_OF}|/|-){_YEAR}|,?\s?'{_SHORT})?"
_WORD = re.compile(r"[^\W\d_]+")
_MARKS = re.compile(r"[\s.,;:/()\[\]'’\"\-–~+]+")
_NOT_ACCENTED = "ºª°"


@cache
def _patterns() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    """For a date, for an age; the first that fits is taken."""
    named = {
        name: "|".join(sorted({re.escape(word).replace("\\ ", "[ '-]") for word in words}, key=len, reverse=True))
        for name, words in _word_lists().items()
    }
    month, number = rf"(?P<b>{named['months']})(?![^\W\d_])", rf"(?P<w>{named['numbers']})(?![^\W\d_])"
    counted = rf"(?:(?P<N>\d{{1,3}})(?!\d)|(?P<W>{named['numbers']})(?![^\W\d_]))"
    roman = "|".join(sorted(ROMAN, key=len, reverse=True))
    dates = (
        # The first days of "10-12 March" and of "10/12 de marzo", which are no day and month; the first month of "03-04/2020".
        rf"(?P<d>{_DAY})(?=(?:{_SIGN}{_DAY}(?!\d)){{1,3}}{_LINK}(?:{named['months']}|{roman})(?![^\W\d_]))",
        rf"(?<![\d/.])(?P<m>{_MONTH})(?=\s?-\s?{_MONTH}\s?[/.]\s?(?:1[89]|20|21)\d\d(?!\d))",
        rf"{_YEAR}(?P<s>[/.\-])(?P<m>{_MONTH})(?P=s)(?P<d>{_DAY})(?!\d)",
        rf"(?P<n1>\d{{1,2}}){_FIRST_SIGN}(?P<n2>\d{{1,2}}){_SAME_SIGN}(?:{_YEAR}|{_SHORT}{_NO_MORE})",
        # The first day of "10-12/03/2019", and the last of "10/12-14/2019": month and year stand beside the other one.
        rf"(?P<d>{_DAY})(?=\s?-\s?{_DAY}\s?(?P<s>[/.])\s?{_MONTH}(?:{_SAME_SIGN}\d|(?![\d/.\-])))",
        rf"(?:(?<=[/.]\d\d-)|(?<=[/.]\d-))(?P<d>{_DAY})(?=[/.](?:1[89]|20|21)\d\d(?!\d))",
        rf"(?P<d>{_DAY})\s?{_END}{_LINK}{month}{_THEN}",
        rf"(?P<d>{_DAY})(?:[/.\-]|\s)(?P<r>{roman})(?![^\W\d_])(?:[/.\-\s](?:{_YEAR}|{_SHORT}))?",
        rf"{number}\s{_OF}{month}{_THEN}",
        rf"{month}\.?[\s\-/]?(?P<d>{_DAY})(?!\d){_END}(?![^\W\d_]){_AFTER}",
        rf"{month}\.?,?(?:\s|/|-)?{_OF}(?:{_YEAR}|'?{_SHORT})",
        rf"(?P<m>{_MONTH}){_SIGN}{_YEAR}",
        rf"(?P<m>{_MONTH}){_SIGN}(?P<y>3[2-9]|[4-9]\d)(?![\d/.\-])",
        r"(?P<n1>\d\d)(?P<n2>\d\d)(?P<Y>(?:19|20)\d\d)(?!\d)",
        r"(?P<Y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)",
        r"(?P<n1>\d\d)(?P<n2>\d\d)(?P<y>\d\d)(?!\d)",
        r"(?P<H>[01]?\d|2[0-3])(?P<s>[:h])(?P<M>[0-5]\d)(?::(?P<S>[0-5]\d))?(?!\d)(?P<p>\s?(?:hrs|hs|h|(?P<h>[ap])\.?\s?m)(?![^\W\d_])\.?)?",
        rf"(?P<n1>\d{{1,2}}){_SIGN}(?P<n2>\d{{1,2}})(?!\d)",
        r"(?P<D>(?:1[89]|20)\d0)(?='?s(?!\w))",
        r"'?(?P<E>\d0)(?='?s(?!\w))",
        month,
    )
    spans = (
        rf"(?P<R>{named['relative']})(?![^\W\d_])",
        rf"{counted}[\s\-]?(?P<u>{named['units']})(?![^\W\d_])",
    )
    rest = (
        _YEAR,
        rf"'{_SHORT}",
        rf"(?P<d>{_DAY})(?!\d)(?P<o>st|nd|rd|th|er|[ºª°])",
        rf"(?P<A>{named['weekdays']})(?![^\W\d_])\.?",
        rf"(?P<F>{named['free']})(?![^\W\d_])",
        r"(?P<n>\d{1,2})(?!\d)",
    )
    ages = (
        *spans[1:],
        r"'?(?P<E>\d0)(?='?s(?!\w))",
        r"(?P<N>\d{1,3})(?!\d)",
        rf"(?P<W>{named['numbers']})(?![^\W\d_])",
    )
    return {
        kind: tuple(re.compile(one, re.IGNORECASE) for one in listed)
        for kind, listed in (("date", (*dates, *spans, *rest)), ("age", ages))
    }


def _word_lists() -> Mapping[str, set[str]]:
    tables = {
        "months": "month_of",
        "numbers": "number_of",
        "relative": "relative",
        "units": "unit_of",
        "weekdays": "weekday_of",
        "free": "free",
    }
    return {
        name: {word for one in languages().values() for word in getattr(one, table)} for name, table in tables.items()
    }


def read_time(text: str, kind: str, own: Language) -> list[Written] | None:
    """What a span says, and what stands between; None where some of it is not known.

    Args:
        text: of the span.
        kind: "date" or "age".
        own: the language of the note.
    """
    text = on_one_line(unicodedata.normalize("NFC", text))
    plain = "".join(map(_plain, text))
    found: list[Written] = []
    place = 0
    while place < len(text):
        written = next(_matches(text, plain, place, kind, own), None) or _silent(text, plain, place, own)
        if written is None:
            return None
        found.append(written)
        place += sum(len(part.sample) for part in written.parts)
    return found if any(not one.silent for one in found) else None


def _plain(sign: str) -> str:
    # One sign for one, so that places in both texts are the same.
    if sign == "’":
        return "'"
    return sign if sign.isascii() or not sign.isalpha() or sign in _NOT_ACCENTED else strip_accents(sign)[:1] or sign


def _matches(text: str, plain: str, place: int, kind: str, own: Language) -> Iterator[Written]:
    if plain[place].isspace():
        return
    # Nothing begins within a word or a number.
    if place and plain[place].isalnum() and plain[place - 1].isalnum() and _alike(plain[place], plain[place - 1]):
        return
    for pattern in _patterns()[kind]:
        match = pattern.match(plain, place)
        if match and (written := _written(text, match, own)) is not None:
            yield written


def _alike(one: str, other: str) -> bool:
    return one.isdigit() == other.isdigit()


def _written(text: str, match: re.Match[str], own: Language) -> Written | None:
    groups = sorted(
        (match.start(name), name) for name, value in match.groupdict().items() if value and name not in "sp"
    )
    parts, place = [], match.start()
    for start, name in groups:
        if start > place:
            parts.append(Part("", text[place:start]))
        place = match.end(name)
        parts.append(Part(name, text[start:place]))
    if place < match.end():
        parts.append(Part("", text[place : match.end()]))
    return _understood(parts, own)


def _understood(parts: list[Part], own: Language) -> Written | None:
    """The parts with what they say; None where no language knows their words together."""
    tables = {
        "b": "month_of",
        "w": "number_of",
        "W": "number_of",
        "u": "unit_of",
        "A": "weekday_of",
        "F": "free",
        "R": "relative",
    }
    language, numbers = own, {}
    for part in parts:
        said = folded(part.sample)
        if part.says in tables:
            known = word_language(said, tables[part.says], language)
            # "3 weeks ago" is not of August, though Spanish writes it so.
            if known is None or (known is not own and said in own.fillers):
                return None
            language = known
    for part in parts:
        said = folded(part.sample)
        if part.says in ("b", "w", "W", "A"):
            value = getattr(language, tables[part.says]).get(said)
            if value is None:
                return None
            numbers[part.says] = value
        elif part.says == "u" and said not in language.unit_of:
            return None
        elif part.says == "r":
            numbers["r"] = ROMAN.index(part.sample.upper()) + 1
        elif part.says and part.sample.isdecimal():
            numbers[part.says] = int(part.sample)
    written = Written(parts, language, numbers)
    if written.says("F"):
        written.free = language.free[folded(written.sample("F"))]
    return written


def _silent(text: str, plain: str, place: int, own: Language) -> Written | None:
    """Marks, or a word that tells nothing."""
    match = _MARKS.match(plain, place)
    if match is None:
        match = _WORD.match(plain, place)
        if match is None or word_language(folded(match[0]), "fillers", own) is None:
            return None
    return Written([Part("", text[place : match.end()])], own, silent=True)
