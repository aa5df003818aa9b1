"""What every corpus format offers: cut a file into records, read one record, write one document.

Cutting and reading are two steps so that a damaged record can be set aside as it came, byte for byte, while
the records behind it are still read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from shared.corpus.parsing.compressed_files import read_bytes
from shared.document import AnnotatedText, Document
from shared.errors import CorpusError, FormatError

_GZIP = ".gz"


def suffix_of(name: str) -> str:
    """The part of a file name that tells its format, in lower case: ".xml", ".jsonl.gz"."""
    lower = name.lower()
    compressed = lower.endswith(_GZIP)
    stem = lower.removesuffix(_GZIP)
    dot = stem.rfind(".")
    own = stem[dot:] if dot > 0 else ""
    return own + (_GZIP if compressed else "")


def stem_of(name: str) -> str:
    """The file name without `suffix_of`."""
    suffix = suffix_of(name)
    return name[: -len(suffix)] if suffix else name


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as it came, before anyone trusts it.

    Args:
        identifier: the file's stem, or a number behind it; a record's own id, where it has one, wins.
        place: file, and line or record in it.
        parts: the record's bytes by suffix; brat has two.
        damage: why the rest of the file can't be cut into records.
    """

    identifier: str
    place: str
    parts: Mapping[str, bytes] = field(repr=False)
    damage: CorpusError | None = None


class Format(ABC):
    """One corpus format.

    Args of the class:
        name: what `--format` takes.
        title: what people read.
        suffixes: endings of the files that may hold it.
        many: whether one file holds many documents; else each document has its own file or files.
        opening, between, closing: bytes around the records of a file of many.
    """

    name: str
    title: str
    suffixes: ClassVar[tuple[str, ...]]
    many: ClassVar[bool] = False
    opening: ClassVar[bytes] = b""
    between: ClassVar[bytes] = b""
    closing: ClassVar[bytes] = b""

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records, one in memory at a time.

        Raises:
            FormatError: the rest of the file can't be cut.
            StorageError: it can't be read.
        """
        name = file.name
        yield Entry(stem_of(name), name, {suffix_of(name): read_bytes(file)})

    @abstractmethod
    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        """Read one record; whether its spans may overlap is decided by who reads the corpus.

        Args:
            entry: the record.
            notes: counts what was passed over or converted without harm, for the report.

        Raises:
            FormatError: it is not of this format.
            AnnotationError: a span does not fit its text.
        """

    @abstractmethod
    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document: its bytes by suffix.

        Raises:
            FormatError: the format can't hold this text.
            AnnotationError: it can't hold these spans.
        """


def only_part(entry: Entry) -> bytes:
    """The bytes of a record that has one part."""
    if len(entry.parts) != 1:
        raise FormatError("expected one file for one note; check the folder", document=entry.identifier)
    return next(iter(entry.parts.values()))
