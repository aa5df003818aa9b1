"""Sentences of codes: what shows a token is a number, of a word or of a cluster of words."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

import numpy as np
from numpy.typing import NDArray

from shared.models.noise import PrivateSource
from shared.models.noise_source import MemoisedNoise
from shared.sentences.layout import SentenceLayout
from shared.sentences.sharing import require_private


@dataclass(frozen=True)
class CodedSentences(SentenceLayout):
    """Sentences of codes, laid end to end.

    Args:
        codes: uint32 `[tokens]`.
        casing: uint8 `[tokens]`.
        tags: uint8 `[tokens]`.
        lengths: int64 `[sentences]`.
    """

    codes: NDArray[np.uint32]
    casing: NDArray[np.uint8]
    tags: NDArray[np.uint8]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class SharedCodes(CodedSentences):
    """What a share of codes holds of some sentences.

    Args:
        under: the private source of whatever was drawn for them; it is not kept.

    Raises:
        TypeError: the source is not private.
    """

    under: InitVar[PrivateSource | MemoisedNoise] = field(kw_only=True)

    def __post_init__(self, under: PrivateSource | MemoisedNoise) -> None:
        require_private(under)

    @property
    def stored(self) -> NDArray[np.uint32]:
        """What shows the tokens, as a payload stores it: uint32 little-endian `[tokens]`."""
        return self.codes.astype("<u4", copy=False)
