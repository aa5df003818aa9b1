"""CoNLL and IOB columns: a token first, its tag last, a blank line between sentences, -DOCSTART- between documents.

The text is rebuilt: one space between tokens, one line end between sentences, unless the column before the tag says
otherwise in the words of CoNLL-U (`SpaceAfter=No`, or UDPipe's `SpacesAfter=\\s\\n`). We write it, so nothing is lost:

    -DOCSTART-   id=note-1   _             O
    Ana          _           B-PATIENT
    .            SpaceAfter=No   O

Tags may be IOB1, IOB2, IOBES or BILOU. A sentence's end closes a span, as in every reader of this format; we write no
blank line inside a span, so that one which runs over a line end survives.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from shared.corpus.parsing.compressed_files import reading
from shared.corpus.parsing.decoding import decode_utf8
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of
from shared.document import Annotation, Document
from shared.errors import AnnotationError, FormatError
from shared.text.tokens import tokenise

_DOCUMENT_START = "-DOCSTART-"
TAG = re.compile(r"O|[BIESLU]-(?P<category>.*\S.*)")
_COMMENT = re.compile(r"# ?(?:newdoc|newpar|sent_id|text|global\.columns)\b")
_SPACES = re.compile(r"(?:^|\|)Space(?:After=(?P<no>No)|sAfter=(?P<spaces>[^|]*))(?:\||$)")
_ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}
_UNESCAPES = {escaped: plain for plain, escaped in _ESCAPES.items()}
_BLANK = " \t\r"


class Conll(Format):
    """CoNLL: a token and its tag a line; see Format."""

    name = "conll"
    title = "CoNLL columns, token first and tag last"
    suffixes: ClassVar[tuple[str, ...]] = (".conll", ".conllu", ".iob", ".iob2", ".bio", ".tsv", ".conll.gz")
    many: ClassVar[bool] = True

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        stem = stem_of(file.name)
        lines: list[bytes] = []
        started, first, count = False, 1, 0
        with reading(file) as stream:
            for number, line in enumerate(stream, start=1):
                if line.startswith((_DOCUMENT_START.encode(), b"\xef\xbb\xbf" + _DOCUMENT_START.encode())):
                    if started or any(held.strip() for held in lines):
                        yield Entry(
                            f"{stem}-{count}" if started else stem,
                            f"{file.name}, line {first}",
                            {".conll": b"".join(lines)},
                        )
                    lines, started, first, count = [], True, number, count + 1
                lines.append(line)
        if started or any(held.strip() for held in lines):
            yield Entry(
                f"{stem}-{count}" if started else stem, f"{file.name}, line {first}", {".conll": b"".join(lines)}
            )

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        build = _Builder(entry.identifier)
        for number, line in enumerate(decode_utf8(only_part(entry), entry.identifier).split("\n"), start=1):
            line = line.strip(_BLANK) if "\t" not in line else line.removesuffix("\r")
            if not line.strip(_BLANK):
                build.end_sentence()
            elif "\t" not in line and _COMMENT.match(line):
                notes["CoNLL comment lines, passed over"] += 1
            else:
                build.add(line.split("\t") if "\t" in line else re.split(" +", line), f"line {number} of the document")
        return build.document()

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        text, pieces = document.text, _pieces(document)
        categories = {span.start: span for span in document.annotations}
        leading = text[: pieces[0][0]] if pieces else text
        lines = [f"{_DOCUMENT_START}\tid={_escape(document.identifier)}\t{_spacing(leading, '')}\tO\n"]
        inside: Annotation | None = None
        for index, (start, end, breaks) in enumerate(pieces):
            opened = categories.get(start)
            inside = opened or (inside if inside and start < inside.end else None)
            tag = f"{'B' if opened else 'I'}-{inside.category}" if inside else "O"
            last = index + 1 == len(pieces)
            gap = text[end:] if last else text[end : pieces[index + 1][0]]
            # Behind the last token nothing is the default, since a reader can't know of a space there.
            spacing = _spacing(gap, "" if last else "\n" if breaks else " ")
            lines.append(f"{text[start:end]}\t{spacing}\t{tag}\n" + ("\n" if breaks else ""))
        return {".conll": "".join(lines).encode()}


class _Builder:
    """Puts one document together, line by line."""

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""
        self._explicit = False
        self._open: tuple[int, int, str] | None = None
        self._spans: list[Annotation] = []

    def add(self, fields: list[str], place: str) -> None:
        if fields[0] == _DOCUMENT_START and not self._length:
            self._start(fields)
            return
        tag = TAG.fullmatch(fields[-1]) if len(fields) > 1 and fields[0] else None
        if tag is None:
            raise FormatError(
                "expected a token first and a tag last (O or B-LABEL), got another line; correct it",
                document=self.identifier,
                place=place,
            )
        self._append(self._gap)
        start = self._length
        self._append(fields[0])
        self._label(tag[0][0], tag["category"] or "", start)
        self._space(fields[-2] if len(fields) > 2 else "_", " ")

    def end_sentence(self) -> None:
        self._close()
        if self._length and not self._explicit:
            self._gap = "\n"

    def document(self) -> Document:
        self._close()
        if self._explicit:
            self._append(self._gap)
        return Document(self.identifier, "".join(self._parts), tuple(self._spans))

    def _start(self, fields: list[str]) -> None:
        if len(fields) > 1 and fields[1].startswith("id="):
            self.identifier = _unescape(fields[1].removeprefix("id="))
        self._space(fields[-2] if len(fields) == 4 else "_", "")
        self._append(self._gap)
        self._gap, self._explicit = "", False

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _space(self, column: str, default: str) -> None:
        said = _SPACES.search(column)
        self._explicit = said is not None
        self._gap = default if said is None else _unescape(said["spaces"] or "")

    def _label(self, prefix: str, category: str, start: int) -> None:
        goes_on = prefix in "IEL" and self._open is not None and self._open[2] == category
        if not goes_on:
            self._close()
        if prefix != "O":
            first = self._open[0] if goes_on and self._open else start
            self._open = (first, self._length, category)
        if prefix in "ESLU":
            self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._spans.append(Annotation(*self._open))
        self._open = None


def _pieces(document: Document) -> list[tuple[int, int, bool]]:
    """Tokens cut at the edges of spans: start, end, whether a blank line follows.

    Raises:
        AnnotationError: a span begins or ends in white space, which no token covers.
    """
    tokens = tokenise(document.text)
    edges = sorted({edge for span in document.annotations for edge in (span.start, span.end)})
    sentences = tokens.spans[tokens.sentence_starts, 0].tolist()
    crossed = {
        start
        for span in document.annotations
        for start in sentences[bisect_right(sentences, span.start) : bisect_left(sentences, span.end)]
    }
    breaks = set(sentences) - crossed
    cuts: list[tuple[int, int]] = []
    for start, end in tokens.spans.tolist():
        points = [start, *edges[bisect_right(edges, start) : bisect_left(edges, end)], end]
        cuts.extend(pairwise(points))
    starts, ends = {start for start, _ in cuts}, {end for _, end in cuts}
    for span in document.annotations:
        if span.start not in starts or span.end not in ends:
            raise AnnotationError(
                "expected a span that begins and ends at a token, got one with white space at its edge; write JSONL",
                document=document.identifier,
                place=f"characters {span.start}-{span.end}",
            )
        if re.search(r"[\t\r\n]", span.category) or not span.category.strip():
            raise AnnotationError(
                "expected a label without tabs and line ends, got another; map it", document=document.identifier
            )
    following = [start for start, _ in cuts[1:]] + [-1] * bool(cuts)
    return [(start, end, after in breaks) for (start, end), after in zip(cuts, following, strict=True)]


def _spacing(gap: str, default: str) -> str:
    if gap == default:
        return "_"
    return f"SpacesAfter={_escape(gap)}" if gap else "SpaceAfter=No"


def _escape(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def _unescape(text: str) -> str:
    return re.sub(r"\\[\\strnp]", lambda found: _UNESCAPES[found.group()], text)
