"""Which words may stand in a phrase that leaves: public ones that name no occupation."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from foundation.reading import read_text
from shared.anonymity.public_lists import PublicList, on_public_lists


def may_stand(words: Sequence[str], lists: Sequence[PublicList]) -> list[bool]:
    """Which words are on a list, and name no occupation.

    Args:
        words: in lower case.
        lists: of public words, none of them the provider's.
    """
    occupations = _occupations()
    public = on_public_lists(words, lists).tolist()
    return [found and word not in occupations for word, found in zip(words, public, strict=True)]


@cache
def _occupations() -> frozenset[str]:
    """Occupations are what programs overlook most, and no list of names holds them."""
    text = read_text(Path(__file__).with_name("occupations.toml"))
    return frozenset(tomllib.loads(text)["words"].split())
