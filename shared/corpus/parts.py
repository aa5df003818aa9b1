"""A part of a corpus: every N-th note, so that N programs, on one machine or on many, read each note once between them.

Notes are numbered in the order of the corpus, good ones and bad ones alike. Part I of N holds those whose number leaves I - 1 when
divided by N; all of them share one order, in which what was made of the parts is laid together again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.errors import ConfigurationError

_MOST = 100_000
_TEXT = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True)
class Part:
    """One part.

    Args:
        number: from 1 on.
        of: how many there are.

    Raises:
        ConfigurationError: there is no such part.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= _MOST:
            raise ConfigurationError(
                f"expected a part I/N with I from 1 to N, and N up to {_MOST}, got {self.number}/{self.of}"
            )

    @classmethod
    def parse(cls, text: str) -> Part:
        """From "2/8".

        Raises:
            ConfigurationError: it is no part.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ConfigurationError(f"expected a part such as 2/8, got {text!r}")
        return cls(int(found[1]), int(found[2]))

    def holds(self, note: int) -> bool:
        """Whether the note of that number, from 0 on, is in it."""
        return note % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
