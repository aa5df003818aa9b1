"""Public lists of names of people and places: a provider's own files, or those of Faker where it gives none.

A name counts as the words that it has in a note ("O'Neill" and "García-Pérez" are cut there too), accents composed; what is
shorter than three letters, or is not of letters alone, is left out.
"""

from __future__ import annotations

import csv
import random
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from foundation.reading import read_text
from shared.text.tokens import tokenise

# One for each country that `default_names` has lists of.
_SCHEMES = ("meddocan", "i2b2_2014")
# Shorter words are particles ("de", "la"), which name nobody.
_SHORTEST = 3


def read_names(path: Path) -> tuple[str, ...]:
    """The words of a list of names, each once: one name a line, or the first column of a CSV file, without its header.

    Raises:
        StorageError: the file can't be read, or is not UTF-8.
    """
    rows = [row for row in csv.reader(read_text(path).splitlines()) if row]
    return _words(row[0] for row in rows[has_header(rows) :])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table begins with the names of its columns: of one column, not the first, all other rows are numbers.

    A header that counted as a name would hide the word "name", by which notes say that one follows.

    Args:
        rows: its cells.
    """
    if len(rows) < 2:
        return False
    return any(
        cell.strip() and not _is_number(cell) and all(len(row) > place and _is_number(row[place]) for row in rows[1:])
        for place, cell in enumerate(rows[0])
        if place
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def default_names(scheme: str) -> tuple[tuple[str, ...], ...]:
    """Given names, surnames and regions (Spain's provinces and regions, or the states of the USA), of Faker.

    Cities are not among them: a provider that has a list of places should give it.

    Args:
        scheme: name of the label scheme; that of MEDDOCAN stands for Spain, any other for the USA.
    """
    # Imported here: it takes time that most commands need not pay.
    from faker.providers.address import en_US as american_places
    from faker.providers.address import es_ES as spanish_places
    from faker.providers.person import en_US as american
    from faker.providers.person import es_ES as spanish

    if scheme == "meddocan":
        places = [*spanish_places.Provider.states, *spanish_places.Provider.regions]
        return _words(spanish.Provider.first_names), _words(spanish.Provider.last_names), _words(places)
    return (
        _words(american.Provider.first_names),
        _words(american.Provider.last_names),
        _words(american_places.Provider.states),
    )


def names_of_all_schemes() -> tuple[tuple[str, ...], ...]:
    """The same of Spain and of the USA together, each word once: for who looks for names whatever somebody calls a scheme."""
    every = (default_names(scheme) for scheme in _SCHEMES)
    return tuple(tuple(dict.fromkeys(chain(*lists))) for lists in zip(*every, strict=True))


def names_of_countries() -> frozenset[str]:
    """Given names and surnames of the USA, Spain, Mexico and India, of Faker, in small letters, with their accents and without."""
    from faker.providers.person import en_IN, en_US, es_ES, es_MX

    from shared.embeddings.generalised import strip_accents

    lists = (
        getattr(one.Provider, name) for one in (en_US, es_ES, es_MX, en_IN) for name in ("first_names", "last_names")
    )
    names = {word.lower() for names in lists for word in _words(names)}
    return frozenset(form for name in names for form in (name, strip_accents(name)))


def full_names(scheme: str, count: int, seed: int) -> list[tuple[str, ...]]:
    """Full names, each once: a given name with one surname, then as many with two.

    Args:
        scheme: as in `default_names`.
        count: of each kind.
        seed: of the draws.
    """
    first, last, _ = default_names(scheme)
    chance = random.Random(seed)
    made: dict[tuple[str, ...], None] = {}
    while len(made) < 2 * count:
        surnames = [chance.choice(last) for _ in range(1 if len(made) < count else 2)]
        made[(chance.choice(first), *surnames)] = None
    return list(made)


def _words(names: Iterable[str]) -> tuple[str, ...]:
    normal = (unicodedata.normalize("NFC", name) for name in names)
    # Letters alone are one word.
    words = (word for name in normal for word in ([name] if name.isalpha() else tokenise(name).words))
    return tuple(dict.fromkeys(word for word in words if len(word) >= _SHORTEST and word.isalpha()))
