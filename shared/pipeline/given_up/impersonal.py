"""What a tagger takes for PHI and is about nobody: marks and labels at the edges of a name, ordinary words, measurements, clock times.

At a hospital that nobody has seen a tagger is unsure of what it has not met: `Belongings sent home`, `paged at 02:32`, `MRN`. Each rule gives up
one kind of token, by its spelling and by what stands right beside it, and none that a person, a place or a day may be told by:
what no dictionary has, what stands on a list of names, what reads like a credential and is written like a surname (`Linh Do`), and, in a note
whose capitals tell nothing, any word at all, stay hidden.
Whatever patterns find of it is hidden all the same.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from pathlib import Path

from foundation.reading import read_text
from shared.document import Annotation, Document
from shared.embeddings.generalised import strip_accents
from shared.labels import LabelScheme, categories_of_any_form, categories_of_names
from shared.pipeline.given_up.tokens import ReadNote, Token
from shared.text.language import function_words

AreWords = Callable[[str], bool]
"""Whether a dictionary has a word that names nobody."""

# Letters that begin a line or a sentence: in a note with fewer capitals than this among them, capitals tell nothing.
# Behind a line end no further one: many of them at an end would be gone through from each.
_BEGINNING = re.compile(r"(?:^|\n|[.!?]\s)[^\S\n]*([^\W\d_])")
_LEAST_CAPITALS = 0.8
_AHEAD_OF_SENTENCE = re.compile(r"(?:^|[\n.:;?!|*•]\s*|\d[.)]\s+|-\s)[\"'(]*\Z")
# A full stop that ends no sentence: behind a title or an initial.
_AHEAD_OF_NAME = re.compile(r"\b(?:(?i:mrs?|ms|drs?|dra|prof|sra?|srta|st)|(?<![Vv]itamin )[^\W\d_a-zß-ÿ])\.\s*\Z")
# What people alone have behind their names, and what they alone do.
_BEHIND_PERSON = re.compile(
    r",?\s(?:M\.?D|R\.?N|N\.?P|P\.?A(?:-C)?|D\.?O|PhD)\b"
    r"|\s(?:denies|reports|states|complains|endorses|presents|refiere|acude|niega)\b"
    r"|\s(?:is|was)\s(?:an?\s)?(?:pleasant|\d{1,3}[\s-]?(?:y|mo|week|day))"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec june july sept march april august january october february november december september"
_BEHIND_NO_MONTH = "".join(rf"(?<!\b{month}\s)" for month in _MONTHS.split())
_CLOCK = re.compile(
    # Every one begins with a digit; to try all ways at every letter took half the time of this step.
    r"(?=\d)(?:"
    r"(?<![\d/.:-])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?m\b\.?)?(?![\d/:-])"
    # Behind a month it is a day, and what follows another word ("march 4 am").
    r"|" + _BEHIND_NO_MONTH + r"(?<![\d/.:-])(?:1[0-2]|0?[1-9])\s?[ap]\.?m\b\.?"
    # Of four digits only what is no year.
    r"|(?:(?<=\bat )|(?<=@ )|(?<=@))(?:0\d|1[0-8]|2[1-3])[0-5]\d(?!\d|[/.:-]\d))",
    re.IGNORECASE,
)
_PARTED = re.compile(r"[\s:#]")
_LABELLED = re.compile(r"\s?[:=]")
_AHEAD_IN_LINE = re.compile(r"(?:^|\n)[^\w\n]*(?:(?:pts?|patient|paciente)\s)?\Z", re.IGNORECASE)
_PRESSURE = re.compile(r"\d{2,3}/\d{2,3}")
_PAIRS = ("()", "[]", '"', "«»", "“”")
_SIGNS = "#/+'’"
_WITHIN_NAMES = ",.-'’"
_LONGEST_INITIALS = 2
_REACH = 24
_YOUNGEST, _OLDEST, _LAST_DAY, _LAST_YEAR, _LONGEST_NUMBER = 18, 120, 31, 99, 3


@dataclass(frozen=True)
class Impersonal:
    """Gives up what a tagger found.

    Args:
        people, towns, named: categories of people; of towns; of both and of institutions.
        dates, ages: categories of days and of ages.
        formed: categories of numbers and the like, no word of which is a label.
        is_word: tells ordinary words from names.
        language: of the notes, in English; None where nobody knows.
    """

    people: Set[str]
    towns: Set[str]
    named: Set[str]
    dates: Set[str]
    ages: Set[str]
    formed: Set[str]
    is_word: AreWords
    language: str | None = None
    _function_words: Set[str] = field(init=False, repr=False)
    _titles: Set[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        titles = _listed("titles") | (_listed("spanish_titles") if self.language == "Spanish" else frozenset())
        object.__setattr__(self, "_titles", titles)
        object.__setattr__(self, "_function_words", function_words(self.language))

    @classmethod
    def of(cls, scheme: LabelScheme, is_word: AreWords, language: str | None) -> Impersonal:
        """For the categories of a scheme."""
        people, institutions, towns, dates, ages = (
            categories_of_names(scheme, kind) for kind in ("people", "institutions", "towns", "dates", "ages")
        )
        named = people | institutions | towns
        free = {scheme.categories[number] for number in categories_of_any_form(scheme)}
        return cls(people, towns, named, dates, ages, set(scheme.categories) - free - ages | named, is_word, language)

    def give_up(self, document: Document) -> Document:
        """The document without what tells of nobody; a span keeps what is left of it."""
        note = ReadNote(document.text)
        telling = _capitals_tell(note.text)
        clock = [match.span() for match in _CLOCK.finditer(note.text)]
        left = (self._left_of(span, note, telling, clock) for span in document.annotations)
        return replace(document, annotations=tuple(span for span in left if span is not None))

    def _left_of(
        self, span: Annotation, note: ReadNote, telling: bool, clock: Sequence[tuple[int, int]]
    ) -> Annotation | None:
        text, tokens = note.text, note.tokens(span)
        if span.category in self.dates | self.ages:
            tokens = _without_clock(tokens, clock)
        tokens = self._without_edges(tokens, span.category, text, telling)
        words = [token for token in tokens if not token.is_mark]
        if not words or self._is_ordinary(words, span.category, text, telling):
            return None
        if span.category in self.dates | self.ages and _is_measure(words, span.category in self.dates, text):
            return None
        return note.left(span, tokens)

    def _without_edges(self, tokens: list[Token], category: str, text: str, telling: bool) -> list[Token]:
        """Without the marks, labels and small words ahead of what is named and behind it."""
        worded = category in self.named | self.dates
        lettered = (self.named | self.dates) - self.towns
        capital = category in self.named and any(not token.is_small and not token.is_mark for token in tokens)

        def is_beside(token: Token, ahead: bool) -> bool:
            word = token.text.lower()
            if token.is_mark:
                return not _belongs(token, tokens, ahead)
            if worded and token.is_small and word in _listed("shorthand") and not _is_called(word, ahead):
                return True
            if category not in self.formed or (len(tokens) == 1 and not telling):
                return False
            if word in _listed("labels") or word in (self._titles if ahead and worded else _listed("credentials")):
                if category not in lettered:
                    return _is_parted_label(token, tokens, text) if ahead else len(tokens) == 1
                named = category in self.named and not _is_label(token, text)
                return not _may_be_initials(token, tokens) and not (
                    named and self._may_be_name(token, tokens, ahead, telling)
                )
            if not worded or not token.is_small:
                return False
            if len(word) == 1 and text.startswith(".", token.end):
                return False
            if word in self._function_words or len(word) == 1:
                return telling or (len(word) > 1 and not is_name(word) and self.is_word(word))
            called = category in self.people and is_name(word)
            return capital and telling and self.is_word(word) and not called

        while tokens and is_beside(tokens[-1], ahead=False):
            tokens = tokens[:-1]
        while tokens and is_beside(tokens[0], ahead=True):
            tokens = tokens[1:]
        return tokens

    def _may_be_name(self, token: Token, tokens: Sequence[Token], ahead: bool, telling: bool) -> bool:
        """Whether somebody may be called by a credential, title or label, by how it is written beside the rest of a span."""
        word = token.text.lower()
        others = [one.text for one in tokens if one is not token and not one.is_mark]
        beside = tokens[1 if ahead else -2] if len(tokens) > 1 else token
        comma = beside.text == ","
        if beside.is_mark and beside.text not in _WITHIN_NAMES:
            others = []
        if token.has_one_capital:
            if others and not (ahead and word in self._titles - _listed("credentials")):
                return True
            return _is_called(word) and (comma or not others)
        # In capitals or small letters throughout, casing tells nothing.
        long = [one for one in others if len(one) > 1]
        alike = all(map(str.isupper, long)) if token.text.isupper() else not telling and all(map(str.islower, long))
        return bool(long) and alike and _is_called(word, ahead) and (ahead or not comma)

    def _is_ordinary(self, words: Sequence[Token], category: str, text: str, telling: bool) -> bool:
        """Words in small letters, or one that has its capital from the sentence that it begins."""
        if not telling or category not in self.people | self.dates:
            return False
        if any(not word.text.isalpha() or word.text.lower() in _listed("times") for word in words):
            return False
        small = all(word.is_small for word in words)
        if small and any(is_name(word.text) for word in words) and _name_ahead().search(text, *_window(words[0].start)):
            return False
        first = len(words) == 1 and self._has_its_capital_from_a_sentence(words[0], text)
        return (small or first) and all(self.is_word(word.text.lower()) for word in words)

    def _has_its_capital_from_a_sentence(self, word: Token, text: str) -> bool:
        small = word.text.lower()
        if word.text != word.text.capitalize() or is_name(small):
            return False
        reach = _window(word.start)
        if _AHEAD_OF_SENTENCE.search(text, *reach) is None or _person_label().search(text, *reach) is not None:
            return False
        told = small in self._function_words | _listed("relatives") | _listed("titles")
        if not told and _BEHIND_PERSON.match(text, word.end) is not None:
            return False
        # "Q. Amble", but not "D.O.B.".
        return len(small) == 1 or small in self._function_words or _AHEAD_OF_NAME.search(text, *reach) is None


def _belongs(mark: Token, tokens: Sequence[Token], ahead: bool) -> bool:
    """A sign ahead of a number, a full stop behind an initial, and one of two parentheses or quotation marks."""
    if len(tokens) == 1:
        return False
    if ahead and mark.text in _SIGNS:
        return True
    if not ahead and mark.text == ".":
        before = tokens[-2].text
        return before.isalpha() and (
            len(before) == 1 or (len(before) <= _LONGEST_INITIALS and before.istitle() | before.isupper())
        )
    pair = next((pair for pair in _PAIRS if mark.text in pair), None)
    return pair is not None and any(token is not mark and token.text in pair for token in tokens)


def _may_be_initials(token: Token, tokens: Sequence[Token]) -> bool:
    """Two capitals by themselves, unless they are what nobody's initials are taken for."""
    return (
        len(tokens) == 1
        and len(token.text) == 2
        and token.text.isupper()
        and token.text.lower() not in _listed("credentials")
    )


