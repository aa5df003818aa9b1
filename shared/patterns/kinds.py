"""The kinds of PHI that rules find, read from `recognisers/*.toml`; `words.toml` there says how one is written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from foundation.reading import read_text
from shared.labels import HIDDEN, LabelScheme, load_scheme, plain_name, scheme_names
from shared.patterns.check_digits import CHECKS

CAPITALS = "A-ZÁÉÍÓÚÜÑÇÀÈÌÒÙÂÊÎÔÛÄËÏÖ"
_FOLDER = Path(__file__).with_name("recognisers")
_WORDS = "words.toml"
SMALL = "a-záéíóúüñçàèìòùâêîôûäëïöß"
# What `re` has no name for: a letter that is a capital, one that is none, and that or an apostrophe.
_CLASSES = {r"\p{U}": CAPITALS, r"\p{s}": SMALL, r"\p{l}": f"{SMALL}'’"}
_INSIDE = re.compile(r"\[[^\]]*\]")
_NAMED = re.compile(r"%(\w+)%")
PLACES = ("digit", "led", "code")
"""Where an expression may begin: at a run of digits, at a sign right ahead of one, at a short word right ahead of one."""


@dataclass(frozen=True, order=True)
class Suspicion:
    """A stretch of text that may be PHI.

    Args:
        start, end: half-open, in code points.
        category: of the scheme, HIDDEN where it has none for it.
        certainty: share of such findings that are PHI, as far as is known; 0 to 1.
        source: what found it.
    """

    start: int
    end: int
    category: str
    certainty: float
    source: str


@dataclass(frozen=True)
class Rule:
    """One expression of a kind.

    Args:
        kind: its name.
        category: that a match has.
        certainty: of a match.
        expression: compiled; its group `phi` is the PHI, or else all of it.
        check: name of the check that the PHI has to pass, "" for none.
    """

    kind: str
    category: str
    certainty: float
    expression: re.Pattern[str]
    check: str = ""

    def suspicion(self, match: re.Match[str]) -> Suspicion | None:
        """What a match says; None where its check fails."""
        group = "phi" if "phi" in self.expression.groupindex else 0
        if self.check and not CHECKS[self.check](match[group]):
            return None
        return Suspicion(match.start(group), match.end(group), self.category, self.certainty, self.kind)


@dataclass(frozen=True)
class Kind:
    """One recogniser, in the words of a scheme.

    Args:
        name: unique.
        category: of its matches, HIDDEN where the scheme has none for it.
        certainty: share of its matches that are PHI, measured on notes that nothing is reported on.
        places: rules that begin at one of PLACES.
        after: rules by the word, in lower case, that they begin at.
        holds: rules by a text that a note must hold.
    """

    name: str
    category: str
    certainty: float
    places: Mapping[str, tuple[Rule, ...]]
    after: tuple[tuple[tuple[str, ...], tuple[Rule, ...]], ...]
    holds: tuple[tuple[tuple[str, ...], tuple[Rule, ...]], ...]


def read_kinds(scheme: LabelScheme, language: str | None) -> Iterator[Kind]:
    """The kinds that a scheme counts as PHI, in the order of their files.

    Args:
        scheme: names the categories.
        language: of the notes, in English ("Spanish"); None where nobody knows, then the kinds of all languages.
    """
    for name, stated in stated_kinds().items():
        if language is not None and language not in stated.get("languages", (language,)):
            continue
        category = category_of(stated["categories"], scheme)
        if scheme.name in stated.get("not_of", ()) and _is_as_shipped(scheme):
            continue
        if category is None and stated.get("optional", False) and _known_categories().issuperset(_plain(scheme)):
            continue
        yield _kind(name, stated, HIDDEN if category is None else category)


def category_of(names: Sequence[str], scheme: LabelScheme) -> str | None:
    """The first of some names that a scheme has, as that spells it; None where it has none."""
    spelled = _plain(scheme)
    return next((spelled[plain] for plain in map(plain_name, names) if plain in spelled), None)


@cache
def stated_kinds() -> Mapping[str, Mapping[str, Any]]:
    """Every kind as its file states it, by its name."""
    files = sorted(path for path in _FOLDER.glob("*.toml") if path.name != _WORDS)
    return {name: kind for file in files for name, kind in tomllib.loads(read_text(file)).items()}


def _plain(scheme: LabelScheme) -> dict[str, str]:
    """Each category by its plain name."""
    return {plain_name(category): category for category in scheme.categories}


def _is_as_shipped(scheme: LabelScheme) -> bool:
    """Whether it is the scheme of the project that has its name: any other may count more, whatever it is called."""
    return set(load_scheme(scheme.name).categories) == set(scheme.categories)


@cache
def _known_categories() -> frozenset[str]:
    """Plain names of all categories of the project's schemes and of the kinds."""
    schemes = (load_scheme(name).categories for name in scheme_names())
    kinds = (kind["categories"] for kind in stated_kinds().values())
    return frozenset(map(plain_name, chain(*schemes, *kinds)))


def _kind(name: str, stated: Mapping[str, Any], category: str) -> Kind:
    def rules(patterns: Sequence[str]) -> tuple[Rule, ...]:
        check = stated.get("check", "")
        return tuple(Rule(name, category, stated["certainty"], compiled(one), check) for one in patterns)

    return Kind(
        name,
        category,
        stated["certainty"],
        {place: rules(stated.get(place, ())) for place in PLACES},
        tuple((_words(one["words"]), rules(one["patterns"])) for one in stated.get("after", ())),
        tuple((tuple(one["texts"]), rules(one["patterns"])) for one in stated.get("holds", ())),
    )


@cache
def _named() -> Mapping[str, str]:
    return tomllib.loads(read_text(_FOLDER / _WORDS))


def words_named(name: str) -> tuple[str, ...]:
    """The words that `words.toml` has under a name."""
    return tuple(_named()[name].split())


def _words(stated: str | Sequence[str]) -> tuple[str, ...]:
    return words_named(stated) if isinstance(stated, str) else tuple(stated)


def _expression(name: str) -> str:
    text = _named()[name]
    # The longest first, or "jan" would keep "january" from being found.
    return text if name.endswith("_") else f"(?:{'|'.join(sorted(text.split(), key=len, reverse=True))})"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """An expression as `words.toml` says that one is written.

    Args:
        pattern: in verbose form.
    """

    def replaced(found: re.Match[str]) -> str:
        text = found[0]
        for name, letters in _CLASSES.items():
            text = text.replace(name, letters)
        return text

    while _NAMED.search(pattern):
        pattern = _NAMED.sub(lambda found: _expression(found[1]), pattern)
    pattern = _INSIDE.sub(replaced, pattern)
    for name, letters in _CLASSES.items():
        pattern = pattern.replace(name, f"[{letters}]")
    return re.compile(pattern, re.VERBOSE)
