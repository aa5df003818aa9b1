"""Sentences of codes: what shows a token is a number, of a word or of a cluster of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Self

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
        features: class of each token in each column that the construction declares, uint8 `[tokens, columns]`; `no_features` for none.
    """

    codes: NDArray[np.uint32]
    casing: NDArray[np.uint8]
    tags: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    features: NDArray[np.uint8]

    @staticmethod
    def concatenate(pieces: Sequence[CodedSentences]) -> CodedSentences:
        """Pieces, at least one, as one."""
        columns = ("codes", "casing", "tags", "lengths", "features")
        return CodedSentences(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in columns))

    def select(self, rows: NDArray[np.int64]) -> CodedSentences:
        """A copy of some sentences, in the order given."""
        tokens = self.tokens_of(rows)
        return CodedSentences(
            self.codes[tokens], self.casing[tokens], self.tags[tokens], self.lengths[rows], self.features[tokens]
        )


def no_features(tokens: int) -> NDArray[np.uint8]:
    """The feature columns of a construction that declares none, uint8 `[tokens, 0]`."""
    return np.zeros((tokens, 0), dtype=np.uint8)


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

    @classmethod
    def of(cls, coded: CodedSentences, under: PrivateSource | MemoisedNoise) -> Self:
        """Codes as what a share holds of their sentences.

        Args:
            coded: made under this source.
            under: as above.
        """
        return cls(coded.codes, coded.casing, coded.tags, coded.lengths, coded.features, under=under)

    @property
    def stored(self) -> NDArray[np.uint32]:
        """What shows the tokens, as a payload stores it: uint32 little-endian `[tokens]`."""
        return self.codes.astype("<u4", copy=False)
