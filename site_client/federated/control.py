"""How a person at the hospital stops what runs: a word in a file that every step of a training looks at.

What is no such word ends it: a file that somebody damaged must not let a training go on.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import write_text
from foundation.reading import read_text

_NAP_S = 0.2


class Wish(StrEnum):
    """What the hospital wants."""

    RUN = "run"
    PAUSE = "pause"
    END = "end"


class Control:
    """The word of a workspace.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._paused_s = 0.0

    def say(self, wish: Wish) -> None:
        """Put another word in its place."""
        write_text(self._path, wish.value + "\n")

    def wish(self) -> Wish:
        """The word; END where there is none that is known."""
        try:
            return Wish(read_text(self._path).strip())
        except (ValueError, StorageError):
            return Wish.END

    def ended(self) -> bool:
        """Whether to stop; waits for as long as the hospital pauses."""
        while (wish := self.wish()) is Wish.PAUSE:
            began = time.monotonic()
            time.sleep(_NAP_S)
            self._paused_s += time.monotonic() - began
        return wish is Wish.END

    def paused_s(self) -> float:
        """How long `ended` has waited in pauses so far, in all; nothing but pauses."""
        return self._paused_s
