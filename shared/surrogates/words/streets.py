"""Surrogates of streets: numbers are drawn, a word such as "Avenue" stays as it is, and the name of one street takes the place of all other words.

No street is written back: where all words are such words ("Park Avenue", "The Close"), all but the one that says what it is are its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from shared.surrogates.maker import Scope
from shared.surrogates.mechanisms.randomness import Randomness, choose
from shared.surrogates.signs.formats import redraw
from shared.surrogates.spelling import cased_like, folded
from shared.surrogates.words.lists import word_lists

_TOKEN = re.compile(r"\w+|\W+")
_LONGEST_CODE = 2
_ENGLISH_ENDS = ("st", "nd", "rd", "th")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|ª|º|er|ère|ème)", re.IGNORECASE)
_NUMBER = re.compile(r"(?P<begin>[^\W\d]*)(?P<digits>\d+)(?P<end>[^\W\d]*)")
# In the other languages the kind of a street stands ahead of its name.
_KIND_BEHIND = "English"


def street(text: str, scope: Scope) -> str | None:
    """Another street of the same form; None where nothing of it can be drawn."""
    language = scope.language.name
    known = _words(language, "street_words")
    tokens = _TOKEN.findall(text)
    parts = [_part(token, known) for token in tokens]
    if "name" not in parts:
        for place in _names_among_words(tokens, parts, language):
            parts[place] = "name"
    if not {"name", "drawn"} & set(parts):
        return None
    names = [token for token, part in zip(tokens, parts, strict=True) if part == "name"]
    drawn = choose(scope.randomness("street", folded(" ".join(names))), word_lists(language, "streets"))
    model = next((name for name in names if name[:1].isupper()), names[0] if names else "")
    written, named = "", False
    for place, (token, part) in enumerate(zip(tokens, parts, strict=True)):
        if part == "name":
            # The words behind the first, and what stands between them, are one name with it.
            written += "" if named else cased_like(drawn, model)
            named = True
        elif part == "gap" and named and parts[place + 1 : place + 2] == ["name"]:
            continue
        else:
            written += (
                _house(token, known, scope.randomness("house", folded(text), str(place))) if part == "drawn" else token
            )
    return written


def is_numbered_street(text: str, language: str) -> bool:
    """Whether a text with a number reads like a street or a part of one: "12 Oak Street", "Calle Mayor 3", "Apt 4"; "St. Louis 63101" does not."""
    tokens = [token for token in _TOKEN.findall(text) if any(map(str.isalnum, token))]
    numbers = [any(map(str.isdigit, token)) for token in tokens]
    if not any(numbers):
        return False
    known, beside = _words(language, "street_words"), _words(language, "street_parts")
    if all(number or folded(token) in beside for token, number in zip(tokens, numbers, strict=True)):
        return True
    return any(
        language != _KIND_BEHIND or any(numbers[:at]) or numbers[at + 1 : at + 2] == [True]
        for at, token in enumerate(tokens)
        if folded(token) in known - beside
    )


def _names_among_words(tokens: Sequence[str], parts: Sequence[str], language: str) -> list[int]:
    """Which of the words of a street that has no others are its name."""
    words = [place for place, part in enumerate(parts) if part == "word"]
    numbered = "drawn" in parts
    if numbered:
        # "Apt 4", "PO Box 12".
        beside = _words(language, "street_parts")
        words = [place for place in words if folded(tokens[place]) not in beside]
    if len(words) > 1:
        return words[:-1] if language == _KIND_BEHIND else words[1:]
    return [] if words and numbered and _is_named_by_number(words[0], tokens, parts) else words


def _is_named_by_number(place: int, tokens: Sequence[str], parts: Sequence[str]) -> bool:
    """As "5th Avenue", "Avenue B" and "Calle 50" are."""
    said = [at for at, part in enumerate(parts) if part != "gap"]
    at = said.index(place)
    ahead, behind = said[at - 1 : at] if at else [], said[at + 1 : at + 2]
    return any(parts[one] == "drawn" for one in behind) or any(
        parts[one] == "drawn" and (tokens[one].isalpha() or _ORDINAL.fullmatch(tokens[one])) for one in ahead
    )


def _house(token: str, known: Set[str], chance: Randomness) -> str:
    """A number of a house, "2nd" and "Nº12" with what they begin and end with."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        return redraw(token, chance)
    begin, digits, end = match["begin"], redraw(match["digits"], chance), match["end"]
    return (
        (begin if folded(begin) in known else redraw(begin, chance))
        + digits
        + ("th" if end.lower() in _ENGLISH_ENDS else redraw(end, chance))
    )


def _words(language: str, name: str) -> Set[str]:
    return frozenset(map(folded, word_lists(language, name)[0].split()))


def _part(token: str, known: Set[str]) -> str:
    if not any(map(str.isalnum, token)):
        return "gap"
    if folded(token) in known:
        return "word"
    # "3ºB": whatever holds a digit, and a letter or two alone, is a number of a house.
    return "drawn" if any(map(str.isdigit, token)) or len(token) <= _LONGEST_CODE else "name"
