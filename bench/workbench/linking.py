"""How often fragments are linked back to the notes that they were taken of, by who has all notes of the house and public text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from protocols.share.fragments import LEAST_WORDS, MOST_WORDS
from shared.evaluation.intervals import clopper_pearson
from shared.text.tokens import tokenise
from site_client.fragments.counting import Owned

_DIMENSIONS = 100
# What a note holds goes ahead of what it is about.
_SURE = 1e3
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Linked:
    """What attackers reached.

    Args:
        by_attacker: share of what was tried that each linked.
        expected: what somebody reaches who guesses among the notes that hold it, as likely each.
        tried: how many were tried.
        interval: of the best, exact.
    """

    by_attacker: Mapping[str, float]
    expected: float
    tried: int
    interval: tuple[float, float]

    @property
    def best(self) -> float:
        """Of the best attacker."""
        return max(self.by_attacker.values())


@dataclass(frozen=True)
class Notes:
    """The notes of a house as an attacker sees them.

    Args:
        vocabulary: row of each word.
        rarity: inverse document frequency of each word in notes and public text, float64 `[words]`.
        words: how often each note has each word, `[notes, words]`.
        topics: of words, latent semantic analysis of notes and public text, float64 `[words, dimensions]`.
        meanings: of notes, rows of length 1, float64 `[notes, dimensions]`.
        holding: notes that hold each phrase.
    """

    vocabulary: Mapping[str, int]
    rarity: Scores
    words: sparse.csr_matrix
    topics: Scores
    meanings: Scores
    holding: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, notes: Sequence[str], public: Sequence[str], phrases: Set[str]) -> Notes:
        """Of texts.

        Args:
            notes: of the house.
            public: texts that anybody has.
            phrases: that left.
        """
        said = [[word.lower() for word in tokenise(text).words if word.isalpha()] for text in (*notes, *public)]
        vocabulary = {word: row for row, word in enumerate(sorted({word for words in said for word in words}))}
        counts = _counts(said, vocabulary)
        rarity = np.log(len(said) / np.maximum(np.asarray((counts > 0).sum(0)).ravel(), 1))
        weighted = counts.copy()
        weighted.data = np.log1p(weighted.data)
        weighted = (weighted @ sparse.diags(rarity)).tocsr()
        _, _, right = svds(weighted, k=_DIMENSIONS, random_state=np.random.default_rng(0))
        topics = np.asarray(right.T)
        own = np.asarray(weighted[: len(notes)] @ topics)
        return cls(vocabulary, rarity, counts[: len(notes)], topics, _unit(own), _holding(notes, phrases))

    def by_holding(self, texts: Sequence[str]) -> Scores:
        """How probable it is that one of some phrases was taken of a note, all that hold it being as likely, float64 `[notes]`."""
        others = np.ones(len(self.meanings))
        for text in texts:
            holding = list(self.holding.get(text, ()))
            others[holding] *= 1 - 1 / max(len(holding), 1)
        return 1 - others

    def by_meaning(self, texts: Sequence[str]) -> Scores:
        """How near a note is to what phrases are about, float64 `[notes]`."""
        rows = self._rows(texts)
        query = (self.topics[rows] * self.rarity[rows, None]).sum(0, keepdims=True)
        near: Scores = np.asarray(self.meanings @ _unit(query)[0], dtype=np.float64)
        return near

    def by_rare_words(self, texts: Sequence[str]) -> Scores:
        """How often a note says the words of phrases, the rare ones above all, for its length, float64 `[notes]`."""
        rows = self._rows(texts)
        lengths = np.maximum(np.asarray(self.words.sum(1)).ravel(), 1)
        said = np.asarray(self.words[:, rows] @ self.rarity[rows]).ravel()
        weighted: Scores = said / lengths
        return weighted

    def _rows(self, texts: Sequence[str]) -> list[int]:
        return [self.vocabulary[word] for text in texts for word in text.split() if word in self.vocabulary]


def link_phrases(
    phrases: Sequence[Owned], owned: Mapping[int, Sequence[int]], notes: Notes, rng: np.random.Generator
) -> Linked:
    """Each phrase by itself.

    Args:
        phrases: that left.
        owned: places of the notes of each owner.
        notes: of the house.
        rng: breaks ties.
    """
    return _link([([one.text], set(owned[one.owner])) for one in phrases], notes, rng)


def link_lines(
    lines: Sequence[Sequence[Owned]], owned: Mapping[int, Sequence[int]], notes: Notes, rng: np.random.Generator
) -> Linked:
    """Each line: right is any of its four."""
    asked = [([one.text for one in line], {note for one in line for note in owned[one.owner]}) for line in lines]
    return _link(asked, notes, rng)


def _link(asked: Sequence[tuple[list[str], set[int]]], notes: Notes, rng: np.random.Generator) -> Linked:
    attackers: dict[str, Callable[[list[str]], Scores]] = {
        "topics": notes.by_meaning,
        "rare words": notes.by_rare_words,
        "holds it, then topics": lambda texts: _SURE * notes.by_holding(texts) + notes.by_meaning(texts),
        "holds it, then rare words": lambda texts: _SURE * notes.by_holding(texts) + notes.by_rare_words(texts),
    }
    hits = dict.fromkeys(attackers, 0)
    chances = []
    for texts, right in asked:
        for name, score in attackers.items():
            scores = score(texts)
            best = np.flatnonzero(scores >= scores.max() - 1e-12)
            hits[name] += int(rng.choice(best)) in right
        chances.append(float(notes.by_holding(texts).max()))
    tried = len(asked)
    return Linked(
        {name: count / tried for name, count in hits.items()},
        float(np.mean(chances)),
        tried,
        clopper_pearson(max(hits.values()), tried),
    )


def _counts(said: Sequence[Sequence[str]], vocabulary: Mapping[str, int]) -> sparse.csr_matrix:
    rows = np.repeat(np.arange(len(said)), [len(words) for words in said])
    columns = np.fromiter((vocabulary[word] for words in said for word in words), dtype=np.int64)
    found = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(said), len(vocabulary)))
    found.sum_duplicates()
    return found


def _holding(notes: Sequence[str], phrases: Set[str]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, text in enumerate(notes):
        words = [word.lower() for word in tokenise(text).words]
        for size in range(LEAST_WORDS, MOST_WORDS + 1):
            for place in range(len(words) - size + 1):
                if (text := " ".join(words[place : place + size])) in phrases:
                    found.setdefault(text, set()).add(number)
    return {text: frozenset(holding) for text, holding in found.items()}


def _unit(rows: Scores) -> Scores:
    unit: Scores = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit
