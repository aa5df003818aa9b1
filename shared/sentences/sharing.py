"""Sentences that may leave a hospital: a type of its own, which is made under a private source of noise only.

What lays sentences into the payload of a share takes no other. So neither what was represented without noise nor what an
attack or a test drew from a seed that can be tried gets there by mistake.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shared.models.noise import PrivateSource
from shared.models.noise_source import MemoisedNoise, PrivateNoise, SentenceNoise
from shared.sentences.ragged import RaggedSentences


@dataclass(frozen=True)
class SharedSentences(RaggedSentences):
    """What a share holds of some sentences.

    Args:
        under: the private source that whatever is random in them was drawn from; it is not kept.

    Raises:
        TypeError: the source is not private.
    """

    under: InitVar[PrivateSource | MemoisedNoise] = field(kw_only=True)

    def __post_init__(self, under: PrivateSource | MemoisedNoise) -> None:
        require_private(under)

    @property
    def stored(self) -> NDArray[np.float16]:
        """What shows the tokens, as a payload stores it: float16 little-endian `[tokens, dim]`."""
        return self.values.astype("<f2", copy=False)

    @property
    def features(self) -> NDArray[np.uint8]:
        """No column: features stand beside codes alone, uint8 `[tokens, 0]`."""
        return np.zeros((self.tokens, 0), dtype=np.uint8)

    @classmethod
    def of(cls, sentences: RaggedSentences, under: PrivateSource | MemoisedNoise) -> Self:
        """Sentences that are protected by something else than noise, as what a share holds of them.

        Args:
            sentences: represented, float16 `[tokens, dim]`.
            under: the private source of whatever else was drawn for them.
        """
        return cls(sentences.values, sentences.casing, sentences.tags, sentences.lengths, under=under)


def require_private(under: PrivateSource | MemoisedNoise) -> None:
    """Returns if nobody can draw again what this source gives.

    Raises:
        TypeError: somebody can.
    """
    if not isinstance(under, PrivateNoise | SentenceNoise | MemoisedNoise):
        raise TypeError(f"expected a private source of noise, got {type(under).__name__}; only what has one may leave")
