"""A corpus as a stream of documents: each is checked before it is handed on, and none is lost in silence."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from shared.corpus.checks import check_document, escape_unprintable, is_presentable
from shared.corpus.detect import Detection, detect
from shared.corpus.formats.registry import make_format
from shared.corpus.parsing.format import Entry, Format, stem_of
from shared.corpus.quarantine import Quarantine
from shared.corpus.report import Report
from shared.document import AnnotatedText, Document
from shared.errors import AnnotationError, ConfigurationError, CorpusError, FormatError, LabelError

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

    Attributes:
        format: name of the format.
        detected: a sentence for people on what was found and why.
        report: counts of the pass that runs or ran last.
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
    ) -> None:
        self.format = detection.format
        self.detected = detection.why
        self.report = Report()
        self._detection = detection
        self._reader = (readers or {}).get(detection.format) or make_format(detection.format, text_column)
        self._quarantine = quarantine
        self._categories = categories
        self._labelled = labelled

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
        for entry in self._entries():
            document, problem = self._accept(entry, accept, seen, report)
            if document is not None:
                report.read += 1
                yield document
            elif problem is not None:
                self._set_aside(entry, problem, report)
        if not report.read and not report.quarantined:
            raise FormatError(
                "expected at least one document, got an empty file; check the path", document=self._detection.names[0]
            )

    def _entries(self) -> Iterator[Entry]:
        for name in self._detection.names:
            folder = name.rpartition("/")[0]
            for entry in self._cut(self._detection.folder / name):
                yield replace(entry, place=f"{folder}/{entry.place}") if folder else entry

    def _cut(self, file: Path) -> Iterator[Entry]:
        try:
            yield from self._reader.entries(file)
        except CorpusError as error:
            yield Entry(stem_of(file.name), f"{file.name}, from there on", {}, error)

    def _accept(
        self, entry: Entry, accept: Callable[[AnnotatedText], Note], seen: set[int], report: Report
    ) -> tuple[Note | None, CorpusError | None]:
        try:
            if entry.damage is not None:
                raise entry.damage
            document = accept(self._reader.parse(entry, report.notes))
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
                    f"expected a label of the scheme, got '{span.category}'; map it to one of the scheme's",
                    document=document.identifier,
                    place=f"characters {span.start}-{span.end}",
                )

    def _set_aside(self, entry: Entry, problem: CorpusError, report: Report) -> None:
        if self._quarantine is None:
            raise problem
        self._quarantine.add(entry, problem, problem.document)
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
) -> Corpus:
    """Open a corpus; the documents come when it is iterated.

    Args:
        path: a file, a folder of notes, or a folder of such folders.
        format: one of `FORMAT_NAMES`, or "auto".
        text_column: where the text stands, in CSV and plain JSONL.
        quarantine: a folder for bad documents; without it the first one raises.
        categories: the labels that may occur; None: any.
        readers, labelled: as in `Corpus`.

    Raises:
        FormatError: now, when the path holds nothing readable; in the pass, for a damaged document.
        AnnotationError: in the pass, for spans that do not fit, or for none where there must be labels.
        LabelError: in the pass, for a label outside `categories`.
        StorageError: a file can't be read, or the quarantine can't be written.
        ConfigurationError: no such format, or the quarantine is the corpus.
    """
    path = Path(path)
    if quarantine is not None and quarantine.resolve() == path.resolve():
        raise ConfigurationError("expected a quarantine apart from the corpus, got the same folder; name another")
    detection = detect(path, format, text_column, quarantine)
    aside = Quarantine(quarantine, path) if quarantine is not None else None
    return Corpus(
        detection,
        text_column=text_column,
        quarantine=aside,
        categories=categories,
        readers=readers,
        labelled=labelled,
    )


def _located(error: CorpusError, entry: Entry) -> CorpusError:
    """The same error with the place of its record, on one line, and without the frames that held the note."""
    document = error.document if is_presentable(error.document) else escape_unprintable(entry.identifier)
    place = ", ".join(escape_unprintable(part) for part in (entry.place, error.place) if part and part != document)
    located = type(error)(escape_unprintable(error.problem), document=document, place=place)
    located.__cause__ = error.__cause__
    return located
