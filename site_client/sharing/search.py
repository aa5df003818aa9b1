"""Searches a file for any text of the notes: the proof that none is in it.

Looked for is every stretch of 8 bytes of the notes (UTF-8) that begins with a word, as it is written and in lower case: a
word of 8 letters or its beginning, a telephone number, two short words and what stands between them. Whatever longer text
of a note were in the file, one of its stretches would be. The names of the notes are looked for in the same way.

Left out are stretches of fewer than 4 different characters ("--------", "000000"), which a column of labels may hold
by chance, and what the formats write by themselves. Shorter pieces stand in random bytes by chance: a file of 1 GB holds
every 3 letters somewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.os_errors import map_os_errors
from shared.document import Document
from shared.text.references.decoding import decode
from shared.text.tokens import tokenise
from site_client.errors import SiteError

STRETCH_BYTES = 8
_LEAST_DIFFERENT = 4
_PIECE_BYTES = 1 << 22
# Texts that are cut at once.
_TEXTS = 512
_SEPARATOR = "\x00"
# Names of columns and of the program. Parts of them may be words of a note, such as the Spanish "presenta".
_OWN = (b"representation", b"deid-commons", b"format_version")
# What writes Parquet says so in the footer. Of another form, or with a longer number, it could be text of a note.
_WRITER = re.compile(rb"parquet-cpp-arrow version \d{1,2}\.\d{1,2}\.\d")
_MAGIC, _TAIL_BYTES = b"PAR1", 8


@dataclass(frozen=True)
class Search:
    """What was looked for, and not found.

    Args:
        notes: documents whose text and names were looked for.
        stretches: different stretches of them.
        file_bytes: size of the file, all of which was searched.
        control: whether the same search finds a stretch that was planted into a copy of the file's first bytes;
            None where there was no stretch to plant.
    """

    notes: int
    stretches: int
    file_bytes: int
    control: bool | None


def search(path: Path, documents: Iterable[Document]) -> Search:
    """Look for the notes' text in a file.

    Raises:
        SiteError: there is some, or the search does not find what was planted.
        StorageError: the file can't be read.
    """
    notes, stretches = _stretches(documents, (*_OWN, *_writer(path)))
    control, size, found = None, 0, set[int]()
    for piece, begin in _pieces(path):
        if control is None and len(stretches):
            control = _finds_planted(piece, stretches)
        found |= _found(piece, stretches)
        size = begin + len(piece)
    if found:
        raise SiteError(
            f"{path.name}: expected no text of the notes in the share, found {len(found)} stretches of it; "
            "do not send it, and report this"
        )
    if control is False:
        raise SiteError(f"{path.name}: expected to find what was planted for a test, found nothing; report this")
    return Search(notes, len(stretches), size, control)


def _writer(path: Path) -> list[bytes]:
    """What the footer of a Parquet file says of the program that wrote it, where it says so in the known form."""
    with map_os_errors(path), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
        footer_bytes = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or footer_bytes > size - _TAIL_BYTES:
            return []
        file.seek(size - _TAIL_BYTES - footer_bytes)
        return _WRITER.findall(file.read(footer_bytes))[:1]


def _stretches(documents: Iterable[Document], written: Iterable[bytes]) -> tuple[int, NDArray[np.uint64]]:
    """How many documents there are, and their stretches as numbers, each once, sorted, without those of what the format has written."""
    gathered, waiting, notes = np.zeros(0, dtype="<u8"), list[str](), 0
    for document in documents:
        notes += 1
        # A share is made of what is read.
        waiting += [*dict.fromkeys((document.text, decode(document.text).text)), document.identifier]
        if len(waiting) >= _TEXTS:
            gathered, waiting = np.union1d(gathered, _of(waiting)), []
    gathered = np.union1d(gathered, _of(waiting))
    letters = np.sort(gathered.view(np.uint8).reshape(-1, STRETCH_BYTES), axis=1)
    telling = 1 + (np.diff(letters.astype(np.int16), axis=1) > 0).sum(axis=1) >= _LEAST_DIFFERENT
    own = [number for text in written for number in _windows(text).tolist()]
    # A NUL stands between two texts.
    return notes, gathered[telling & (letters[:, 0] > 0) & ~np.isin(gathered, np.array(own, dtype="<u8"))]


def _of(texts: list[str]) -> NDArray[np.uint64]:
    """The stretches of some texts, and of the same in lower case."""
    written = _SEPARATOR.join(texts)
    text = written + _SEPARATOR + written.lower()
    data = text.encode()
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    starts = np.append(0, np.cumsum(widths))[tokenise(text).spans[:, 0]]
    found: NDArray[np.uint64] = _windows(data)[starts[starts <= len(data) - STRETCH_BYTES]]
    return found


def _windows(data: bytes) -> NDArray[np.uint64]:
    """Every 8 bytes of `data` as a number, from each place on."""
    count = len(data) - STRETCH_BYTES + 1
    if count < 1:
        return np.zeros(0, dtype="<u8")
    return np.ndarray((count,), dtype="<u8", buffer=data, strides=(1,))


def _found(piece: bytes, stretches: NDArray[np.uint64]) -> set[int]:
    """Which stretches are in a piece."""
    if not len(stretches):
        return set()
    # Two bytes decide for most places at the speed of a table.
    possible = np.zeros(1 << 16, dtype=np.bool_)
    possible[stretches & 0xFFFF] = True
    windows = _windows(piece)
    windows = windows[possible[windows & 0xFFFF]]
    nearest = stretches[np.minimum(np.searchsorted(stretches, windows), len(stretches) - 1)]
    return set(windows[nearest == windows].tolist())


def _finds_planted(piece: bytes, stretches: NDArray[np.uint64]) -> bool:
    planted = int(stretches[len(stretches) // 2])
    middle = len(piece) // 2
    return planted in _found(piece[:middle] + planted.to_bytes(STRETCH_BYTES, "little") + piece[middle:], stretches)


def _pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """The file in overlapping pieces, so that no stretch is cut, and where each begins."""
    tail, begin = b"", 0
    with map_os_errors(path), path.open("rb") as file:
        while read := file.read(_PIECE_BYTES):
            piece = tail + read
            yield piece, begin
            tail = piece[-(STRETCH_BYTES - 1) :]
            begin += len(piece) - len(tail)
