"""Whole sentences in another casing: hospitals that write all in capitals, or nothing, are met in training.

A head that knows casing leans on it: at a hospital that writes its headers in capitals, or its notes without any, it finds little.
Tags stay; which casing classes the words have then, and which other columns, is for whoever reads the copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from shared.augment.augmentation import Edited
from shared.errors import ConfigurationError

SHARE = 0.75
"""Of the copies; with the default alpha a pass holds as many recased sentences as others."""
# A header is short and ends without a full stop; it may have a capital at each word.
_HEADER_TOKENS = 6
_ENDS = frozenset(".?!;")


@dataclass(frozen=True)
class Recasing:
    """Writes a sentence in small letters, in capitals, or, where it looks like a header, with a capital at each word.

    Args:
        share: of the sentences, in [0, 1]; the others stay.
    """

    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ConfigurationError(f"expected a share of recased copies in [0, 1], got {self.share}")

    def __call__(self, words: list[str], tags: list[int], chance: Random) -> Edited:
        """See Edit."""
        if chance.random() >= self.share:
            return words, tags
        header = len(words) <= _HEADER_TOKENS and words[-1] not in _ENDS
        change = chance.choice((str.lower, str.upper, _title) if header else (str.lower, str.upper))
        return [change(word) for word in words], tags


def _title(word: str) -> str:
    return word[:1].upper() + word[1:].lower()
