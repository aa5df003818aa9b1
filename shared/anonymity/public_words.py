"""Which words may be shown as they are: common words of public text that are not known to name anybody.

A word is public if all of this holds:

- public notes and texts use it often enough outside PHI;
- it holds no digit;
- where it stands on a list of names, it is seen often enough within sentences, where it hardly ever starts with a capital or
  is written in capitals;
- where the rule asks for it, labelled public notes hardly ever label it PHI. Without that, "hospital" or "mujer" is public
  although it is often part of PHI; and so is a place that everybody writes about, unless it is listed.

Punctuation is always public. Everything else is not, nor is a word that public text has never seen: the rule errs on the side of
hiding. Casing is ignored in all but the capitals, since it travels apart from the word. Texts without labels are counted as
if they held no PHI.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import is_punctuation
from shared.embeddings.generalised import strip_accents
from shared.errors import ConfigurationError
from shared.sentences.tokenised import TokenisedSentences
from shared.text.tokens import tokenise


@dataclass(frozen=True)
class PublicRule:
    """When a word is public.

    Args:
        least: occurrences that are no PHI, in all public texts together; of a listed name within sentences.
        capitalised_share: of the occurrences of a listed name within sentences, at most so many may start with a capital.
        phi_share: of the occurrences of any word in labelled public notes, at most so many may be PHI; 1 asks nothing.

    Raises:
        ConfigurationError: a threshold is out of range.
    """

    least: int = 5
    capitalised_share: float = 0.1
    phi_share: float = 1.0

    def __post_init__(self) -> None:
        if self.least < 1 or not 0 <= self.capitalised_share <= 1 or not 0 <= self.phi_share <= 1:
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
        self._labelled = np.zeros(size, dtype=np.int64)
        self._phi = np.zeros(size, dtype=np.int64)
        self._inside = np.zeros(size, dtype=np.int64)
        self._capitalised = np.zeros(size, dtype=np.int64)
        self._documents = np.zeros(size, dtype=np.int64)
        self._texts = 0

    def add_labelled(self, sentences: TokenisedSentences, notes: NDArray[np.int64] | None = None) -> None:
        """Count labelled public notes.

        Args:
            sentences: of the notes.
            notes: which note each sentence is of, int64 `[sentences]`; None where nobody knows, then together they are one text.
        """
        phi = sentences.tags > 0
        texts = None if notes is None else notes[sentences.sentence_of_token]
        rows = self._add(sentences.words, sentences.starts, phi, texts)
        np.add.at(self._labelled, rows[rows >= 0], 1)
        np.add.at(self._phi, rows[(rows >= 0) & phi], 1)

    def add_texts(self, texts: Iterable[str]) -> None:
        """Count public texts without labels."""
        for text in texts:
            tokens = tokenise(text)
            self._add(tokens.words, tokens.sentence_starts, np.zeros(len(tokens), dtype=bool))

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Occurrences of each word, PHI or not, int64 `[words]`."""
        return self._other + self._phi

    @property
    def topicality(self) -> NDArray[np.float64]:
        """How far each word tells what a text is about, float64 `[words]`: residual inverse document frequency, in bits.

        That is by how much fewer texts have it than if its occurrences were spread over them by chance (Church and Gale 1995). A
        word that stands in every text, or in no more texts than it has occurrences for, has none or less;
        so has one that no text has.
        """
        texts, used = max(self._texts, 1), self._documents > 0
        found = np.zeros(len(self.words))
        by_chance = -np.expm1(-self.frequencies[used] / texts)
        found[used] = np.log2(by_chance / (self._documents[used] / texts))
        return found

    def find_public(self, rule: PublicRule, names: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
        """Which of the words are public, bool `[words]`.

        Args:
            rule: the thresholds.
            names: names of people and places; accents and casing are ignored.
        """
        listed = {strip_accents(name) for name in names}
        named = np.fromiter((strip_accents(word) in listed for word in self.words), dtype=bool, count=len(self.words))
        numbers = np.fromiter((_has_digit(word) for word in self.words), dtype=bool, count=len(self.words))
        often = self._other >= rule.least
        small = (self._inside >= rule.least) & (self._capitalised <= rule.capitalised_share * self._inside)
        clear = self._phi <= rule.phi_share * self._labelled
        marks = np.fromiter(map(is_punctuation, self.words), dtype=bool, count=len(self.words))
        public: NDArray[np.bool_] = (~numbers & often & clear & (small | ~named)) | marks
        return public

    def _add(
        self,
        words: Sequence[str],
        starts: NDArray[np.integer],
        phi: NDArray[np.bool_],
        texts: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Count what is counted in all texts; the row of each word, -1 for one that is not counted.

        Args:
            words: tokens of one text, or of several.
            starts: first tokens of sentences.
            phi: bool `[tokens]`.
            texts: the text of each token, int64 `[tokens]`; None for one.
        """
        rows = np.array([self._index.get(word.lower(), -1) for word in words], dtype=np.int64)
        capital = np.fromiter((word[:1].isupper() for word in words), dtype=bool, count=len(words))
        known = rows >= 0
        # The first word of a sentence has a capital anyway.
        inside = known.copy()
        inside[starts] = False
        np.add.at(self._other, rows[known & ~phi], 1)
        np.add.at(self._inside, rows[inside], 1)
        np.add.at(self._capitalised, rows[inside & capital], 1)
        of = np.zeros(len(rows), dtype=np.int64) if texts is None else texts
        np.add.at(self._documents, np.unique(np.stack([rows, of])[:, known], axis=1)[0], 1)
        self._texts += len(np.unique(of))
        return rows


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
