"""Names of people, places and streets on lists that somebody gives, such as those of a country, beside the lists that come with the program.

A country has a hundred thousand surnames, and many are words as well. So a name by itself is doubtful, and one that a dictionary has, or that is
shorter than three letters, says little: two beside each other are sure where one of them is more than that. A street is sure beside what streets
are called ("Calle", "Road"), or beside its number. What these lists find comes beside what is found without them, and never in its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shared.anonymity.shipped_lists import ordinary_words, shipped_lists
from shared.embeddings.generalised import strip_accents
from shared.labels import HIDDEN, LabelScheme
from shared.patterns.kinds import Suspicion, category_of, compiled, words_named
from shared.patterns.reading import begins_sentence

KINDS = ("people", "places", "streets")
_PEOPLE, _PLACES, _STREETS = KINDS
_CATEGORIES = {
    _PEOPLE: ("PATIENT", "NOMBRE_SUJETO_ASISTENCIA", "NAME", "PERSON"),
    _PLACES: ("CITY", "TERRITORIO", "LOCATION", "GEOGRAPHIC"),
    _STREETS: ("STREET", "CALLE", "ADDRESS", "LOCATION", "GEOGRAPHIC"),
}
_SURE, _LIKELY, _DOUBTFUL = 0.9, 0.55, 0.35
_SHORTEST, _LONGEST_ACRONYM = 3, 4
_MOST_PARTS = 12
_SHORTEST_OF_ONE_WORD = 6
_BEFORE = 20

_AHEAD, _BEHIND = (frozenset(words_named(f"streets_{where}")) for where in ("ahead", "behind"))
_WITHIN = words_named("streets_within")
# Letters with a part that is no accent, as who has no such keys types them.
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_PARTICLES = frozenset(words_named("name_particles"))
# Lists and notes write them out, or don't.
_WRITTEN_OUT = {
    "dr": "doctor doctora docteur doktor",
    "gral": "general",
    "prof": "profesor profesora professor professeur",
    "st": "saint sankt",
    "sta": "santa",
    "ste": "sainte",
    "sto": "santo",
    "str": "strasse",
}
_SHORT = {long: short for short, longer in _WRITTEN_OUT.items() for long in longer.split()}
# What a word may be: a name of a person, what a street is called ahead of its name, the first part of a place, of a street.
_PERSON, _KIND, _PLACE, _STREET = 1, 2, 4, 8

_WORD = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"[^\W_]+")
_NEXT_NAME = compiled(r"(?P<between>(?:\ [^\W\d_]\.){0,2}(?:,?\ |['-])(?:(?:e|i|y)\ )?%particles_%)(?P<name>[^\W\d_]+)")
_NEXT_PART = re.compile(r"(?:[ '-]|\. ?| {2})(?P<part>[^\W_]+)")
_TO_NAME = re.compile(rf"[./]{{0,2}} ?(?:(?i:{'|'.join(sorted(_PARTICLES, key=len, reverse=True))})[ ']){{0,3}}")
_ELIDED = re.compile(r"(?<![^\W_])[^\W\d_]'\Z")
_TURNED = re.compile(r"(?P<name>[^,(]+?)(?:, ?| ?\()(?P<article>[^\W\d_]{1,3}'?)\)?")
_NUMBER_AHEAD = re.compile(r"(?<![\w.,/-])\d{1,5}(?:-\d{1,5})?(?: ?(?:bis|ter|[A-Za-z]))?,? \Z")
_NUMBER_BEHIND = compiled(r"(?:,?\ \d{1,4}[a-z](?!\w)|%street_number_%)(?:/\d{1,4}[A-Za-z]?(?!\w))?")
# A number that is no dose, no value and no year.
_HOUSE = compiled(r",?\ (?:nº\ ?|\#)?(?!(?:19|20)\d\d)\d{1,4}[a-z]?(?!\w|[.,]\d|\ ?%|\ ?(?i:%units%)%no_letter_%)")


@dataclass(frozen=True, repr=False)
class GivenNames:
    """What lists name, in any spelling.

    Args:
        people: given names and surnames, one or several together.
        places: towns, villages, regions.
        streets: with what they are called ("Calle Mayor", "Main St"), or without.
    """

    people: Sequence[str] = ()
    places: Sequence[str] = ()
    streets: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"GivenNames({self.counts()})"

    def __bool__(self) -> bool:
        return any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """How many of each of KINDS."""
        return {kind: len(getattr(self, kind)) for kind in KINDS}


class GivenLists:
    """Finds them.

    Args:
        scheme: of the categories.
        given: the names.
        others: names of people of other lists, in lower case: a given name goes on with one of them.
    """

    def __init__(self, scheme: LabelScheme, given: GivenNames, others: Collection[str] = ()) -> None:
        self._category = {kind: category_of(names, scheme) or HIDDEN for kind, names in _CATEGORIES.items()}
        self._others = others
        # One look-up for each word of a text, folded: most are on no list.
        self._words: dict[str, int] = {}
        self._phrases: dict[str, int] = {}
        self._longest: dict[str, int] = {}
        for name in given.people:
            for word in map(_fold, _WORD.findall(name)):
                # One letter again and again stands for a name, also where a labelled one is read.
                if len(set(word)) > 1 and word not in _PARTICLES:
                    self._mark(word, _PERSON)
        for what, names, spellings in ((_PLACE, given.places, _of_place), (_STREET, given.streets, _of_street)):
            for name in names:
                for parts in spellings(name):
                    self._add(parts[:_MOST_PARTS], what)
        if given.streets:
            for word in _AHEAD:
                self._mark(word, _KIND)

    def _mark(self, word: str, what: int) -> None:
        self._words[word] = self._words.get(word, 0) | what

    def _add(self, parts: Sequence[str], what: int) -> None:
        phrase = " ".join(parts)
        self._phrases[phrase] = self._phrases.get(phrase, 0) | what
        for word in _spelled(parts[0]):
            self._mark(word, what)
        if len(parts) > 1:
            self._longest[parts[0]] = max(len(parts), self._longest.get(parts[0], 1))

    def found(self, text: str, first: int, last: int) -> Iterator[Suspicion]:
        """Of a text, what begins in a stretch of it.

        Args:
            text: as `reading` has it.
            first, last: where the stretch begins and ends.
        """
        person_end = first
        for word in _WORD.finditer(text, first):
            start, end = word.span()
            if start >= last:
                return
            low = word[0].lower()
            if not (what := self._words.get(low if low.isascii() else _fold(low), 0)):
                continue
            capital = _is_capital(word[0])
            if what & _PERSON and capital and start >= person_end:
                person, person_end = self._person(text, word)
                yield from person
            if what & (_PLACE | _STREET) and (capital or _is_numbered(text, start, end)):
                phrases = self._phrases_at(text, word)
                yield from self._place(text, phrases)
                yield from self._street(text, start, phrases, called=False)
            if what & _KIND and (name := _WORD.match(text, _end(_TO_NAME, text, end))):
                yield from self._street(text, start, self._phrases_at(text, name), called=True)

    def _person(self, text: str, word: re.Match[str]) -> tuple[list[Suspicion], int]:
        """What a listed word is, with the words with a capital behind it, and where that ends."""
        count, strong, end = 1, _says_more(word[0]), word.end()
        while (step := _NEXT_NAME.match(text, end)) and _is_capital(name := step["name"]):
            listed = bool(self._words.get(_fold(name), 0) & _PERSON) or name.lower() in self._others
            more = _says_more(name)
            # In a note of capitals any word may stand there, and behind a comma anywhere.
            goes_on = more or not name.isupper() if listed else more and not name.isupper() and _is_near(step)
            if not goes_on:
                break
            count, strong, end = count + 1, strong or (listed and more), step.end()
        start = _start(_ELIDED, text, word.start())
        if count > 1:
            certainty = _SURE if strong else _DOUBTFUL
        elif strong:
            certainty = _DOUBTFUL if begins_sentence(text, start) or _is_acronym(word[0]) else _LIKELY
        else:
            certainty = 0.0 if _is_plain(text, start, end) or len(word[0]) < _SHORTEST else _DOUBTFUL
        return self._suspicion(_PEOPLE, start, end, certainty), end

    def _place(self, text: str, phrases: Sequence[_Phrase]) -> list[Suspicion]:
        """The longest place among phrases that begin at one word."""
        for phrase in phrases:
            if not (phrase.what & _PLACE and phrase.capitals):
                continue
            start, end = phrase.parts[0].start(), phrase.parts[-1].end()
            plain = _is_plain(text, start, end)
            if len(phrase.names) > 1:
                certainty = _SURE if phrase.strong else _DOUBTFUL if plain else _LIKELY
            elif phrase.strong:
                certainty = _DOUBTFUL if _is_acronym(text[start:end]) else _LIKELY
            else:
                certainty = 0.0 if plain else _LIKELY
            return self._suspicion(_PLACES, start, end, certainty)
        return []

    def _street(self, text: str, start: int, phrases: Sequence[_Phrase], *, called: bool) -> list[Suspicion]:
        """The longest street among phrases that begin at one word.

        Args:
            text: of the note.
            start: of that word, or of what such streets are called ahead of it.
            phrases: the longest first.
            called: whether that stands ahead of it.
        """
        for phrase in phrases:
            end = phrase.parts[-1].end()
            if not phrase.what & _STREET:
                continue
            behind = _NEXT_PART.match(text, end)
            if behind is not None and _fold(behind["part"]) in _BEHIND:
                end = behind.end()
            is_called = called or end > phrase.parts[-1].end() or _ends_as_street(phrase.parts[-1][0])
            ahead = _start(_NUMBER_AHEAD, text, start)
            far = _end(_NUMBER_BEHIND, text, end) if is_called or _HOUSE.match(text, end) else end
            numbered = ahead < start or far > end
            if not phrase.capitals and not (is_called and numbered):
                continue
            plain = _is_plain(text, start, end)
            if is_called:
                # In a note of capitals a central line ("VIA CENTRAL") reads like a street.
                certainty = _SURE if numbered or phrase.strong or not text[start:end].isupper() else _DOUBTFUL
            elif len(phrase.names) > 1:
                certainty = _SURE if numbered or phrase.strong else _DOUBTFUL if plain else _LIKELY
            elif phrase.strong:
                certainty = _SURE if numbered else _DOUBTFUL
            else:
                certainty = 0.0 if plain else _DOUBTFUL
            return self._suspicion(_STREETS, *((start, far) if far > end else (ahead, end)), certainty)
        return []

    def _phrases_at(self, text: str, word: re.Match[str]) -> list[_Phrase]:
        """Every listed place or street that begins with a word, the longest first."""
        parts, keys = [word], [_key(word[0])]
        for _ in range(1, self._longest.get(keys[0], 1)):
            step = _NEXT_PART.match(text, parts[-1].end())
            if step is None or (part := _PART.match(text, step.start("part"))) is None:
                break
            parts.append(part)
            keys.append(_key(part[0]))
        counts = range(len(parts), 0, -1)
        known = ((self._phrases.get(" ".join(keys[:count]), 0), parts[:count]) for count in counts)
        return [_Phrase(what, found) for what, found in known if what]

    def _suspicion(self, kind: str, start: int, end: int, certainty: float) -> list[Suspicion]:
        source = f"hospital's list of {kind}"
        return [Suspicion(start, end, self._category[kind], certainty, source)] if certainty else []


class _Phrase:
    """Words of a text that a list has as a place or a street.

    Args:
        what: which of both.
        parts: the words.
    """

    def __init__(self, what: int, parts: Sequence[re.Match[str]]) -> None:
        self.what, self.parts = what, parts
        self.names = [part[0] for part in parts if _fold(part[0]) not in _PARTICLES]

    @property
    def capitals(self) -> bool:
        """Whether each begins with one, but for particles."""
        return all(map(_is_capital, self.names))

    @property
    def strong(self) -> bool:
        """Whether one is more than a word."""
        return any(map(_says_more, self.names))


def _of_place(name: str) -> Iterator[list[str]]:
    """A place with its article and without; both names of one that has two."""
    for one in _as_spoken(name).split("/"):
        parts = _parts(re.split(r"[,(;]", one)[0])
        bare = _without_particles(parts)
        if bare:
            yield parts
            yield bare


def _spelled(part: str) -> list[str]:
    """A word as notes may write it, folded, of which `_key` makes this one."""
    longer = _WRITTEN_OUT.get(part, "").split()
    return [part, *longer, *([f"{part}asse"] if part.endswith("str") else ())]


def _of_street(name: str) -> Iterator[list[str]]:
    """The name of a street without what such streets are called."""
    parts = _PART.findall(re.split(r"[,(;]", _as_spoken(name).replace("/", " "))[0])
    while parts and parts[-1].isdecimal():
        parts.pop()
    folded = [_fold(part) for part in parts]
    if len(folded) > 1 and folded[0] in _AHEAD:
        parts = parts[1:]
    elif len(folded) > 1 and folded[-1] in _BEHIND:
        parts = parts[:-1]
    bare = _without_particles([_key(part) for part in parts])
    if bare and not (len(bare) == 1 and bare[0] in _AHEAD):
        yield bare


def _as_spoken(name: str) -> str:
    """With an article that a list has behind ("Coruña, A", "Rozas (Las)") ahead."""
    turned = _TURNED.fullmatch(name)
    if turned is None or _fold(turned["article"].strip("'")) not in _PARTICLES:
        return name
    return f"{turned['article']} {turned['name']}"


def _parts(name: str) -> list[str]:
    return [_key(part) for part in _PART.findall(name)]


def _without_particles(parts: Sequence[str]) -> list[str]:
    """From the first part on that is a name; nothing where there is none that a note could mean."""
    first = next((place for place, part in enumerate(parts) if part not in _PARTICLES), len(parts))
    named = list(parts[first:])
    return named if named and named[0].isalpha() and len(set("".join(named))) > 1 else []


@lru_cache(maxsize=1 << 16)
def _fold(word: str) -> str:
    return strip_accents(word.casefold()).translate(_STROKES)


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> str:
    """As words are compared: folded, and the short form of what lists and notes write out, or don't."""
    folded = _fold(word)
    return _SHORT.get(folded) or (folded.removesuffix("asse") if folded.endswith("strasse") else folded)


