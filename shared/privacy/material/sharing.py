"""What every attack takes for granted: the release, which turns sentences into what a share would show of them.

An attack never looks inside. Whoever holds the release may encode sentences of their own choice, as often as they
like; so an attack that works through `rehearse_share` alone holds for every construction, those to come included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from shared.embeddings.vectors import WordVectors
from shared.errors import EvaluationError
from shared.labels import LabelScheme
from shared.models.noise import NoiseSource
from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES


class SharingEncoder(Protocol):
    """An encoder as an attacker sees it."""

    @property
    def scheme(self) -> LabelScheme:
        """Labels of what is shared."""

    @property
    def gaussian_noise(self) -> tuple[NDArray[np.float64], int] | None:
        """Published scale of the output noise, float64 `[dim]`, and width of the input noise; None without noise."""
        ...

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        """What a share would show of these sentences, in their order, under noise of the attacker's own."""
        ...


@dataclass(frozen=True)
class ClearEncoder:
    """Shows the word vectors as they are, without noise: the positive control that every attack must break.

    Args:
        vectors: public word vectors.
        scheme: the labels.
    """

    vectors: WordVectors
    scheme: LabelScheme

    @property
    def gaussian_noise(self) -> None:
        """No noise."""

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        """The word vectors, float16 as in a share; the noise is not used."""
        plain = embed_sentences(chunk, self.vectors)
        return RaggedSentences(plain.values.astype(np.float16), plain.casing, plain.tags, plain.lengths)


def draw_share(encoder: SharingEncoder, chunk: TokenisedSentences, noise: torch.Generator) -> RaggedSentences:
    """One fresh share of these sentences.

    Raises:
        EvaluationError: the share has other sentence lengths than the sentences, which no attack here can follow.
    """
    share = encoder.rehearse_share(chunk, noise)
    if not np.array_equal(share.lengths, chunk.lengths):
        raise EvaluationError(
            f"expected a share of the same sentence lengths, got {share.sentences} sentences of {share.tokens} tokens "
            f"for {chunk.sentences} of {chunk.tokens}; give the attack an encoder that keeps them"
        )
    return share


def one_hot(classes: NDArray[np.integer], size: int) -> NDArray[np.float32]:
    """Float32 `[tokens, size]`."""
    rows: NDArray[np.float32] = np.eye(size, dtype=np.float32)[classes]
    return rows


def spread(values: NDArray[np.floating]) -> float:
    """Standard deviation of all entries, never zero: what to divide by so that an LSTM learns quickly."""
    return max(float(values.astype(np.float32).std()), 1e-6)


def with_casing(values: NDArray[np.floating], casing: NDArray[np.uint8], scale: float) -> NDArray[np.float32]:
    """Token vectors divided by `scale`, with the casing behind them, float32 `[tokens, dim + 7]`.

    The scale is the caller's, fixed once for an attack: one that followed the values would tell shares apart by itself.
    """
    return np.concatenate([values.astype(np.float32) / scale, one_hot(casing, len(CASING_CLASSES))], axis=1)
