"""Public lists of words, by which anybody can see whether a word that a release shows as it is names nobody.

A provider says which words of its vocabulary are public. A hospital does not believe it: a word is public if a list holds it
that came with the program, or that the hospital chose itself. Neither is the provider's. See docs/adr/0014 for what the lists are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.reading import file_sha256, read_text
from shared.augment.pseudonyms import is_punctuation


@dataclass(frozen=True)
class PublicList:
    """Words that are known to everybody and name nobody.

    Args:
        name: how reports call it.
        source: where it comes from.
        licence: of the source.
        sha256: digest of what it was read from, in hex.
        words: folded by `fold_word`.
    """

    name: str
    source: str
    licence: str
    sha256: str
    words: frozenset[str] = field(default=frozenset(), repr=False)

    def holds(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words are on it, whatever their casing; a word with a digit never is. bool `[words]`."""
        found = (self._holds_folded(fold_word(word)) and not _has_digit(word) for word in words)
        return np.fromiter(found, dtype=np.bool_, count=len(words))

    def forms(self) -> frozenset[str]:
        """All words that it was read from; not every one need be on it."""
        return self.words

    def _holds_folded(self, word: str) -> bool:
        return word in self.words


def fold_word(word: str) -> str:
    """A word as the lists hold it: in lower case, accents composed."""
    return unicodedata.normalize("NFC", word.lower())


def read_public_list(path: Path) -> PublicList:
    """A hospital's own list: one word a line.

    Args:
        path: UTF-8.

    Raises:
        StorageError: the file can't be read, or is not UTF-8.
    """
    words = frozenset(fold_word(line.strip()) for line in read_text(path).splitlines() if line.strip())
    return PublicList(path.name, "the hospital's own", "the hospital's own", file_sha256(path), words)


def on_public_lists(words: Sequence[str], lists: Iterable[PublicList]) -> NDArray[np.bool_]:
    """Which words name nobody: those that a list holds, and punctuation, bool `[words]`.

    A list is asked for what those ahead of it do not hold, so that a large one is read only where it is needed.
    """
    found = np.fromiter(map(is_punctuation, words), dtype=np.bool_, count=len(words))
    for one in lists:
        missing = np.flatnonzero(~found)
        if len(missing):
            found[missing] = one.holds([words[place] for place in missing.tolist()])
    return found


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
