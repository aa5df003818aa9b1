"""The notes of a review, as they came: one file in our own JSONL, of which any note is read alone.

The folder of a review is whole in itself: two people's folders can be compared, and exported, where the notes themselves are not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from shared.corpus import write_corpus
from shared.document import Annotation, Document
from shared.errors import FormatError
from site_client.errors import ReviewError

_FORMAT = "jsonl"
_DIGEST_BYTES = 16


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
        found, lengths, digests = hashlib.sha256(), [0], bytearray()
        with map_os_errors(self.path):
            self._descriptor = os.open(self.path, os.O_RDONLY)
            with open(self._descriptor, "rb", closefd=False) as stream:
                for line in stream:
                    found.update(line)
                    lengths.append(len(line))
                    digests += _digest(line)
        self._edges, self._digests = [*accumulate(lengths)], bytes(digests)
        if found.hexdigest() != stated.sha256:
            self.close()
            raise self._others()

    def __len__(self) -> int:
        return len(self._edges) - 1

    def __iter__(self) -> Iterator[Document]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> Document:
        """
        Raises:
            ReviewError: the file has changed since it was opened; spans would be of another text.
        """
        start, end = self._edges[number : number + 2]
        with map_os_errors(self.path):
            line = os.pread(self._descriptor, end - start, start)
        if _digest(line) != self._digests[number * _DIGEST_BYTES : (number + 1) * _DIGEST_BYTES]:
            raise self._others()
        record = json.loads(line)
        spans = [Annotation(one["start"], one["end"], one["category"]) for one in record["annotations"]]
        return Document(record["id"], record["text"], tuple(spans))

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)

    def _others(self) -> ReviewError:
        return ReviewError(
            f"{self.path.parent.name}/{self.path.name}: expected the notes of this review, found others; restore the folder from a backup"
        )


@dataclass(frozen=True)
class Coming:
    """What notes that come later bring to a review.

    Args:
        new: notes that it does not have.
        labels: of notes that it has, by their numbers, where they are others than those that the note came with.
    """

    new: tuple[Document, ...]
    labels: Mapping[int, tuple[Annotation, ...]]


def compare_notes(here: NotesFile, documents: Iterable[Document], untouched: Sequence[bool]) -> Coming:
    """Tell what is new of notes that come later.

    Args:
        here: the notes of the review.
        documents: those that come; one that nobody has labelled says nothing of labels.
        untouched: of each note that is here, whether no person has changed anything.

    Raises:
        ReviewError: a note has another text than when its review began, or other labels and a person has worked on it.
    """
    known = {document.identifier: (at, document.digest, _places(document)) for at, document in enumerate(here)}
    new: list[Document] = []
    labels: dict[int, tuple[Annotation, ...]] = {}
    for document in documents:
        if document.identifier not in known:
            new.append(Document(document.identifier, document.text, document.annotations))
            continue
        number, digest, places = known[document.identifier]
        if digest != document.digest:
            raise ReviewError(
                f"{document.identifier}: expected the text with which its review began, got another; give these notes a new --project"
            )
        if document.labelled and places != _places(document):
            labels[number] = document.annotations
    refused = [number for number in sorted(labels) if not untouched[number]]
    if refused:
        raise ReviewError(
            f"notes that somebody has worked on ({len(refused)}, {here[refused[0]].identifier} the first): expected the labels with which their review "
            "began, got others; correct them on the page, or give these notes a new --project"
        )
    return Coming(tuple(new), labels)


def write_notes(folder: Path, documents: Iterable[Document], before: NotesFile | None, source: str) -> NotesLine:
    """Write the notes of a review.

    Args:
        folder: of the project.
        documents: all of them, in their order.
        before: the file that this one follows; None at its beginning.
        source: see `NotesLine`.

    Returns:
        what the journal is to say.

    Raises:
        FormatError: there are no notes.
    """
    name = f"notes-{0 if before is None else int(before.stated.file[6:-6]) + 1}.jsonl"
    if not write_corpus(documents, folder / name, _FORMAT):
        raise FormatError("expected at least one note, got none; check the path")
    return NotesLine(name, file_sha256(folder / name), source)


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=_DIGEST_BYTES).digest()


def _places(document: Document) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.category) for span in document.annotations}


def fingerprint(path: Path) -> str:
    """Tells a file or folder of notes from what it was, without reading the notes: names, sizes, times of change."""
    digest = hashlib.blake2b(digest_size=16)
    with map_os_errors(path):
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            found = file.stat()
            digest.update(repr((str(file), found.st_size, found.st_mtime_ns)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