def _is_called(word: str, ahead: bool = True) -> bool:
    return word in _listed("also_names") or (ahead and word in _listed("also_given"))


def _is_parted_label(token: Token, tokens: Sequence[Token], text: str) -> bool:
    """All that is left of a span, or a label with a blank, a colon or "#" behind it: of an identifier and of a town the rest is a part (`PA 44-71`)."""
    return len(tokens) == 1 or (token.text.lower() in _listed("labels") and _PARTED.match(text, token.end) is not None)


def is_name(word: str) -> bool:
    """Whether people are called by a word in small letters that a dictionary has."""
    return strip_accents(word) in _names()


def _is_label(token: Token, text: str) -> bool:
    """A colon behind it, or "="; where it has one capital, as names have, a colon is enough at the head of a line alone."""
    sign = _LABELLED.match(text, token.end)
    if token.text.lower() not in _listed("labels") or sign is None:
        return False
    if not token.has_one_capital or sign[0].endswith("="):
        return True
    return _AHEAD_IN_LINE.search(text, *_window(token.start)) is not None


def _capitals_tell(text: str) -> bool:
    """Whether lines and sentences of a note begin with a capital, and not everything is one."""
    first = _BEGINNING.findall(text)
    return sum(map(str.isupper, first)) > _LEAST_CAPITALS * len(first) and text != text.upper()


