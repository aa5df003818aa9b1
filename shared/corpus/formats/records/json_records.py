"""JSON Lines or one JSON array, cut into records without parsing them, gz or not.

Lines are cut at line ends. Anything else (an array, objects over several lines) is cut by counting brackets outside
strings, in bytes, with one record in memory; so a record that is not JSON is refused alone.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, ClassVar

from shared.corpus.parsing.compressed_files import map_reading_errors, open_bytes, reading
from shared.corpus.parsing.decoding import decode_json, kind_of
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of, suffix_of
from shared.document import AnnotatedText, Document
from shared.errors import FormatError

Record = dict[str, Any]

_CHUNK_BYTES = 1 << 20
_MARK = b"\xef\xbb\xbf"
_BETWEEN = b" \t\r\n"
# A whole string, a bracket, or the quote of a string that the buffer cuts off.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|"', re.DOTALL)


class JsonRecords(Format):
    """What the JSON formats share; each adds its record's shape."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
    many: ClassVar[bool] = True
    between: ClassVar[bytes] = b"\n"
    closing: ClassVar[bytes] = b"\n"

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        yield from json_entries(file)

    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        """Read one record; see Format."""
        record = decode_json(only_part(entry), entry.identifier)
        if not isinstance(record, dict):
            raise FormatError(
                "expected an object for each note, got another value; correct it", document=entry.identifier
            )
        return self.from_record(record, entry.identifier, notes)

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        return {".jsonl": json.dumps(self.to_record(document), ensure_ascii=False).encode()}

    @abstractmethod
    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document.

        The text comes first: a damaged record may have lost it to its id, and no error shall then show that id.

        Args:
            record: the parsed object.
            fallback: the document's id, if the record has none of its own.
            notes: as in `Format.parse`.
        """

    @abstractmethod
    def to_record(self, document: Document) -> Record:
        """A document as a record that `json` can write."""


def identifier_of(record: Record, fallback: str) -> str:
    """The record's own id, or the fallback where it has none.

    Raises:
        FormatError: the id is neither a string nor a whole number.
    """
    for key in ("id", "sample_id"):
        value = record.get(key)
        if value is None or value == "":
            continue
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
        raise FormatError(
            f"expected {key} to be text or a whole number, got {kind_of(value)}; correct it",
            document=fallback,
        )
    return fallback


def json_entries(file: Path) -> Iterator[Entry]:
    """The records of a file, in order."""
    stem, lines = stem_of(file.name), _is_lines(file)
    with reading(file) as stream:
        pieces = _cut_lines(stream) if lines else _cut_brackets(stream, file.name)
        for number, place, data in pieces:
            yield Entry(f"{stem}-{number}", f"{file.name}, {place}", {".json": data})


def _is_lines(file: Path) -> bool:
    if not suffix_of(file.name).startswith((".jsonl", ".ndjson")):
        return False
    with map_reading_errors(file), open_bytes(file) as stream:
        return not stream.read(4096).removeprefix(_MARK).lstrip(_BETWEEN).startswith(b"[")


def _cut_lines(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    for number, line in enumerate(stream, start=1):
        data = line.strip(_BETWEEN)
        if data and data != _MARK:
            yield number, f"line {number}", data


def _cut_brackets(stream: IO[bytes], name: str) -> Iterator[tuple[int, str, bytes]]:
    buffer = stream.read(_CHUNK_BYTES).removeprefix(_MARK).lstrip(_BETWEEN)
    in_array = buffer.startswith(b"[")
    begin = position = 1 if in_array else 0
    depth, number, ended = 0, 0, False
    while True:
        for found in _TOKEN.finditer(buffer, position):
            token = found.group()
            if token == b'"':
                position = found.start()
                break
            position = found.end()
            if ended or (depth == 0 and token not in (b"{", b"]")):
                raise FormatError(
                    "expected one JSON object for each note, got something else between them; correct it", document=name
                )
            if token in (b"{", b"["):
                if depth == 0:
                    _check_gap(buffer[begin : found.start()], in_array and number > 0, name)
                    begin = found.start()
                depth += 1
            elif token in (b"}", b"]"):
                depth -= 1
                if depth == 0:
                    number += 1
                    yield number, f"record {number}", buffer[begin:position]
                    begin = position
                elif depth < 0:
                    _check_gap(buffer[begin : found.start()], False, name)
                    begin, ended = position, in_array
                    if not ended:
                        raise FormatError(
                            "expected JSON objects, got a bracket that nothing opens; correct it", document=name
                        )
                    depth = 0
        buffer, position, begin = buffer[begin:], position - begin, 0
        chunk = stream.read(max(_CHUNK_BYTES, len(buffer)))
        if not chunk:
            break
        buffer += chunk
    if depth or buffer.strip(_BETWEEN) or (in_array and not ended):
        raise FormatError(
            f"expected the file to end behind a record, got an end in the middle after record {number}; copy it again",
            document=name,
        )


def _check_gap(gap: bytes, comma: bool, name: str) -> None:
    if gap.strip(_BETWEEN) != (b"," if comma else b""):
        raise FormatError(
            "expected records apart by commas in an array, by white space else, got something else; correct it",
            document=name,
        )
