"""Documents to files, so that reading gives back what was written; each file appears whole or not at all.

What is written is its owner's alone, files and new folders: they hold notes.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO, cast

from foundation.files import atomic_file, open_private, write_bytes
from foundation.folders import new_folder
from foundation.os_errors import map_os_errors
from foundation.printable import escape_unprintable
from shared.corpus.checks import check_document
from shared.corpus.formats.registry import make_format
from shared.corpus.parsing.format import Format, stem_of
from shared.document import Document
from shared.errors import FormatError

_NAME_BYTES = 200


def write_document(document: Document, path_or_dir: Path, format: str) -> None:
    """Write one note.

    Args:
        document: the note.
        path_or_dir: a folder that exists, where the file is named after the id; or the file itself.
        format: one of `FORMAT_NAMES` but csv.

    Raises:
        FormatError: the format can't hold the text, or no file can have the id for a name.
        AnnotationError: the format can't hold a span.
        StorageError: no room, no permission.
    """
    chosen = make_format(format)
    folder = path_or_dir.is_dir()
    if chosen.many:
        write_corpus(
            [document],
            path_or_dir / f"{require_file_name(document.identifier)}{chosen.suffixes[0]}" if folder else path_or_dir,
            format,
        )
        return
    target = path_or_dir if folder else path_or_dir.parent
    _write_parts(
        chosen, document, target, require_file_name(document.identifier) if folder else stem_of(path_or_dir.name)
    )


def write_corpus(documents: Iterable[Document], path: Path, format: str) -> int:
    """Write many notes, one in memory at a time.

    Args:
        documents: the notes, each id once.
        path: the folder for a format of one file a note; else the file, compressed if its name ends in .gz.
        format: one of `FORMAT_NAMES` but csv.

    Returns:
        How many were written.

    Raises:
        FormatError, AnnotationError: as `write_document`, or an id that comes twice.
        StorageError: no room, no permission. A new folder or file is then not left behind.
    """
    chosen = make_format(format)
    if chosen.many:
        return _write_file(chosen, documents, path)
    count = 0
    with _new_folder(path) as folder:
        write = write_bytes if folder == path else _write_staged
        for number, document in enumerate(_distinct(documents), start=1):
            _write_parts(chosen, document, folder, require_file_name(document.identifier), write)
            count = number
    return count


def rewrite_corpus(documents: Iterable[Document], format: Format, folder: Path) -> int:
    """Write the files of a corpus as they came, but for the text of their notes.

    Args:
        documents: of one corpus, in its order, each with its record.
        format: of the corpus; it keeps records.
        folder: new; it gets a file for each file that has a document.

    Returns:
        How many documents were written.

    Raises:
        StorageError: no room, no permission; nothing is left behind then.
    """
    count = 0

    def counted(group: Iterable[Document]) -> Iterator[Document]:
        nonlocal count
        for document in group:
            check_document(document)
            count += 1
            yield document

    with _new_folder(folder) as staged:
        for name, group in groupby(documents, key=lambda document: document.file):
            path = staged / name
            with map_os_errors(path):
                path.parent.mkdir(mode=0o700, exist_ok=True)
            with atomic_file(path) as file, _compressed(file, path) as stream:
                format.rewrite(counted(group), stream)
    return count


def _write_file(chosen: Format, documents: Iterable[Document], path: Path) -> int:
    count = 0
    with atomic_file(path) as file, _compressed(file, path) as stream:
        stream.write(chosen.opening)
        for count, document in enumerate(_distinct(documents), start=1):
            if count > 1:
                stream.write(chosen.between)
            check_document(document)
            for data in chosen.render(document).values():
                stream.write(data)
        stream.write(chosen.closing)
    return count


@contextmanager
def _compressed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    # No time and no name inside: the same notes give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
        yield cast("IO[bytes]", stream)


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder that appears when it is complete; one that already holds files is written into, file by file."""
    with map_os_errors(path):
        if path.is_dir() and any(path.iterdir()):
            yield path
            return
    # An empty folder makes room for another without being replaced; anything else that is there does not.
    with new_folder(path, replace=False, private=True) as staged:
        yield staged


def _write_parts(
    chosen: Format, document: Document, folder: Path, stem: str, write: Callable[[Path, bytes], None] = write_bytes
) -> None:
    check_document(document)
    for suffix, data in chosen.render(document).items():
        write(folder / f"{stem}{suffix}", data)


def _write_staged(path: Path, data: bytes) -> None:
    """A file of a folder that nobody sees before it is complete and flushed as a whole: to wait for the disk at each takes longest of all."""
    with map_os_errors(path), open(path, "xb", opener=open_private) as stream:
        stream.write(data)


def require_file_name(identifier: str) -> str:
    """The id, where it can be the name of a file.

    Raises:
        FormatError: it can't.
    """
    fits = identifier and not identifier.startswith(".") and not set(identifier) & set("/\\\0")
    if fits and not _is_known_here(identifier):
        raise FormatError(
            "expected an id that can be a file's name, got one with letters that names have not in this locale; set LC_ALL=C.UTF-8",
            document=escape_unprintable(identifier),
        )
    if not fits or not identifier.isprintable() or len(os.fsencode(identifier)) > _NAME_BYTES:
        raise FormatError(
            "expected an id that can be a file's name, got one that is empty, long, with '/' or a dot first; rename it",
            document=escape_unprintable(identifier),
        )
    return identifier


def _is_known_here(identifier: str) -> bool:
    try:
        os.fsencode(identifier)
    except UnicodeEncodeError:
        return False
    return True


def _distinct(documents: Iterable[Document]) -> Iterator[Document]:
    seen: set[int] = set()
    for document in documents:
        key = hash(document.identifier)
        if key in seen:
            raise FormatError(
                "expected each id once, got it a second time; rename one",
                document=escape_unprintable(document.identifier),
            )
        seen.add(key)
        yield document