def _without_clock(tokens: list[Token], clock: Sequence[tuple[int, int]]) -> list[Token]:
    """Without the clock times ahead and behind, of which no two overlap, and which are in order."""

    def is_clock(token: Token) -> bool:
        place = bisect_right(clock, token.start, key=itemgetter(0))
        return place > 0 and token.end <= clock[place - 1][1]

    first, last = 0, len(tokens)
    while last > first and is_clock(tokens[last - 1]):
        last -= 1
    while first < last and is_clock(tokens[first]):
        first += 1
    return tokens[first:last]


def _is_measure(words: Sequence[Token], is_date: bool, text: str) -> bool:
    """Numbers that no date and no age is told by."""
    start, end = words[0].start, words[-1].end
    # Not every digit is one of a number: of "10³" there is none.
    short = all(word.text.isdecimal() and len(word.text) <= _LONGEST_NUMBER for word in words)
    if not short or _is_part(start, end, text):
        return False
    measured = _expression("units").match(text, end) is not None
    number = int(words[0].text)
    if len(words) > 1:
        # "98/60" may be two years, which "132/78" is not, and "10/12" a day whatever stands beside it.
        told = number > _LAST_YEAR or measured or _stands_behind("pressure_ahead", start, text)
        return number > _LAST_DAY and told and _PRESSURE.fullmatch(text, start, end) is not None
    if measured or number > _OLDEST:
        return True
    if is_date:
        return number > _LAST_YEAR or (number > _LAST_DAY and not _stands_behind("year_ahead", start, text))
    cued = _expression("age_behind").match(text, end) or _stands_behind("age_ahead", start, text)
    return number < _YOUNGEST and not cued


