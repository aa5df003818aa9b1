"""Which words may be shown as they are: words of public text that name nobody.

A word is public if public notes or texts use it often enough, and it is no number, is not labelled PHI in public notes
beyond rare exceptions, and is not written like a name; for a word on a list of names the last is asked more strictly. Everything else, and every word that
public text has never seen, is not: the rule errs on the side of hiding. Casing is ignored throughout, since it travels
apart from the word.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import is_punctuation
from shared.embeddings.generalised import plain
from shared.encoding import TokenisedSentences
from shared.errors import ConfigurationError
from shared.files import read_text
from shared.text.casing import CASING_CLASSES, casing_classes
from shared.text.tokens import tokenise

_PARTICLE = 2
_CAPITALISED = CASING_CLASSES.index("initial upper")


@dataclass(frozen=True)
class PublicRule:
    """When a word is public.

    Args:
        least: occurrences that are no PHI, in all public texts together.
        phi_share: of its occurrences in labelled notes, at most so many may be PHI.
        capitalised_share: of its occurrences within sentences, at most so many may start with a capital.
        name_capitalised_share: the same for a word on a list of names, where many are common words too ("rosa", "de").
    """

    least: int = 5
    phi_share: float = 0.02
    capitalised_share: float = 0.5
    name_capitalised_share: float = 0.1

    def __post_init__(self) -> None:
        shares = (self.phi_share, self.capitalised_share, self.name_capitalised_share)
        if self.least < 1 or not all(0 <= share <= 1 for share in shares):
            raise ConfigurationError("public words: expected at least 1 occurrence and shares in [0, 1]")


class WordUse:
    """How often public text uses words, by a fixed list of words; other words are not counted.

    Args:
        words: folded, each once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._index = {word: row for row, word in enumerate(self.words)}
        size = len(self.words)
        self._other = np.zeros(size, dtype=np.int64)
        self._phi = np.zeros(size, dtype=np.int64)
        self._inside = np.zeros(size, dtype=np.int64)
        self._capitalised = np.zeros(size, dtype=np.int64)

    def add_labelled(self, sentences: TokenisedSentences) -> None:
        """Count labelled public notes."""
        starts = np.cumsum(sentences.lengths) - sentences.lengths
        self._add(sentences.words, starts, sentences.tags > 0)

    def add_texts(self, texts: Iterable[str]) -> None:
        """Count public texts without labels."""
        for text in texts:
            tokens = tokenise(text)
            self._add(tokens.words, tokens.sentence_starts, np.zeros(len(tokens), dtype=bool))

    def public(self, rule: PublicRule, names: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
        """Which of the words are public, bool `[words]`.

        Args:
            rule: the thresholds.
            names: names of people and places; accents and casing are ignored.
        """
        listed = {plain(name) for name in names}
        named = np.fromiter((plain(word) in listed for word in self.words), dtype=bool, count=len(self.words))
        numbers = np.fromiter((_has_digit(word) for word in self.words), dtype=bool, count=len(self.words))
        often = self._other >= rule.least
        rarely_phi = self._phi <= rule.phi_share * (self._phi + self._other)
        limit = np.where(named, rule.name_capitalised_share, rule.capitalised_share)
        small = self._capitalised <= limit * np.maximum(self._inside, 1)
        marks = np.fromiter(map(is_punctuation, self.words), dtype=bool, count=len(self.words))
        public: NDArray[np.bool_] = (~numbers & often & rarely_phi & small) | marks
        return public

    def _add(self, words: Sequence[str], starts: NDArray[np.integer], phi: NDArray[np.bool_]) -> None:
        rows = np.array([self._index.get(word.lower(), -1) for word in words], dtype=np.int64)
        casing = casing_classes(words)
        known = rows >= 0
        # The first word of a sentence has a capital anyway.
        inside = known.copy()
        inside[starts] = False
        np.add.at(self._phi, rows[known & phi], 1)
        np.add.at(self._other, rows[known & ~phi], 1)
        np.add.at(self._inside, rows[inside], 1)
        np.add.at(self._capitalised, rows[inside & (casing == _CAPITALISED)], 1)


def read_names(path: Path) -> tuple[str, ...]:
    """The words of a list of names: one name a line, or the first column of a CSV file.

    Particles of one or two letters are left out: they name nobody.

    Raises:
        StorageError: the file can't be read, or is not UTF-8.
    """
    rows = csv.reader(read_text(path).splitlines())
    words = (word for row in rows if row for word in row[0].split())
    return tuple(dict.fromkeys(word for word in words if len(word) > _PARTICLE))


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
