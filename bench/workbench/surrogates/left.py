"""What surrogates leave of the true values: notes in which every entity stands in every spelling, and how often it is drawn as itself.

Each note has one date, one distance in time, one age, one place, one surname, one telephone number, one code and one address, in all spellings of its language. One of each, so
that no order is put back: then the probability that an entity comes out as it was is known exactly, and the counts are held against it. Numbers and
addresses are never drawn as one of the note, so there it is 0. An entity of which one spelling is left while another was changed has been left, not drawn.
"""

from __future__ import annotations

import datetime
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import poisson_binom

from shared.document import Annotation, Document
from shared.surrogates.people.lists import lists
from shared.surrogates.places.gazetteer import STEPS, Atlas, Gazetteer, PlaceSettings
from shared.surrogates.replacing import Replaced, Surrogates
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.spelling import folded
from shared.surrogates.time.languages import in_words, languages

LANGUAGES = ("English", "Spanish")
EPSILON = Fraction(2)
_PAYING = ("date", "distance", "age", "place")
_SHARE = EPSILON / len(_PAYING)
_FIRST_DAY, _DAYS = datetime.date(1990, 1, 1), 10_000
# Shorter words stand in a text by chance.
_TELLING = 5
_DATES = {
    "English": (
        "{m:02}/{d:02}/{y}",
        "{m}/{d}/{short:02}",
        "{month} {d}, {y}",
        "{MONTH} {d} {y}",
        "{d} {mon} {y}",
        "{d} {mon}",
        "{month} {d}",
        "{y}-{m:02}-{d:02}",
    ),
    "Spanish": (
        "{d:02}/{m:02}/{y}",
        "{d}/{m}/{short:02}",
        "{d} de {month} de {y}",
        "{d} DE {MONTH} DE {y}",
        "{d} {mon} {y}",
        "{d} {mon}",
        "{d} de {month}",
        "{y}-{m:02}-{d:02}",
    ),
}
# Days and months have two digits among numbers, and months their whole name, whatever stood there.
_WRITTEN = {
    "{m}/{d}/{short:02}": "{m:02}/{d:02}/{short:02}",
    "{d}/{m}/{short:02}": "{d:02}/{m:02}/{short:02}",
    "{d} {mon} {y}": "{d} {month} {y}",
    "{d} {mon}": "{d} {month}",
}
_DISTANCES = {
    "English": ("{n} weeks ago", "{words} weeks ago"),
    "Spanish": ("hace {n} semanas", "hace {words} semanas"),
}
_AGES = {
    "English": ("{n}", "{n}-year-old", "{words}", "{words} years"),
    "Spanish": ("{n}", "{n} años", "{words} años"),
}


@dataclass(frozen=True)
class Entity:
    """One true value of a note.

    Args:
        kind: what it is, in a word.
        category: of its spans.
        spellings: in which it stands in the note.
        itself: the exact probability that it is drawn as itself.
        written: of a spelling that no surrogate is written in what stands there when the true value is drawn.
    """

    kind: str
    category: str
    spellings: Sequence[str]
    itself: float
    written: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Tally:
    """What came out.

    Args:
        notes: that were replaced.
        spans: in them.
        left: spellings of which the true value is left though another spelling was changed, or that stand in the surrogate of another one, or between.
        redacted: spans without a surrogate.
        drawn: entities that were drawn as themselves, by kind.
        itself: the exact probability of each entity that it is drawn as itself, by kind.
    """

    notes: int = 0
    spans: int = 0
    left: int = 0
    redacted: int = 0
    drawn: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    itself: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def chances(self) -> Mapping[str, float]:
        """For each kind how probable a count at least as far on one side of the exact distribution is, both sides together (Poisson's binomial distribution)."""
        found = {}
        for kind, each in self.itself.items():
            law, count = poisson_binom(each), self.drawn[kind]
            found[kind] = float(min(1.0, 2 * min(law.cdf(count), law.sf(count - 1))))
        return found