def _is_part(start: int, end: int, text: str) -> bool:
    """Whether a number is a part of something longer: `rg49`, `2-15`, `'07`."""
    ahead, behind = text[max(0, start - 2) : start], text[end : end + 2]
    return re.search(r"[\w'’]\Z|\d[-/.,:]\Z", ahead) is not None or re.match(r"[^\W\d]|[-/.,:]\d", behind) is not None


@cache
def _stated(file: str) -> dict[str, str]:
    stated: dict[str, str] = tomllib.loads(read_text(Path(__file__).with_name(file)))
    return stated


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(_stated("impersonal.toml")[name].split())


@cache
def _names() -> frozenset[str]:
    return frozenset(map(strip_accents, _listed("names"))) | _of_lists("words", "surnames")


def _of_lists(*names: str) -> frozenset[str]:
    return frozenset(word for name in names for word in _stated("names.toml")[name].split())


def _any_of(name: str) -> str:
    return f"(?:{'|'.join(_stated('impersonal.toml')[name].split())})"


@cache
def _expression(name: str) -> re.Pattern[str]:
    return re.compile(rf"\s?-?{_any_of(name)}(?!\w)", re.IGNORECASE)


@cache
def _behind(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<!\w)|(?=\()){_any_of(name)}\W{{0,3}}\Z", re.IGNORECASE)


def _stands_behind(name: str, start: int, text: str) -> bool:
    return _behind(name).search(text, *_window(start)) is not None


def _window(start: int) -> tuple[int, int]:
    """What is looked at ahead of a word."""
    return max(0, start - _REACH), start


@cache
def _name_ahead() -> re.Pattern[str]:
    relatives = "|".join(_listed("relatives"))
    return re.compile(rf"(?<!\w)(?:(?:{relatives})(?:\sis)?,?|{_any_of('name_ahead')})\s\Z", re.IGNORECASE)


@cache
def _person_label() -> re.Pattern[str]:
    return re.compile(rf"\b{_any_of('person_labels')}\.?\s?:\s{{0,3}}\Z", re.IGNORECASE)
