"""A corpus as a stream of documents: each is checked before it is handed on, and none is lost in silence."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from foundation.printable import escape_unprintable
from foundation.reading import real_path
from shared.corpus.checks import check_document, is_presentable
from shared.corpus.detect import Detection, detect, stray_error
from shared.corpus.formats.registry import make_format
from shared.corpus.parsing.compressed_files import map_reading_errors, read_bytes
from shared.corpus.parsing.decoding import ENCODINGS
from shared.corpus.parsing.format import Entry, Format, stem_of, suffix_of
from shared.corpus.parsing.safe_xml import without_declared_encoding
from shared.corpus.parts import Part
from shared.corpus.quarantine import Quarantine
from shared.corpus.report import Report
from shared.document import AnnotatedText, Document
from shared.errors import AnnotationError, ConfigurationError, CorpusError, FormatError, LabelError
from shared.labels import name_label

_HASH_BYTES = 8

Note = TypeVar("Note", bound=AnnotatedText)


class Corpus:
    """Documents of one path; every `for` reads them anew, one in memory at a time.

    Args:
        detection: files and format.
        text_column: where the text stands, in CSV and plain JSONL.
        quarantine: where bad documents go; None: the first one raises.
        categories: the labels that may occur; None: any.
        readers: what reads a format in the place of its own reader, by the format's name.
        labelled: whether a note that nobody has labelled is a bad one; else it is one without annotations.
        encoding: of notes that are no UTF-8, one of ENCODINGS.
        part: of the notes, the ones to hand on; None for all.

    Attributes:
        seen: notes of all parts that the pass has come by, good ones and bad ones.
        set_aside: numbers of those of this part that are in the quarantine.
        order: digest of the records of a table, in their order, once it was read to its end; "" where each note has files of its own.
        format: name of the format.
        detected: a sentence for people on what was found and why.
        report: counts of the pass that runs or ran last.
        reader: the format itself.
    """

    def __init__(
        self,
        detection: Detection,
        *,
        text_column: str = "text",
        quarantine: Quarantine | None = None,
        categories: frozenset[str] | None = None,
        readers: Mapping[str, Format] | None = None,
        labelled: bool = False,
        encoding: str = ENCODINGS[0],
        part: Part | None = None,
    ) -> None:
        self.part = part
        self.seen = 0
        self.set_aside: list[int] = []
        self.order = ""
        self.format = detection.format
        self.detected = detection.why
        self.report = Report()
        self._detection = detection
        self.reader = (readers or {}).get(detection.format) or make_format(detection.format, text_column, encoding)
        self._quarantine = quarantine
        self._categories = categories
        self._labelled = labelled
        self._encoding = encoding

    def __iter__(self) -> Iterator[Document]:
        return self.documents(verify_document)

    def documents(self, accept: Callable[[AnnotatedText], Note]) -> Iterator[Note]:
        """The documents on other terms than `verify_document`.

        Args:
            accept: makes of a document that was read the one that is handed on; its CorpusError refuses it.
        """
        report = self.report = Report()
        if self._detection.passed_over:
            report.notes["files of another kind, passed over"] = self._detection.passed_over
        seen: set[int] = set()
        self.seen, self.set_aside, self.order = 0, [], ""
        order = hashlib.sha256()
        for number, file, entry in self._numbered():
            self.seen = max(self.seen, number + 1)
            if entry is None:
                continue
            document, problem = self._accept(entry, accept, seen, report)
            # By what it holds: without an id of its own a row is called by its number.
            held = {"": entry.content} if entry.content else entry.parts
            for suffix, data in sorted(held.items()):
                order.update(f"{suffix} {len(data)} ".encode() + data)
            order.update(b"\n")
            if self.part is not None and not self.part.holds(number):
                # It was read for its id alone, which no other note may have.
                continue
            if document is not None:
                report.read += 1
                yield document if document.record is None else replace(document, file=file)
            elif problem is not None:
                self._set_aside(file, entry, problem, report)
                self.set_aside.append(number)
        self.order = order.hexdigest() if self.reader.many else ""
        if not self.seen:
            raise FormatError(
                "expected at least one document, got an empty file; check the path", document=self._detection.names[0]
            )

    @property
    def listing(self) -> tuple[tuple[str, int], ...]:
        """The files, each with its size: two passes that found the same files read the same notes."""
        folder = self._detection.folder
        found = (*self._detection.names, *self._detection.stray)
        with map_reading_errors(folder):
            return tuple((name, (folder / name).stat().st_size) for name in found)

    def count(self) -> int:
        """How many notes there are, good and bad, in a pass that reads files of many notes and trusts nothing of them."""
        names = self._detection.names
        if self.reader.many:
            return sum(1 for _ in self._entries())
        return len({name.rpartition(".")[0] for name in names}) + len(self._detection.stray)

    def _numbered(self) -> Iterator[tuple[int, str, Entry | None]]:
        """Every record with its number and its file; None in the place of one that is read by another part and has a file of its own."""
        if self.part is None or self.reader.many:
            yield from ((number, name, entry) for number, (name, entry) in enumerate(self._entries()))
            return
        names = self._detection.names
        # A note may have two files, which do not lie side by side where one name begins like another.
        stems = {stem: number for number, stem in enumerate(dict.fromkeys(map(_without_suffix, names)))}
        strays = len(stems)
        for name in names:
            number = stems[_without_suffix(name)]
            if not self.part.holds(number):
                yield number, name, None
                continue
            yield from ((number, name, entry) for _, entry in self._entries_of((name,)))
        for number, name in enumerate(self._detection.stray, start=strays):
            held = self.part.holds(number)
            yield number, name, self._stray(name) if held else None

    def _stray(self, name: str) -> Entry:
        data = read_bytes(self._detection.folder / name)
        return Entry(stem_of(name), name, {suffix_of(name): data}, stray_error((name,)))

    def _entries(self) -> Iterator[tuple[str, Entry]]:
        """Every record, with the file that it stands in."""
        yield from ((name, self._stray(name)) for name in self._detection.stray)
        yield from self._entries_of(self._detection.names)

    def _entries_of(self, names: Iterable[str]) -> Iterator[tuple[str, Entry]]:
        for name in names:
            folder = name.rpartition("/")[0]
            for entry in self._cut(self._detection.folder / name):
                yield name, replace(entry, place=f"{folder}/{entry.place}") if folder else entry

    def _cut(self, file: Path) -> Iterator[Entry]:
        number = 0
        try:
            for entry in self.reader.entries(file):
                number += 1
                yield entry
        except CorpusError as error:
            rest = f"behind record {number}"
            yield Entry(stem_of(file.name), f"{file.name}, rest of file {rest}", {}, error, rest=rest)

    def _accept(
        self, entry: Entry, accept: Callable[[AnnotatedText], Note], seen: set[int], report: Report
    ) -> tuple[Note | None, CorpusError | None]:
        try:
            if entry.damage is not None:
                raise entry.damage
            document = accept(self.reader.parse(self._decoded(entry, report), report.notes))
            self._check(document)
            key = int.from_bytes(hashlib.blake2b(document.identifier.encode(), digest_size=_HASH_BYTES).digest(), "big")
            if key in seen:
                raise FormatError(
                    "expected each id once, got it a second time; rename one", document=document.identifier
                )
        except CorpusError as error:
            return None, _located(error, entry)
        seen.add(key)
        return document, None

    def _decoded(self, entry: Entry, report: Report) -> Entry:
        if self._encoding == ENCODINGS[0] or not self.reader.is_text:
            return entry
        parts = {suffix: self._in_utf8(suffix, data) for suffix, data in entry.parts.items()}
        if parts == entry.parts:
            return entry
        report.notes[f"notes that are no UTF-8, read as {self._encoding}"] += 1
        return replace(entry, parts=parts)

    def _in_utf8(self, suffix: str, data: bytes) -> bytes:
        converted = self.reader.in_utf8(data, self._encoding)
        return without_declared_encoding(converted) if suffix == ".xml" and converted != data else converted

    def _check(self, document: AnnotatedText) -> None:
        check_document(document)
        if self._labelled and not document.labelled:
            raise AnnotationError(
                "expected labels, got a note that nobody has labelled; label it (an empty list of annotations says no PHI)",
                document=document.identifier,
            )
        if self._categories is None:
            return
        for span in document.annotations:
            if span.category not in self._categories:
                raise LabelError(
                    f"expected a label of the scheme, got {name_label(span.category)}; map it to one of the scheme's",
                    document=document.identifier,
                    place=f"characters {span.start}-{span.end}",
                )

    def _set_aside(self, name: str, entry: Entry, problem: CorpusError, report: Report) -> None:
        if self._quarantine is None:
            raise problem
        if not entry.parts:
            # What can't be cut off goes with the whole, as it lies on the disk: a damaged gzip file can't be read to its end.
            file = self._detection.folder / name
            with map_reading_errors(file):
                entry = replace(entry, parts={suffix_of(name): file.read_bytes()})
        self._quarantine.add(entry, problem, problem.document)
        if entry.rest:
            report.notes[f"rest of file {entry.rest}, an unknown number of notes, set aside as one"] += 1
        report.quarantined += 1
        report.reasons[type(problem).__name__] += 1


def verify_document(found: AnnotatedText) -> Document:
    """A document of what was read.

    Raises:
        AnnotationError: a span is empty, outside the text, or overlaps another.
    """
    return (
        found
        if isinstance(found, Document)
        else Document(found.identifier, found.text, found.annotations, found.labelled)
    )


def read_corpus(
    path: Path,
    *,
    format: str = "auto",
    text_column: str = "text",
    quarantine: Path | None = None,
    categories: frozenset[str] | None = None,
    readers: Mapping[str, Format] | None = None,
    labelled: bool = False,
    encoding: str = ENCODINGS[0],
    part: Part | None = None,
) -> Corpus:
    """Open a corpus; the documents come when it is iterated.

    Args:
        path: a file, a folder of notes, or a folder of such folders.
        format: one of `FORMAT_NAMES`, or "auto".
        text_column: where the text stands, in CSV and plain JSONL.
        quarantine: a folder for bad documents; without it the first one raises.
        categories: the labels that may occur; None: any.
        readers, labelled, encoding, part: as in `Corpus`.

    Raises:
        FormatError: now, when the path holds nothing readable; in the pass, for a damaged document.
        AnnotationError: in the pass, for spans that do not fit, or for none where there must be labels.
        LabelError: in the pass, for a label outside `categories`.
        StorageError: a file can't be read, or the quarantine can't be written.
        ConfigurationError: no such format, or the quarantine is the corpus.
    """
    path = Path(path)
    if quarantine is not None and real_path(quarantine) == real_path(path):
        raise ConfigurationError("expected a quarantine apart from the corpus, got the same folder; name another")
    detection = detect(path, format, text_column, quarantine)
    if detection.stray and quarantine is None:
        raise stray_error(detection.stray)
    aside = Quarantine(quarantine, path) if quarantine is not None else None
    return Corpus(
        detection,
        text_column=text_column,
        quarantine=aside,
        categories=categories,
        readers=readers,
        labelled=labelled,
        encoding=encoding,
        part=part,
    )


def _without_suffix(name: str) -> str:
    folder, slash, file = name.rpartition("/")
    return folder + slash + stem_of(file)


def _located(error: CorpusError, entry: Entry) -> CorpusError:
    """The same error with the place of its record, on one line, and without the frames that held the note."""
    document = error.document if is_presentable(error.document) else escape_unprintable(entry.identifier)
    parts = (entry.place.removeprefix(f"{document}, "), error.place)
    place = ", ".join(escape_unprintable(part) for part in parts if part and part != document)
    located = type(error)(escape_unprintable(error.problem), document=document, place=place)
    located.__cause__ = error.__cause__
    return located