def replace_spelt(notes: int, seed: int) -> Tally:
    """Replace notes of every spelling, half of them in each language.

    Args:
        notes: how many.
        seed: of what they say; surrogates are drawn by the operating system.

    Raises:
        RuntimeError: the note's budget was not split over what the exact probabilities suppose.
    """
    dice, tally = random.Random(seed), Tally()
    makers = {language: Surrogates(SurrogateSettings(language=language, epsilon=EPSILON)) for language in LANGUAGES}
    for number in range(notes):
        language = LANGUAGES[number % len(LANGUAGES)]
        entities = [*_of_time(language, dice), *_of_people(language, dice), *_of_signs(dice)]
        document = _note(f"n-{number}", entities, dice)
        made = makers[language].replace(document)
        if made.budget.entities != len(_PAYING):
            raise RuntimeError(f"expected {len(_PAYING)} entities that cost budget, got {made.budget.entities}")
        written: dict[str, str] = {one.original: one.surrogate for one in made.mapping}
        _count(tally, entities, written, _kept(made))
        tally.notes += 1
    return tally


def _kept(made: Replaced) -> set[str]:
    """The texts between surrogates."""
    ends = [0, *(one.end for one in made.mapping)]
    starts = [*(one.start for one in made.mapping), len(made.text)]
    return {made.text[end:start] for end, start in zip(ends, starts, strict=True)}


def _count(tally: Tally, entities: Iterable[Entity], written: Mapping[str, str], kept: Iterable[str]) -> None:
    """One note.

    Args:
        tally: to count in.
        entities: of the note.
        written: what stands for each spelling.
        kept: the texts between.
    """
    for entity in entities:
        same = [folded(written[one]) in (folded(one), folded(entity.written.get(one, one))) for one in entity.spellings]
        tally.spans += len(same)
        tally.redacted += sum(written[one] == f"[{entity.category}]" for one in entity.spellings)
        tally.drawn[entity.kind] += all(same)
        tally.itself[entity.kind].append(entity.itself)
        if not all(same):
            # What another entity is drawn as is drawn whatever this one was: a surname may be that of a town.
            own = [*kept, *(written[one] for one in entity.spellings)]
            tally.left += sum(same) or sum(_stands(one, text) for one in entity.spellings for text in own)


def _stands(original: str, text: str) -> bool:
    """Whether it stands anywhere; of what other entities may be drawn as, which are short numbers in words, nobody can say whose it is."""
    telling = len(original) >= _TELLING and not _is_a_number_in_words(original)
    return telling and bool(re.search(rf"(?<![\w-]){re.escape(folded(original))}(?![\w-])", folded(text)))


def _is_a_number_in_words(text: str) -> bool:
    return text.startswith(_numbers_in_words())


@cache
def _numbers_in_words() -> tuple[str, ...]:
    return tuple(in_words(number, language) for language in LANGUAGES for number in range(5, 80))


def _of_time(language: str, dice: random.Random) -> list[Entity]:
    """Date, distance and age: P(0) of discrete Laplace is (1 - q) / (1 + q), with q = exp(-epsilon)."""
    day = _FIRST_DAY + datetime.timedelta(days=dice.randrange(_DAYS))
    known = languages()[language]
    month, short = known.months[day.month - 1], known.short_months[day.month - 1]
    if language == "English":
        month, short = month.title(), short.title()
    parts = {
        "d": day.day,
        "m": day.month,
        "y": day.year,
        "short": day.year % 100,
        "month": month,
        "MONTH": month.upper(),
        "mon": short,
    }
    weeks, age = dice.randrange(5, 40), dice.randrange(25, 80)
    itself = math.tanh(float(_SHARE) / 2)
    return [
        Entity(
            "date",
            "DATE",
            _distinct(one.format(**parts) for one in _DATES[language]),
            itself,
            {one.format(**parts): so.format(**parts) for one, so in _WRITTEN.items()},
        ),
        Entity("distance", "DATE", _counted(_DISTANCES[language], weeks, language), itself),
        Entity("age", "AGE", _counted(_AGES[language], age, language), itself),
    ]


