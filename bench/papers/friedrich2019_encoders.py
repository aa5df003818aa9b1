"""What stands before a tagger that is judged as in the paper: without casing, or with noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch

from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.labels import LabelScheme
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences


class _Inputs(Protocol):
    """What a pipeline asks of its encoder."""

    @property
    def dims(self) -> tuple[int, ...]: ...

    @property
    def scheme(self) -> LabelScheme: ...

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences: ...


@dataclass(frozen=True)
class Caseless:
    """An encoder whose tagger is not told the casing."""

    encoder: _Inputs

    @property
    def dims(self) -> tuple[int, ...]:
        """See Construction."""
        return self.encoder.dims

    @property
    def scheme(self) -> LabelScheme:
        """Labels of the encoder."""
        return self.encoder.scheme

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets."""
        return caseless(self.encoder.noise_free(chunk))


class Noisy:
    """An encoder whose tagger sees noise when it is judged too, as the paper's does.

    Args:
        encoder: has the noise.
        seed: of it.
    """

    def __init__(self, encoder: NoisyRecurrent, seed: int) -> None:
        self.encoder, self.dims, self.scheme = encoder, encoder.dims, encoder.scheme
        self.noise = torch.Generator().manual_seed(seed)

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets: here with noise."""
        return self.encoder.rehearse_share(chunk, self.noise)


def caseless(shown: RaggedSentences) -> RaggedSentences:
    """The sentences, of whose casing nothing is told."""
    return replace(shown, casing=np.zeros_like(shown.casing))
