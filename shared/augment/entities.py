"""PHI augmentation (Yue and Zhou 2020, section 2): other PHI of the same category in the place of labelled PHI.

The paper samples from eleven lists, scraped or generated. Here a category is drawn as one of the kinds of `shared.augment.drawn`, in many
forms and lengths, or from a list that the provider gives. A category with neither keeps its words: nothing is ever
deleted. A drawn span is written in capitals, or without any, where the one that it replaces is.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from random import Random

import numpy as np

from foundation.reading import read_text
from shared.augment.augmentation import Edited
from shared.augment.drawn.kinds import Kinds, kind_of_category, kinds_of
from shared.errors import ConfigurationError
from shared.labels import LabelScheme, tag_spans
from shared.text.tokens import tokenise

Draw = Callable[[Random], str]
_MEMORY = 1 << 16
# A line of a note, not a note.
_MOST_TOKENS = 30


class Entities:
    """Draws other PHI for every labelled span of a category that it knows.

    Args:
        draws: by category, a number of the scheme.
    """

    def __init__(self, draws: Mapping[int, Draw]) -> None:
        self._draws = dict(draws)

    def __repr__(self) -> str:
        return f"Entities({len(self._draws)} categories)"

    def __call__(self, words: list[str], tags: list[int], chance: Random) -> Edited:
        """See Edit."""
        if not any(tags):
            return words, tags
        new_words: list[str] = []
        new_tags: list[int] = []
        done = 0
        for start, end, category in tag_spans(np.array(tags, dtype=np.uint8)):
            draw = self._draws.get(category)
            if draw is None:
                continue
            drawn = _written_like(words[start:end], _tokens(draw, chance))
            new_words += words[done:start] + drawn
            new_tags += tags[done:start] + [2 * category + 1] + [2 * category + 2] * (len(drawn) - 1)
            done = end
        return new_words + words[done:], new_tags + tags[done:]


def entities_of(
    scheme: LabelScheme, listed: Mapping[str, tuple[str, ...]] | None = None, *, with_faker: bool = True
) -> Entities:
    """What is drawn for the categories of a scheme.

    Args:
        scheme: of the labels; that of MEDDOCAN stands for Spanish, any other for English.
        listed: entities of some categories, which are drawn from nothing else.
        with_faker: see `people_of`.

    Raises:
        ConfigurationError: a list of a category that the scheme does not have.
    """
    own = dict(listed or {})
    unknown = sorted(set(own) - set(scheme.categories))
    if unknown:
        raise ConfigurationError(
            f"{unknown[0]!r} is no category of {scheme.name}; it has {', '.join(scheme.categories)}; correct the list of entities"
        )
    kinds = kinds_of("Spanish" if scheme.name == "meddocan" else "English", with_faker=with_faker)
    draws: dict[int, Draw] = {}
    for category, number in scheme.category_index.items():
        kind = kind_of_category(scheme.name, category)
        if category in own:
            draws[number] = _from_list(own[category])
        elif kind is not None and kind in kinds:
            draws[number] = _of_kind(kinds, kind)
    return Entities(draws)


def read_entities(path: Path) -> dict[str, tuple[str, ...]]:
    """Lists of entities: a CSV file of lines CATEGORY,entity; a header is not needed.

    Raises:
        StorageError: the file can't be read, or is not UTF-8.
        ConfigurationError: it is not in that form.
    """
    listed: dict[str, dict[str, None]] = {}
    try:
        rows = list(csv.reader(read_text(path).splitlines(), strict=True))
    except csv.Error as error:
        raise _misformed(path) from error
    for number, row in enumerate(rows, 1):
        if not row or row == ["category", "entity"]:
            continue
        if len(row) != 2 or not row[0].strip() or not 1 <= len(tokenise(row[1]).words) <= _MOST_TOKENS:
            raise _misformed(path, number)
        listed.setdefault(row[0].strip(), {})[row[1].strip()] = None
    if not listed:
        raise _misformed(path)
    return {category: tuple(entities) for category, entities in listed.items()}


def _misformed(path: Path, line: int | None = None) -> ConfigurationError:
    place = "" if line is None else f", line {line}"
    return ConfigurationError(
        f"{path.name}{place}: expected lines CATEGORY,entity of a CSV file, an entity of 1 to {_MOST_TOKENS} tokens; correct the file"
    )


def _from_list(entities: tuple[str, ...]) -> Draw:
    return lambda chance: chance.choice(entities)


def _of_kind(kinds: Kinds, kind: str) -> Draw:
    return lambda chance: kinds.draw(kind, chance)


def _tokens(draw: Draw, chance: Random) -> list[str]:
    return list(_cut(draw(chance)))


@lru_cache(_MEMORY)
def _cut(entity: str) -> tuple[str, ...]:
    return tuple(tokenise(entity).words)


def _written_like(old: list[str], new: list[str]) -> list[str]:
    """New words in capitals, or without any, where the old ones are; one initial says nothing of that."""
    letters = "".join(old)
    if sum(map(str.isalpha, letters)) < 3:
        return new
    if letters.isupper():
        return [word.upper() for word in new]
    return [word.lower() for word in new] if letters.islower() else new