def _counted(forms: Sequence[str], number: int, language: str) -> Sequence[str]:
    words = in_words(number, language)
    if language == "Spanish" and words.endswith("uno"):
        # "veintiún años", "veintiuna semanas".
        words = words[:-1] + "a" if "semanas" in forms[0] else re.sub("uno$", "un", words)
    return _distinct(form.format(n=number, words=words) for form in forms)


def _of_people(language: str, dice: random.Random) -> list[Entity]:
    """A place, by the exact probability of permute-and-flip; a surname, one of its list."""
    places, names = _places(language), _surnames(language)
    place, name = dice.choice(places.names), dice.choice(names)
    # "Durán" and "Duran" are one name to a reader.
    listed = list(map(folded, lists().by_culture[language].family))
    return [
        Entity("place", "CITY", _cased(place), _itself(language)[place]),
        Entity("name", "DOCTOR", [*_cased(name), f"Dr. {name}"], listed.count(folded(name)) / len(listed)),
    ]


def _of_signs(dice: random.Random) -> list[Entity]:
    """What is never drawn as it was."""
    digits = "".join(str(dice.randrange(1, 10)) for _ in range(9))
    code = "".join(str(dice.randrange(10)) for _ in range(8))
    mail = "".join(dice.choice("abcdefghijklm") for _ in range(9))
    return [
        Entity("telephone", "PHONE", [digits, f"{digits[:3]} {digits[3:6]} {digits[6:]}", f"+34 {digits}"], 0.0),
        Entity("code", "MEDICALRECORD", [f"HG{code}", f"HG-{code[:4]}-{code[4:]}"], 0.0),
        Entity("address", "EMAIL", [f"{mail}@{mail[:6]}.org"], 0.0),
    ]


def _note(identifier: str, entities: Iterable[Entity], dice: random.Random) -> Document:
    """All spellings in random order, each a line of its own."""
    spans = [(spelling, entity.category) for entity in entities for spelling in entity.spellings]
    dice.shuffle(spans)
    text, annotations = "", []
    for spelling, category in spans:
        annotations.append(Annotation(len(text), len(text) + len(spelling), category))
        text += f"{spelling}\n"
    return Document(identifier, text, tuple(annotations))


def _distinct(spellings: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(spellings))


def _cased(name: str) -> list[str]:
    return list(_distinct((name, name.upper(), name.lower())))


@cache
def _places(language: str) -> Gazetteer:
    found = Atlas(PlaceSettings()).level("place", language)
    if found is None:
        raise RuntimeError(f"expected towns for {language} notes, got none")
    return found


@cache
def _itself(language: str) -> Mapping[str, float]:
    """How probably permute-and-flip stays where it is, for each town.

    Every candidate s has its turn at a uniform time of its own, and is taken with p_s = exp(-epsilon d_s / 2); the true one, with p = 1, wins where all that have their turn before
    are passed over: the integral over t of the product of 1 - t p_s. A polynomial, so Gauss and Legendre's rule is exact for it.
    """
    places = _places(language)
    count = len(places.names)
    times, weights = np.polynomial.legendre.leggauss(count // 2 + 1)
    times, weights = (times + 1) / 2, weights / 2
    found = {}
    for true, name in enumerate(places.names):
        apart = np.array([places.distance(true, other) for other in range(count) if other != true]) / STEPS
        taken = np.exp(-float(_SHARE) / 2 * apart)
        found[name] = float((weights * np.prod(1 - times[:, None] * taken, axis=1)).sum())
    return found


@cache
def _surnames(language: str) -> Sequence[str]:
    """Those that are no given name and no town, and long enough to be told from other words."""
    known = lists()
    return [
        name
        for name in known.by_culture[language].family
        if len(name) >= _TELLING
        and folded(name) not in {*known.gender_of, "weeks"}
        and _places(language).number(name) is None
    ]
