"""A share in which somebody looks for a sentence of which something is known, as records are linked (Fellegi and Sunter 1969).

Whatever is known fits some sentences and not others. That it fits counts for a sentence as much as it fits the true one oftener than any:
the first the attacker learns from a share of notes whose words are known, the second is counted in the share.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import torch
from numpy.typing import NDArray

from shared.privacy.attacks.person.told import Floats, Told
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes

Rows = NDArray[np.float32]

# Rows that differ by the processor's rounding are the same.
_SAME = 0.9999
# As close as all but so many of the rows of words are to how the words look, rows are taken for a word.
_MISSED = 0.1
_LEARNT_FROM = 4096
# A word is read in the likeliest sentences.
_MOST_LIKELY = 20
_BLOCK = 256


class Kind(IntEnum):
    """What is known: a word outside PHI; category and casing of a token of PHI; its word."""

    WORD = 0
    PATTERN = 1
    PHI = 2


class SearchedShare:
    """A share, and what words look like under its release.

    Args:
        encoder: the release.
        chunk: what is shared.
        seed: of the noise.
        alike: cosine from which two rows are the same word; None to learn it from this share, whose words are known.
    """

    def __init__(
        self, encoder: SharingEncoder, chunk: TokenisedSentences, seed: int, alike: float | None = None
    ) -> None:
        self._encoder, self._chunk = encoder, chunk
        self._noise = torch.Generator().manual_seed(seed)
        share = draw_share(encoder, chunk, self._noise)
        self._casing, self._sentence = share.casing, chunk.sentence_of_token
        self._rows, self._row_of_token = _different(_unit(share.values))
        # The tokens of each row lie together in this order.
        self._order = np.argsort(self._row_of_token, kind="stable")
        self._starts = np.searchsorted(self._row_of_token[self._order], np.arange(len(self._rows) + 1))
        self._looks: dict[str, Rows] = {}
        # Words that a release shows alike have the same rows, and what is found for one is found for all.
        self._like: dict[str, tuple[int, ...]] = {}
        self._holding: dict[tuple[tuple[int, ...], int], NDArray[np.int64]] = {}
        self._patterns: dict[tuple[int, int], NDArray[np.int64]] = {}
        self.alike = self._learn_alike() if alike is None else alike

    @property
    def sentences(self) -> int:
        """How many there are."""
        return self._chunk.sentences

    def fits(self, told: Told) -> list[tuple[Kind, NDArray[np.int64]]]:
        """The sentences that each of the known facts fits."""
        phi = [self._chunk.words[token] for token in told.phi]
        self._look_for((*told.words, *phi))
        found = [(Kind.WORD, self._with_word(word)) for word in told.words]
        for token, word in zip(told.phi, phi, strict=True):
            tag = int(self._chunk.tags[token])
            found.append((Kind.PATTERN, self._with_pattern(tag, int(casing_classes([word])[0]))))
            found.append((Kind.PHI, self._with_word(word, tag)))
        return found

    def weigh(self, fits: Sequence[tuple[Kind, NDArray[np.int64]]], reliable: Floats) -> Floats:
        """How much likelier each sentence is the one that facts are known of, in logarithms that sum to 1, `[sentences]`.

        Args:
            fits: of each fact.
            reliable: how often a fact fits the true sentence, by Kind.
        """
        total = np.zeros(self.sentences)
        for kind, fitting in fits:
            chance = self._chance(len(fitting))
            total[fitting] += max(0.0, _odds(float(reliable[kind])) - _odds(chance))
        total -= total.max()
        result: Floats = total - np.log(np.exp(total).sum())
        return result

    def read(self, told: Told, likely: Floats, reliable: float) -> Floats:
        """How much likelier each listed word is for what is seen in the likely sentences, in logarithms `[listed]`.

        Args:
            told: what is known, and the list.
            likely: of each sentence, see `weigh`.
            reliable: how often a word fits its own sentence.
        """
        self._look_for((*told.words, *told.listed))
        chances = np.array([self._chance(len(self._with_word(word))) for word in told.listed])
        there, absent = reliable / chances, (1 - reliable) / (1 - chances)
        looks = np.concatenate([self._looks[word] for word in told.listed])
        best = np.argsort(-likely, kind="stable")[:_MOST_LIKELY]
        weights = np.exp(likely[best])
        total = np.full(len(told.listed), max(0.0, 1 - float(weights.sum())))
        for sentence, weight in zip(best.tolist(), weights.tolist(), strict=True):
            left = self._left(sentence, told.words)
            close = (left @ looks.T).reshape(len(left), len(told.listed), 2).max(axis=(0, 2), initial=-1) >= self.alike
            total += weight * np.where(close, there, absent)
        result: Floats = np.log(total)
        return result

    def _left(self, sentence: int, words: Sequence[str]) -> Rows:
        """The rows of a sentence outside PHI but for those that known words account for."""
        start = int(self._chunk.starts[sentence])
        tokens = np.arange(start, start + int(self._chunk.lengths[sentence]))
        rows: Rows = self._rows[self._row_of_token[tokens[self._chunk.tags[tokens] == 0]]]
        for word in words:
            if len(rows):
                closest = int((rows @ self._looks[word].T).max(1).argmax())
                rows = rows[np.arange(len(rows)) != closest]
        return rows

    def _look_for(self, words: Sequence[str]) -> None:
        """Find the rows that look like some words."""
        new = [word for word in dict.fromkeys(words) if word not in self._like]
        self._look_at(new)
        for first in range(0, len(new), _BLOCK):
            block = new[first : first + _BLOCK]
            close = self._rows @ np.concatenate([self._looks[word] for word in block]).T >= self.alike
            for word, rows in zip(block, close.reshape(-1, len(block), 2).any(2).T, strict=True):
                self._like[word] = tuple(np.flatnonzero(rows).tolist())

    def _look_at(self, words: Sequence[str]) -> None:
        """See how words look, alone and beside PHI, where a release may show more."""
        new = [word for word in dict.fromkeys(words) if word not in self._looks]
        if not new:
            return
        beside = TokenisedSentences(
            [one for word in new for one in (word, "a")],
            np.tile(np.array([0, 1], dtype=np.uint8), len(new)),
            np.full(len(new), 2, dtype=np.int64),
        )
        far = _unit(draw_share(self._encoder, TokenisedSentences.single_words(new), self._noise).values)
        near = _unit(draw_share(self._encoder, beside, self._noise).values)[::2]
        self._looks.update((word, np.stack(pair)) for word, *pair in zip(new, far, near, strict=True))

    def _with_word(self, word: str, tag: int = 0) -> NDArray[np.int64]:
        """The sentences in which a token of this tag looks like a word that was looked for."""
        rows = self._like[word]
        if (rows, tag) not in self._holding:
            places = [self._order[self._starts[row] : self._starts[row + 1]] for row in rows]
            tokens = np.concatenate([np.zeros(0, dtype=np.int64), *places])
            self._holding[rows, tag] = np.unique(self._sentence[tokens[self._chunk.tags[tokens] == tag]])
        return self._holding[rows, tag]

    def _with_pattern(self, tag: int, casing: int) -> NDArray[np.int64]:
        """The sentences with a token of this tag and casing."""
        if (tag, casing) not in self._patterns:
            tokens = (self._chunk.tags == tag) & (self._casing == casing)
            self._patterns[tag, casing] = np.unique(self._sentence[tokens])
        return self._patterns[tag, casing]

    def _chance(self, fitting: int) -> float:
        return (1 + fitting) / (2 + self.sentences)

    def _learn_alike(self) -> float:
        """Cosine of the rows of words outside PHI to what the words look like, but for the farthest."""
        outside = np.flatnonzero(self._chunk.tags == 0)[:_LEARNT_FROM]
        words = [self._chunk.words[token].lower() for token in outside.tolist()]
        self._look_at(words)
        looks = np.stack([self._looks[word] for word in words])
        close = np.einsum("td,tld->tl", self._rows[self._row_of_token[outside]], looks).max(1)
        return min(_SAME, float(np.quantile(close, _MISSED))) if len(close) else _SAME


def _odds(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def _different(rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """Each different row once, and the place of every row among them."""
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    _, places, line = np.unique(keys, return_index=True, return_inverse=True)
    return rows[places], line


def _unit(values: NDArray[np.floating]) -> Rows:
    wide = values.astype(np.float32)
    unit: Rows = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-6)
    return unit
