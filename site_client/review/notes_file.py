"""The notes of a review, as they came: one file in our own JSONL, of which any note is read alone.

The folder of a review is whole in itself: two people's folders can be compared, and exported, where the notes themselves are not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from shared.corpus import write_corpus
from shared.document import Annotation, Document
from shared.errors import FormatError
from site_client.errors import ReviewError

_FORMAT = "jsonl"


@dataclass(frozen=True)
class NotesLine:
    """What the journal says of the file.

    Args:
        file: its name.
        sha256: of its bytes.
        source: tells the notes that it was made of from others, see `fingerprint`.
    """

    file: str
    sha256: str
    source: str


class NotesFile:
    """Notes by their numbers, from 0.

    Args:
        folder: of the project.
        stated: what the journal says.

    Raises:
        ReviewError: the file is not the one that the journal tells of.
        StorageError: it can't be read.
    """

    def __init__(self, folder: Path, stated: NotesLine) -> None:
        self.path, self.stated = folder / stated.file, stated
        if file_sha256(self.path) != stated.sha256:
            raise ReviewError(
                f"{folder.name}/{stated.file}: expected the notes of this review, found others; restore the folder from a backup"
            )
        with map_os_errors(self.path):
            self._descriptor = os.open(self.path, os.O_RDONLY)
            with open(self._descriptor, "rb", closefd=False) as stream:
                self._edges = [0, *accumulate(map(len, stream))]

    def __len__(self) -> int:
        return len(self._edges) - 1

    def __iter__(self) -> Iterator[Document]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> Document:
        start, end = self._edges[number : number + 2]
        with map_os_errors(self.path):
            record = json.loads(os.pread(self._descriptor, end - start, start))
        spans = [Annotation(one["start"], one["end"], one["category"]) for one in record["annotations"]]
        return Document(record["id"], record["text"], tuple(spans))

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


def write_notes(folder: Path, documents: Iterable[Document], before: NotesFile | None, source: str) -> NotesLine | None:
    """Write the notes of a review, those that it has first.

    Args:
        folder: of the project.
        documents: notes, of which those that are there already are passed over.
        before: those that are there; None at its beginning.
        source: see `NotesLine`.

    Returns:
        what the journal is to say; None where no note is new and the file stays as it is.

    Raises:
        ReviewError: a note has another text than when its review began.
        FormatError: there are no notes.
    """
    known = {} if before is None else {document.identifier: document.digest for document in before}
    name = f"notes-{0 if before is None else int(before.stated.file[6:-6]) + 1}.jsonl"

    def new() -> Iterator[Document]:
        for document in documents:
            if document.identifier not in known:
                yield Document(document.identifier, document.text, document.annotations)
            elif known[document.identifier] != document.digest:
                raise ReviewError(
                    f"{document.identifier}: expected the text with which its review began, got another; give these notes a new --project"
                )

    count = write_corpus(chain([] if before is None else before, new()), folder / name, _FORMAT)
    if not count:
        raise FormatError("expected at least one note, got none; check the path")
    if count == len(known):
        with map_os_errors(folder / name):
            (folder / name).unlink()
        return None
    return NotesLine(name, file_sha256(folder / name), source)


def fingerprint(path: Path) -> str:
    """Tells a file or folder of notes from what it was, without reading the notes: names, sizes, times of change."""
    digest = hashlib.blake2b(digest_size=16)
    with map_os_errors(path):
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            found = file.stat()
            digest.update(repr((str(file), found.st_size, found.st_mtime_ns)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
