"""What every corpus format offers: cut a file into records, read one record, write one document.

Cutting and reading are two steps so that a damaged record can be set aside as it came, byte for byte, while
the records behind it are still read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

from shared.corpus.parsing.compressed_files import read_bytes
from shared.corpus.parsing.decoding import as_utf8
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
        parts: the record's bytes by suffix; brat has two. None of the rest of a file that only goes with the whole.
        damage: why the rest of the file can't be cut into records.
        beside: what of its file a format needs to write the record again.
        rest: from where on this is the rest of its file, in one piece, in words; "" for a record.
        content: what it holds, where a library has written its bytes, and another version writes other ones; else empty.
    """

    identifier: str
    place: str
    parts: Mapping[str, bytes] = field(repr=False)
    damage: CorpusError | None = None
    beside: Any = field(default=None, repr=False)
    rest: str = ""
    content: bytes = field(default=b"", repr=False)


class Format(ABC):
    """One corpus format.

    Args of the class:
        name: what `--format` takes.
        title: what people read.
        suffixes: endings of the files that may hold it.
        many: whether one file holds many documents; else each document has its own file or files.
        opening, between, closing: bytes around the records of a file of many.
        keeps_records: whether a document holds what stood beside it, so that its file can be written as it came.
        is_text: whether a file is text, in some encoding.
    """

    name: str
    title: str
    suffixes: ClassVar[tuple[str, ...]]
    many: ClassVar[bool] = False
    opening: ClassVar[bytes] = b""
    between: ClassVar[bytes] = b""
    closing: ClassVar[bytes] = b""
    keeps_records: ClassVar[bool] = False
    is_text: ClassVar[bool] = True

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records, one in memory at a time.

        Raises:
            FormatError: the rest of the file can't be cut.
            StorageError: it can't be read.
        """
        name = file.name
        yield Entry(stem_of(name), name, {suffix_of(name): read_bytes(file)})

    def in_utf8(self, data: bytes, encoding: str) -> bytes:
        """One part of a record in UTF-8; see `as_utf8`."""
        return as_utf8(data, encoding)

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

    def rewrite(self, documents: Iterable[Document], stream: IO[bytes]) -> None:
        """Write the file that documents came from as it came, but for their text, which is that of now; see `keeps_records`.

        Args:
            documents: of one file, in its order, with their records.
            stream: where to.
        """
        raise NotImplementedError(f"{self.name} keeps no records")

    def untouched(self, document: Document) -> list[str]:
        """Names of what `rewrite` writes beside the text as it came."""
        return []


def only_part(entry: Entry) -> bytes:
    """The bytes of a record that has one part."""
    if len(entry.parts) != 1:
        raise FormatError("expected one file for one note; check the folder", document=entry.identifier)
    return next(iter(entry.parts.values()))
