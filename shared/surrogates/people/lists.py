"""Public lists of names, by culture and gender: those of Faker, of one word each, so that every word of a name can get a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from shared.surrogates.spelling import folded

GENDERS = ("female", "male")


@dataclass(frozen=True)
class Names:
    """The names of one culture.

    Args:
        given: by gender; a name of both genders stands in neither.
        family: surnames.
        gender_of: of folded given names; "" for what both genders have.
    """

    given: Mapping[str, Sequence[str]]
    family: Sequence[str]
    gender_of: Mapping[str, str]


@dataclass(frozen=True)
class Lists:
    """All names.

    Args:
        by_culture: named as languages are.
        gender_of: as of one culture, over all.
        cultures_of: where a folded given name or surname stands.
        is_family: folded surnames.
    """

    by_culture: Mapping[str, Names]
    gender_of: Mapping[str, str]
    cultures_of: Mapping[str, Sequence[str]]
    is_family: frozenset[str]


@cache
def lists() -> Lists:
    """The lists; loaded when the first name is drawn."""
    # Imported here: it takes time that most commands need not pay.
    from faker.providers.person import en_US, es_ES, fr_FR

    cultures = {
        name: _names(module.Provider) for name, module in (("English", en_US), ("Spanish", es_ES), ("French", fr_FR))
    }
    stands: dict[str, list[str]] = {}
    for culture, names in cultures.items():
        for name in dict.fromkeys((*names.gender_of, *map(folded, names.family))):
            stands.setdefault(name, []).append(culture)
    given = {name for names in cultures.values() for name in names.gender_of}
    return Lists(
        cultures,
        {name: _one_of({names.gender_of.get(name) for names in cultures.values()} - {None}) for name in given},
        stands,
        frozenset(folded(name) for names in cultures.values() for name in names.family),
    )


def _names(provider: type) -> Names:
    listed = {gender: _single(getattr(provider, f"first_names_{gender}")) for gender in GENDERS}
    genders: dict[str, set[str | None]] = {}
    for gender, names in listed.items():
        for name in names:
            genders.setdefault(folded(name), set()).add(gender)
    gender_of = {name: _one_of(of) for name, of in genders.items()}
    given = {gender: tuple(name for name in names if gender_of[folded(name)]) for gender, names in listed.items()}
    return Names(given, _single(provider.last_names), gender_of)  # type: ignore[attr-defined]


def _one_of(genders: set[str | None]) -> str:
    return (next(iter(genders)) or "") if len(genders) == 1 else ""


def _single(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name.isalpha() and len(name) > 1}))
