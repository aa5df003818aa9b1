"""Public lists of words, by which anybody can see whether a word that a release shows as it is names nobody.

A provider says which words of its vocabulary are public. A hospital does not believe it: a word is public if a list holds it
that came with the program, or that the hospital chose itself. Neither is the provider's.
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
        sha256: digest of the files that it was read from, in hex.
        words: folded by `fold_word`.
    """

    name: str
    source: str
    licence: str
    sha256: str
    words: frozenset[str] = field(default=frozenset(), repr=False)

    def holds(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words are on it, whatever their casing, bool `[words]`."""
        return np.fromiter((fold_word(word) in self.words for word in words), dtype=np.bool_, count=len(words))


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
    """Which words name nobody: those that a list holds, and punctuation, bool `[words]`."""
    found = np.fromiter(map(is_punctuation, words), dtype=np.bool_, count=len(words))
    for one in lists:
        found |= one.holds(words)
    return found
