"""What the codes of a share say to anybody who has its release: a word, or a group of words.

Nothing here looks at a hospital's notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shared.constructions.procedures.coded import Coded
from shared.text.casing import CASING_CLASSES, CASING_EXAMPLES, cased_like, writable_classes

COMMONEST = 200
"""So many of the commonest public words of a release are no content words."""
CONTENT_LETTERS = 4
"""A content word has at least so many letters."""
RARE_FROM = 5000
"""A word behind so many of the vocabulary is rare in public text. A release holds no number of documents, but its words in an order, with what
public text has most often first; of the words of 2,530 Spanish notes about as many, 4,589, stand in 20 or more of them."""
_EXAMPLES = 2
_NUMERIC = (CASING_CLASSES.index("numeric"), CASING_CLASSES.index("mainly numeric"))


@dataclass(frozen=True)
class Token:
    """A token of a share, as it is read.

    Args:
        text: the word, or of a group its first words.
        size: so many words of the group it can be: those that are written like it, less those that are read exactly wherever they
            stand. None that the release knows where this is 0; then the text says what the group is like.
        exact: whether the word is read: by its code, or since its group has no other that is written like it.
    """

    text: str
    size: int = 1
    exact: bool = True


class Lexicon:
    """The codes of a release.

    Args:
        construction: of the release.
    """

    def __init__(self, construction: Coded) -> None:
        self._vectors = construction.vectors
        self._tokens: dict[tuple[int, int], Token] = {}
        self._written: dict[int, list[tuple[int, frozenset[int]]]] = {}

    @property
    def words(self) -> int:
        """Codes below are words, all others groups."""
        return len(self._vectors)

    @cached_property
    def common(self) -> frozenset[str]:
        """The commonest public words: those that the release itself calls common come first, then those ahead in its vocabulary,
        which starts with what public text has most often.
        """
        marked = self._vectors.narrowing.common
        public = np.flatnonzero(self._vectors.public)
        ordered = public[np.argsort(~marked[public], kind="stable")][:COMMONEST]
        return frozenset(self._vectors.words[row] for row in ordered.tolist())

    def are_content(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """Which words have at least CONTENT_LETTERS letters and are not among the commonest, bool `[words]`."""
        return np.array(
            [_letters(word) >= CONTENT_LETTERS and word.lower() not in self.common for word in words], np.bool_
        )

    @cached_property
    def spelled(self) -> NDArray[np.bool_]:
        """Which codes stand for words and numbers, not for punctuation; a group always does, bool `[codes]`."""
        own = np.array([is_spelled(word) for word in self._vectors.words], np.bool_)
        return np.concatenate([own, np.ones(len(self._members[1]) - 1, np.bool_)])

    @cached_property
    def content(self) -> NDArray[np.float64]:
        """The part of the words of each code that are content words, float64 `[codes]`."""
        own = self.are_content(self._vectors.words).astype(np.float64)
        order, starts = self._members
        sums = np.append(0, np.cumsum(own[order]))[starts]
        return np.concatenate([own, np.diff(sums) / np.maximum(np.diff(starts), 1)])

    def content_of(self, codes: NDArray[np.uint32], casing: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The chance of each token to be a content word, by its group and its casing, float64 `[tokens]`."""
        return np.where(np.isin(casing, _NUMERIC), 0.0, self.content[codes])

    def groups_of(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The group of each code, whether the code shows a word of it or the group alone, int64 `[tokens]`."""
        known = np.minimum(codes, self.words - 1)
        return np.where(codes < self.words, self._vectors.clusters[known], codes.astype(np.int64) - self.words)

    def words_of(self, codes: NDArray[np.uint32], casing: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """The codes, in the place of a group that leaves one word in a casing class the word's own, uint32 `[tokens]`."""
        pairs, line = np.unique(codes.astype(np.int64) * len(CASING_CLASSES) + casing, return_inverse=True)
        found = [self._word_of(*divmod(pair, len(CASING_CLASSES))) for pair in pairs.tolist()]
        return np.array(found, dtype=np.uint32)[line]

    def _word_of(self, code: int, casing: int) -> int:
        if code < self.words:
            return code
        possible = [row for row, classes in self._group(code - self.words) if casing in classes]
        return possible[0] if len(possible) == 1 else code

    def read(self, code: int, casing: int) -> Token:
        """A token as whoever has the release reads it."""
        found = self._tokens.get((code, casing))
        if found is None:
            found = self._tokens[code, casing] = self._read(code, casing)
        return found

    def _read(self, code: int, casing: int) -> Token:
        words, model = self._vectors.words, str(CASING_EXAMPLES[casing])
        word = self._word_of(code, casing)
        if word < self.words:
            return Token(printable(cased_like(words[word], model)))
        members = self._group(code - self.words)
        possible = [row for row, classes in members if casing in classes]
        examples = (possible or [row for row, _ in members])[:_EXAMPLES]
        return Token(
            ", ".join(printable(cased_like(words[row], model)) for row in examples), len(possible), exact=False
        )

    def _group(self, group: int) -> list[tuple[int, frozenset[int]]]:
        """The words that a group can stand for, and how each can be written."""
        if group not in self._written:
            order, starts = self._members
            rows = order[starts[group] : starts[group + 1]].tolist()
            self._written[group] = [(row, writable_classes(self._vectors.words[row])) for row in rows]
        return self._written[group]

    @cached_property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words group by group, and where each starts: without those that are never shown as their group."""
        order, starts = self._vectors.members
        kept = ~self._vectors.narrowing.common[order]
        return order[kept], np.append(0, np.cumsum(kept))[starts]


def is_spelled(word: str) -> bool:
    """Whether a token has a letter or a digit."""
    return any(character.isalnum() for character in word)


def printable(text: str) -> str:
    """The text without what would steer a terminal or turn the direction of a line."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _letters(word: str) -> int:
    return sum(character.isalpha() for character in word)
