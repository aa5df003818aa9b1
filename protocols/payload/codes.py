"""Codes: where a construction shows every token by itself, a token of a share is a number of the release's list.

The list has a number for every word of the vocabulary, and one for every cluster. Whether a hospital's share may hold it, and
where, follows from the release: words that are hidden have no number of their own, and a word that is not among the commonest
may stand by its own number only near labelled PHI. Whoever writes a share and whoever takes it in hold it to the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.errors import CodebookError, SchemaError

Array: TypeAlias = NDArray[Any]

NOWHERE, NEAR_PHI, ANYWHERE, GROUP = range(4)
"""Where a code may stand; that of a group of words may stand anywhere."""


@dataclass(frozen=True)
class CodeRules:
    """Where each code may stand.

    Args:
        places: NOWHERE, NEAR_PHI, ANYWHERE or GROUP for each code, uint8 `[codes]`.
        window: a token is near PHI if a labelled token of its sentence is at most so many tokens away; itself is none away.

    Raises:
        SchemaError: no codes, or other places.
    """

    places: NDArray[np.uint8]
    window: int

    def __post_init__(self) -> None:
        if self.places.dtype != np.uint8 or self.places.ndim != 1 or not len(self.places):
            raise SchemaError("a place of a byte for each code", received="something else", place="codes")
        if int(self.places.max()) > GROUP or self.window < 0:
            raise SchemaError("places and a window that there are", received="others", place="codes")

    def __len__(self) -> int:
        return len(self.places)

    def check(self, codes: Array, tags: Array, offsets: Array, place: str) -> None:
        """Returns if every code may stand where it does.

        Args:
            codes: uint32 `[tokens]`.
            tags: uint8 `[tokens]`; any but 0 is PHI, or may be.
            offsets: first token of each sentence and the end of the last, int64 `[sentences + 1]`.
            place: for errors.

        Raises:
            CodebookError: one may not.
        """
        if int(codes.max()) >= len(self):
            raise _refuse(f"codes below {len(self)}", str(codes.max()), place)
        least = np.where(is_near(tags > 0, offsets, self.window), NEAR_PHI, ANYWHERE)
        wrong = int((self.places[codes] < least).sum())
        if wrong:
            raise _refuse("codes where the release allows them", f"{wrong} of {len(codes)} elsewhere", place)


@dataclass(frozen=True)
class CodeList:
    """Where the codes of a construction may stand.

    Args:
        places: file of the place of each, see `write_code_places`.
        window: as in `CodeRules`.
    """

    places: Path
    window: int


def is_near(marked: Array, offsets: Array, window: int) -> NDArray[np.bool_]:
    """Which tokens have a marked one at most `window` tokens away in their own sentence, bool `[tokens]`.

    Args:
        marked: bool `[tokens]`.
        offsets: as in `CodeRules.check`.
        window: at least 0.
    """
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    near: NDArray[np.bool_] = marked.copy()
    for distance in range(1, window + 1):
        same = sentence[distance:] == sentence[:-distance]
        near[distance:] |= marked[:-distance] & same
        near[:-distance] |= marked[distance:] & same
    return near


def write_code_places(path: Path, rules: CodeRules) -> None:
    """Writes the places of all codes to a file; the window is the caller's to keep.

    Raises:
        StorageError: no room, no permission.
    """
    write_bytes(path, rules.places.tobytes())


def read_code_rules(path: Path, window: int) -> CodeRules:
    """The rules whose places `write_code_places` wrote.

    Raises:
        SchemaError: the file holds something else.
        StorageError: it can't be read.
    """
    regular_size(path)
    with map_os_errors(path):
        places = np.fromfile(path, dtype=np.uint8)
    return CodeRules(places, window)


def _refuse(expected: str, received: str, place: str) -> CodebookError:
    return CodebookError(
        expected, received=received, advice="encode the notes again with the release in use", place=place
    )
