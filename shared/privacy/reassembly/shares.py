"""Shares of so many notes each, with the note of every sentence, to attack or to learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.document import Document
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.statistics.logistic_regression import Floats
from shared.privacy.statistics.resampling import WeightedAUC, resample_pairs
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus

_TIE = 1e-9

Chosen = Callable[[RaggedSentences], NDArray[np.int64]]
"""Which sentences of a note are looked at, ascending."""
Sieve = Callable[[TokenisedSentences], TokenisedSentences]
"""What leaves of the sentences of a note."""


@dataclass(frozen=True)
class OwnedSentences:
    """Sentences of a share, and what its attacker wants to know.

    Args:
        shown: the sentences, at least two.
        notes: the note of each, from 0 on, int64 `[sentences]`.
    """

    shown: RaggedSentences
    notes: NDArray[np.int64]

    def hits(self, scores: Floats) -> Floats:
        """Chance that the sentence nearest to each is of its note; among equals the attacker has to draw. `[sentences]`

        Args:
            scores: `[sentences, sentences]`, higher where one note is likelier.
        """
        others = np.where(np.eye(len(scores), dtype=np.bool_), -np.inf, scores)
        nearest = others >= others.max(axis=1, keepdims=True) - _TIE
        return np.asarray((nearest & self._together).sum(1) / nearest.sum(1), dtype=np.float64)

    def chances(self) -> Floats:
        """Chance that a sentence drawn from all others is of the note of each, `[sentences]`."""
        return np.asarray(self._together.sum(1) / (len(self.notes) - 1), dtype=np.float64)

    def areas(self, scores: Floats, resamples: int, generator: np.random.Generator) -> tuple[float, Floats]:
        """ROC AUC over all pairs, and what it is when whole notes are drawn again, `[resamples]`."""
        one, other = np.triu_indices(len(scores), 1)
        area = WeightedAUC(scores[one, other], self._together[one, other])
        drawn = [area(resample_pairs(self.notes[one], self.notes[other], generator)) for _ in range(resamples)]
        return area(), np.array(drawn)

    @property
    def _together(self) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = self.notes[:, None] == self.notes
        np.fill_diagonal(same, False)
        return same


def shares_of(
    encoder: SharingEncoder,
    documents: Sequence[Document],
    chosen: Chosen,
    size: int,
    most: int,
    generator: np.random.Generator,
    sieve: Sieve | None = None,
) -> list[OwnedSentences]:
    """Shares of different notes, drawn by chance; one of all where there are too few for one.

    Args:
        encoder: the release.
        documents: labelled notes.
        chosen: which of their sentences.
        size: notes of a share.
        most: shares, at most.
        generator: of notes and noise.
        sieve: what leaves of each note; None for all.
    """
    noise = torch.Generator().manual_seed(int(generator.integers(2**31)))
    shares: list[OwnedSentences] = []
    waiting: list[RaggedSentences] = []
    order = generator.permutation(len(documents)).tolist()
    for shown in _notes(encoder, (documents[index] for index in order), chosen, noise, sieve):
        waiting.append(shown)
        if len(waiting) == size:
            shares.append(_owned(waiting))
            waiting = []
        if len(shares) == most:
            return shares
    return shares if shares or len(waiting) < 2 else [_owned(waiting)]


def _notes(
    encoder: SharingEncoder, documents: Iterator[Document], chosen: Chosen, noise: torch.Generator, sieve: Sieve | None
) -> Iterator[RaggedSentences]:
    """What a share shows of each note that has at least two such sentences."""
    for document in documents:
        sentences = tokenised_corpus([document], encoder.scheme)
        if sieve is not None:
            sentences = sieve(sentences)
        if not sentences.sentences:
            continue
        shown = draw_share(encoder, sentences, noise)
        rows = chosen(shown)
        if len(rows) > 1:
            yield shown.select(rows)


def _owned(pieces: Sequence[RaggedSentences]) -> OwnedSentences:
    notes = np.repeat(np.arange(len(pieces)), [piece.sentences for piece in pieces])
    return OwnedSentences(RaggedSentences.concatenate(pieces), notes)
