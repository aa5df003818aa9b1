"""Which words may stand in a phrase that leaves: public ones that name no occupation; and what a person keeps here besides."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from foundation.reading import read_text
from protocols.share.fragments import MOST_WORDS
from shared.anonymity.public_lists import PublicList, on_public_lists
from shared.errors import ConfigurationError
from site_client.fragments.phrases import WORD

_LEFT_OUT = re.compile(rf"(?:{WORD})(?: (?:{WORD})){{0,{MOST_WORDS - 1}}}")


@dataclass(frozen=True)
class LeftOut:
    """Phrases and words that a person keeps here, with all that holds them.

    Args:
        lines: the number of the line that says each; in lower case, one space between words.
    """

    lines: Mapping[str, int] = field(default_factory=dict, repr=False)

    def lines_in(self, text: str) -> set[int]:
        """Numbers of the lines that a phrase holds, as whole words; none where it may leave."""
        words = text.split(" ")
        starts = range(len(words))
        parts = (" ".join(words[start : end + 1]) for start in starts for end in starts[start:])
        return {self.lines[part] for part in parts if part in self.lines}


def read_left_out(path: Path) -> LeftOut:
    """What a person keeps here, a phrase or a word a line.

    Raises:
        ConfigurationError: no phrase could hold a line, so that it would keep nothing here.
        StorageError: it can't be read, or is not UTF-8.
    """
    found: dict[str, int] = {}
    # Editors of Windows begin a file with a mark of its encoding, which would stand in the first word.
    for number, line in enumerate(read_text(path).removeprefix("\ufeff").splitlines(), start=1):
        text = " ".join(line.lower().split())
        if text and _LEFT_OUT.fullmatch(text) is None:
            raise ConfigurationError(
                f"{path.name}: expected a word, or a phrase of at most {MOST_WORDS}, in the letters a to z on each line, got something else in "
                f"line {number}: no phrase could hold it; write its words on lines of their own, without marks or digits"
            )
        if text:
            found.setdefault(text, number)
    return LeftOut(found)


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
