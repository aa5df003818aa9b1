"""How alike two sentences of a share are, in four ways.

- words: rows in common, each weighted by how few sentences of the share have it (tf-idf, cosine);
- pairs: the same of two rows one behind the other, which tells habits of writing and enumerations of findings;
- PHI: the same of the rows of labelled PHI alone, which links header lines wherever identifiers show;
- meaning: whether their mean rows, weighted like words, are of one note, under normal distributions of notes and of sentences about
  their note, learnt on public notes (the two-covariance model of speaker recognition, Bruemmer and de Villiers 2010).

Equal rows are equal words to the first three: they serve wherever a row is shown as often as its word. Where noise makes all rows
different, the last one is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.sentences.ragged import RaggedSentences

Floats = NDArray[np.float64]

KINDS = ("words", "pairs", "PHI", "meaning")
# A share of the mean variance that is added to every direction: few notes leave some without any.
_RIDGE = 1e-3


@dataclass(frozen=True)
class TwoCovariances:
    """How mean rows vary from note to note, and from sentence to sentence of a note.

    Args:
        mean: float64 `[dim]`.
        own: quadratic form of one sentence in the log-likelihood ratio, float64 `[dim, dim]`.
        both: bilinear form of two, float64 `[dim, dim]`.
    """

    mean: Floats
    own: Floats
    both: Floats

    @staticmethod
    def fit(rows: Floats, notes: NDArray[np.int64]) -> TwoCovariances:
        """Args: rows: of public sentences, `[sentences, dim]`. notes: the note of each, `[sentences]`."""
        mean = rows.mean(0)
        centred = rows - mean
        _, line, counts = np.unique(notes, return_inverse=True, return_counts=True)
        centres = np.zeros((len(counts), rows.shape[1]))
        np.add.at(centres, line, centred)
        inside = centred - (centres / counts[:, None])[line]
        within = inside.T @ inside / max(len(rows) - len(counts), 1)
        values, vectors = np.linalg.eigh(centred.T @ centred / len(rows) - within)
        between = (vectors * np.clip(values, 0, None)) @ vectors.T
        within += (_RIDGE * np.trace(within) / len(within) + 1e-9) * np.eye(len(within))
        inverse = np.linalg.inv(between + within)
        rest = np.linalg.inv(between + within - between @ inverse @ between)
        return TwoCovariances(mean, inverse - rest, inverse @ between @ rest)

    def scores(self, rows: Floats) -> Floats:
        """Log-likelihood ratio of one note against two, but for a constant, `[sentences, sentences]`."""
        centred = rows - self.mean
        own = np.einsum("ij,jk,ik->i", centred, self.own, centred)
        result: Floats = own[:, None] + own + 2 * centred @ self.both @ centred.T
        return result


@dataclass(frozen=True)
class Likeness:
    """What two sentences have in common.

    Args:
        words, pairs, phi: cosines, float64 `[sentences, sentences]`.
        rows: mean row of each sentence, of length 1, float64 `[sentences, dim]`.
    """

    words: Floats
    pairs: Floats
    phi: Floats
    rows: Floats

    @staticmethod
    def of(shown: RaggedSentences) -> Likeness:
        """Of all pairs of the sentences of a share."""
        sentence, plain = shown.sentence_of_token, shown.tags == 0
        row = _ids(shown.values)
        ahead = (sentence[1:] == sentence[:-1]) & plain[1:] & plain[:-1]
        pair = row[:-1] * (int(row.max(initial=0)) + 1) + row[1:]
        weights, count = _rarity(row, sentence, shown.sentences), shown.sentences
        means = np.add.reduceat(shown.values * (weights * plain)[:, None], shown.starts, axis=0).astype(np.float64)
        return Likeness(
            _cosines(row[plain], sentence[plain], count),
            _cosines(pair[ahead], sentence[1:][ahead], count),
            _cosines(row[~plain], sentence[~plain], count),
            means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12),
        )

    def kinds(self, meaning: TwoCovariances) -> tuple[Floats, ...]:
        """All of KINDS, each with mean 0 and variance 1 over the pairs."""
        return tuple(_standard(scores) for scores in (self.words, self.pairs, self.phi, meaning.scores(self.rows)))


def join_means(likenesses: Sequence[Likeness], notes: Sequence[NDArray[np.int64]]) -> TwoCovariances:
    """The distributions of the means of several shares of different notes."""
    firsts = np.cumsum([0, *(int(own.max()) + 1 for own in notes)])
    return TwoCovariances.fit(
        np.concatenate([one.rows for one in likenesses]),
        np.concatenate([own + first for own, first in zip(notes, firsts, strict=False)]),
    )


def _ids(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """A number for each different row, int64 `[tokens]`."""
    rows = np.ascontiguousarray(values)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    _, line = np.unique(whole, return_inverse=True)
    return line.astype(np.int64)


def _rarity(row: NDArray[np.int64], sentence: NDArray[np.int64], sentences: int) -> Floats:
    """How little of the share each token's row is in, `[tokens]`."""
    present = np.unique(np.stack([row, sentence]), axis=1)[0]
    result: Floats = np.log(sentences / np.bincount(present))[row]
    return result


def _cosines(row: NDArray[np.int64], sentence: NDArray[np.int64], sentences: int) -> Floats:
    """Of the rarities of what stands in each sentence, `[sentences, sentences]`."""
    found, line = np.unique(row, return_inverse=True)
    present = np.zeros((sentences, len(found)))
    present[sentence, line] = 1
    present *= np.log(sentences / np.maximum(present.sum(0), 1))
    present /= np.maximum(np.linalg.norm(present, axis=1, keepdims=True), 1e-12)
    # Rounded, so that equal sentences get equal scores.
    result: Floats = np.round(present @ present.T, 9)
    return result


def _standard(scores: Floats) -> Floats:
    """Over the pairs of two sentences."""
    pairs = scores[np.triu_indices(len(scores), 1)]
    spread = float(pairs.std())
    result: Floats = np.round((scores - pairs.mean()) / (spread if spread > 1e-9 else 1.0), 6)
    return result
