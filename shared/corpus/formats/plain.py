"""Plain text: one .txt file a note, labelled by nobody. An empty file is an empty note."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from shared.corpus.parsing.decoding import decode_utf8
from shared.corpus.parsing.format import Entry, Format, only_part
from shared.document import Document
from shared.errors import FormatError


class PlainText(Format):
    """Plain text; see Format."""

    name = "txt"
    title = "plain text, one note a file"
    suffixes: ClassVar[tuple[str, ...]] = (".txt",)

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        return Document(entry.identifier, decode_utf8(only_part(entry), entry.identifier), labelled=False)

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        if document.annotations:
            raise FormatError(
                "expected a note without annotations, for plain text holds none; write brat or JSONL",
                document=document.identifier,
            )
        return {".txt": text_bytes(document.text)}


def text_bytes(text: str) -> bytes:
    """UTF-8; a text that itself begins with U+FEFF gets a byte order mark ahead, so that reading drops only that."""
    return ("\ufeff" + text if text.startswith("\ufeff") else text).encode()
