"""Public words by language: professions, institutions, departments, streets, kinship."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from foundation.reading import read_text

_FILE = Path(__file__).with_name("lists.toml")


@cache
def word_lists(language: str, name: str) -> Sequence[str]:
    """A list of a language, as `lists.toml` has it."""
    return tuple(one.strip() for one in tomllib.loads(read_text(_FILE))[language][name].split("|"))
