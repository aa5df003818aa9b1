"""brat standoff: note.txt and note.ann.

A span in pieces (`10 14;15 20`) is read as one stretch if only white space lies between the pieces, which is how brat
itself writes a span over a line end; any other is refused, because covering the gap would label text that nobody
labelled and leaving it would cut the span. Relations, events, attributes, normalisations, equivalences and notes hold
no span of their own: they are counted and passed over, but for the AnnotatorNotes of a span, which become its comment.
A byte order mark is text where the offsets count it. An .ann without .txt, or the other way round, is refused.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from shared.corpus.formats.plain import text_bytes
from shared.corpus.parsing.alignment import COUNTINGS, Tag, align, mismatch
from shared.corpus.parsing.compressed_files import read_bytes
from shared.corpus.parsing.decoding import decode_utf8
from shared.corpus.parsing.format import Entry, Format, stem_of
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError, FormatError

_HARMLESS = frozenset("REAMN*#")
_SPAN = re.compile(r"(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*)")
_NOTE = re.compile(r"#[^\t]*\tAnnotatorNotes (T[^\t]*)\t(.*)", re.DOTALL)
_KEY = re.compile(r"T[0-9]+")
_LINE_END = re.compile(r"[\r\n]")
_LINE_PIECE = re.compile(r"[^\r\n]+")


class Brat(Format):
    """Brat: a text file and a file of annotations beside it; see Format."""

    name = "brat"
    title = "brat standoff, .txt and .ann for each note"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".ann")

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        stem = stem_of(file.name)
        text, spans = (file.with_name(stem + suffix) for suffix in self.suffixes)
        if file.name == spans.name and text.exists():
            return  # Read with its text.
        parts = {path.suffix: read_bytes(path) for path in (text, spans) if path.exists()}
        yield Entry(stem, file.name, parts)

    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        """Read one record; see Format."""
        identifier = entry.identifier
        self.require_both(entry)
        raw = entry.parts[".txt"]
        text = decode_utf8(raw, identifier)
        tags = _tags(decode_utf8(entry.parts[".ann"], identifier), text, identifier, notes)
        annotations = align(text, tags, COUNTINGS, notes)
        if annotations is None and raw.startswith(codecs.BOM_UTF8):
            # Some of MEDDOCAN's offsets count the byte order mark; it is then a character of the text, as in its XML.
            text = "\ufeff" + text
            annotations = align(text, tags, COUNTINGS, notes)
        if annotations is None:
            raise mismatch(text, tags, identifier)
        return AnnotatedText(identifier, text, annotations)

    def require_both(self, entry: Entry) -> None:
        """
        Raises:
            FormatError: the .txt or the .ann is missing.
        """
        for suffix in self.suffixes:
            if suffix not in entry.parts:
                raise FormatError(
                    f"expected a {suffix} file beside the other one, got none; add it (an empty .ann means no PHI)",
                    document=entry.identifier,
                )

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        keys = [span.identifier for span in document.annotations]
        if len(set(keys)) < len(keys) or not all(_KEY.fullmatch(key) for key in keys):
            keys = [f"T{number}" for number in range(1, len(keys) + 1)]
        lines = [_line(document, span, key) for key, span in zip(keys, document.annotations, strict=True)]
        comments = [(key, span.comment) for key, span in zip(keys, document.annotations, strict=True) if span.comment]
        for number, (key, comment) in enumerate(comments, start=1):
            lines.append(f"#{number}\tAnnotatorNotes {key}\t{_LINE_END.sub(' ', comment)}\n")
        return {".txt": text_bytes(document.text), ".ann": "".join(lines).encode()}


def _tags(lines: str, text: str, document: str, notes: Counter[str]) -> list[Tag]:
    tags: dict[str, Tag] = {}
    comments: dict[str, str] = {}
    for number, line in enumerate(lines.split("\n"), start=1):
        line = line.removesuffix("\r")
        if line.startswith("T"):
            tag = _tag(line, text, document, f"line {number} of the .ann")
            if tag.identifier in tags:
                raise AnnotationError(
                    "expected each T once, got one twice; renumber it",
                    document=document,
                    place=f"line {number} of the .ann",
                )
            tags[tag.identifier] = tag
        elif note := _NOTE.fullmatch(line):
            comments[note[1]] = note[2]
        elif line[:1] in _HARMLESS and line:
            notes["brat lines other than spans (relations, events, attributes, notes), passed over"] += 1
        elif line.strip():
            raise FormatError(
                "expected a brat line (T, R, E, A, M, N, * or #), got another; correct it",
                document=document,
                place=f"line {number} of the .ann",
            )
    return [replace(tag, comment=comments.get(key, "")) for key, tag in tags.items()]


def _tag(line: str, text: str, document: str, place: str) -> Tag:
    fields = line.split("\t", 2)
    span = _SPAN.fullmatch(fields[1]) if len(fields) == 3 else None
    if span is None or not _KEY.fullmatch(fields[0]):
        raise FormatError(
            "expected 'T1<tab>LABEL start end<tab>text', got another form; correct the line",
            document=document,
            place=place,
        )
    pieces = [tuple(map(int, piece.split(" "))) for piece in span[2].split(";")]
    start, end, surface = pieces[0][0], pieces[-1][1], fields[2]
    if len(pieces) > 1:
        surface = _joined(pieces, text, surface, document)
    return Tag(start, end, span[1], surface, fields[0])


def _joined(pieces: list[tuple[int, ...]], text: str, surface: str, document: str) -> str:
    """The text of the whole stretch, once its pieces are seen to be what the file quotes."""
    gaps = [text[left[1] : right[0]] for left, right in pairwise(pieces)]
    place = f"characters {pieces[0][0]}-{pieces[-1][1]}"
    if not all(gap.isspace() for gap in gaps):
        raise AnnotationError(
            "expected one stretch, got a span in pieces with text between them; split it into spans of their own",
            document=document,
            place=place,
        )
    if " ".join(text[start:end] for start, end in pieces) != surface:
        raise AnnotationError(
            "expected offsets that select the text which the line quotes, got other characters; correct them",
            document=document,
            place=place,
        )
    return text[pieces[0][0] : pieces[-1][1]]


def _line(document: Document, span: Annotation, key: str) -> str:
    if re.search(r"\s", span.category):
        raise FormatError(
            "expected a label without white space, for brat can't hold it; map the label", document=document.identifier
        )
    covered = document.covered_text(span)
    pieces = [(span.start + piece.start(), span.start + piece.end()) for piece in _LINE_PIECE.finditer(covered)]
    # brat wants no span over a line end, but cutting must not lose a line end at the span's own edge.
    if not pieces or pieces[0][0] != span.start or pieces[-1][1] != span.end:
        pieces = [(span.start, span.end)]
    quoted = " ".join(document.text[start:end] for start, end in pieces)
    where = ";".join(f"{start} {end}" for start, end in pieces)
    return f"{key}\t{span.category} {where}\t{_LINE_END.sub(' ', quoted)}\n"
