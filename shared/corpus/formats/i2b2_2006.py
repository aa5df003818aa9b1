"""i2b2 2006 XML: one file of many records, PHI marked inline.

    <ROOT><RECORD ID="1"><TEXT>... <PHI TYPE="DOCTOR">...</PHI> ...</TEXT></RECORD></ROOT>

Offsets are positions in the text with the tags removed. The file is cut at its RECORD tags and each record is parsed by
itself: memory holds one record, and one that is damaged does not take the others with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, ClassVar

from shared.corpus.parsing.compressed_files import reading
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of
from shared.corpus.parsing.safe_xml import escape, new_parser, quote, require_xml_text, run_parser
from shared.document import Annotation, Document
from shared.errors import AnnotationError, FormatError

_CHUNK_BYTES = 1 << 20
_OPEN = re.compile(rb"<RECORD[\s>]")
_CLOSE = b"</RECORD>"
_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>)?\s*(?:<!--.*?-->\s*)*<ROOT\s*>\s*", re.DOTALL)
_END = re.compile(rb"\s*</ROOT>\s*")


class I2b2Records(Format):
    """I2b2 2006: many records in one XML file; see Format."""

    name = "i2b2_2006"
    title = "i2b2 2006 XML, many records a file"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)
    many: ClassVar[bool] = True
    opening: ClassVar[bytes] = b'<?xml version="1.0" encoding="UTF-8" ?>\n<ROOT>\n'
    closing: ClassVar[bytes] = b"</ROOT>\n"

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        with reading(file) as stream:
            for number, record in enumerate(_cut(stream, file.name), start=1):
                yield Entry(f"{stem_of(file.name)}-{number}", f"{file.name}, record {number}", {".xml": record})

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        data = only_part(entry)
        walk = _Walk(entry.identifier)
        walk.run(data)
        return Document(walk.identifier, "".join(walk.text), tuple(walk.annotations))

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        require_xml_text(document.text + document.identifier, document.identifier)
        pieces, done = [], 0
        for span in document.annotations:
            require_xml_text(span.category, document.identifier)
            pieces.append(escape(document.text[done : span.start]))
            pieces.append(f"<PHI TYPE={quote(span.category)}>{escape(document.covered_text(span))}</PHI>")
            done = span.end
        pieces.append(escape(document.text[done:]))
        return {
            ".xml": f"<RECORD ID={quote(document.identifier)}>\n<TEXT>{''.join(pieces)}</TEXT>\n</RECORD>\n".encode()
        }


def _cut(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """The bytes of each record; raises where what stands between or behind them is not what it should be."""
    buffer = stream.read(_CHUNK_BYTES)
    head = _HEAD.match(buffer)
    if head is None:
        raise FormatError(
            "expected <ROOT> around the records and no document type, got something else; correct the file",
            document=name,
        )
    begin = searched = head.end()
    while True:
        end = buffer.find(_CLOSE, searched)
        if end >= 0:
            end += len(_CLOSE)
            yield from _split(buffer[begin:end], name)
            begin = searched = end
            continue
        buffer = buffer[begin:]
        begin, searched = 0, max(0, len(buffer) - len(_CLOSE))
        # The chunks grow with the record, so that one huge record is not copied once per chunk.
        chunk = stream.read(max(_CHUNK_BYTES, len(buffer)))
        if not chunk:
            break
        buffer += chunk
    if not _END.fullmatch(buffer):
        raise FormatError(
            "expected </ROOT> behind the last record, got something else or a file cut short; copy it again",
            document=name,
        )


def _split(record: bytes, name: str) -> Iterator[bytes]:
    """One record, or several where an end tag is missing: the first of these are then refused one by one."""
    starts = [found.start() for found in _OPEN.finditer(record)]
    if not starts or record[: starts[0]].strip():
        raise FormatError(
            "expected nothing but records inside ROOT, got something between them; correct the file", document=name
        )
    for start, end in zip(starts, [*starts[1:], len(record)], strict=True):
        yield record[start:end]


class _Walk:
    """One pass of expat over one record."""

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        self.text: list[str] = []
        self.annotations: list[Annotation] = []
        self._path: list[str] = []
        self._length = 0
        self._phi_start = 0
        self._category = ""
        self._sections = 0

    def run(self, data: bytes) -> None:
        parser = new_parser(data, self.identifier)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        run_parser(parser, data, self.identifier)
        if self._sections != 1:
            raise FormatError(
                "expected one TEXT in the record, got none or more; correct the file", document=self.identifier
            )

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        path = self._path
        path.append(element)
        if len(path) == 1:
            self.identifier = attributes.get("ID") or self.identifier
        elif path == ["RECORD", "TEXT"]:
            self._sections += 1
        elif path == ["RECORD", "TEXT", "PHI"] and attributes.get("TYPE"):
            self._phi_start, self._category = self._length, attributes["TYPE"]
        elif path[1:3] == ["TEXT", "PHI"]:
            raise AnnotationError(
                "expected PHI with a TYPE and without elements inside, got another or a nested one; correct it",
                document=self.identifier,
                place=f"character {self._length}",
            )
        else:
            raise FormatError(
                "expected RECORD, TEXT and PHI only, got another element; correct the file", document=self.identifier
            )

    def _end(self, element: str) -> None:
        if len(self._path) == 3:
            self.annotations.append(Annotation(self._phi_start, self._length, self._category))
        self._path.pop()

    def _characters(self, data: str) -> None:
        if len(self._path) >= 2:
            self.text.append(data)
            self._length += len(data)
        elif not data.isspace():
            raise FormatError("expected text inside TEXT only, got text elsewhere; move it", document=self.identifier)