@lru_cache(maxsize=1 << 16)
def _says_more(word: str) -> bool:
    """Whether it is more than a word of clinical notes, or of a language that there is a dictionary of."""
    own, *_ = shipped_lists()
    low = word.lower()
    return len(word) >= _SHORTEST and not ordinary_words(None)(low) and not own.holds([low])[0]


def _is_capital(word: str) -> bool:
    """Of a script without capitals every word may be a name."""
    return not word[0].islower()


def _is_near(step: re.Match[str]) -> bool:
    """Whether nothing stands ahead of a name but blanks, hyphens and particles."""
    return {",", "."}.isdisjoint(step["between"])


def _is_numbered(text: str, start: int, end: int) -> bool:
    return text[max(0, start - 2) : max(0, start - 1)].isdigit() or _HOUSE.match(text, end) is not None


def _ends_as_street(word: str) -> bool:
    """Whether it says what such streets are called, as "Hauptstraße" does."""
    return len(word) >= _SHORTEST_OF_ONE_WORD and _key(word).endswith(_WITHIN)


def _is_acronym(word: str) -> bool:
    return word.isupper() and len(word) <= _LONGEST_ACRONYM


def _is_plain(text: str, start: int, end: int) -> bool:
    """Whether it has its capital by where it stands, whatever it is."""
    return begins_sentence(text, start) or text[start:end].isupper()


def _start(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Where what ends at a place begins, by a pattern that ends with its text; the place where nothing does."""
    found = pattern.search(text, max(0, place - _BEFORE), place)
    return place if found is None else found.start()


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()
