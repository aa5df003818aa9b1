"""`site-client deid`: what the pipeline found in notes, handed on in one of the modes of `site_client.deid.registry`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from shared.corpus import rewrite_corpus, write_corpus
from shared.corpus.parsing.format import Format
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.labels import categories_of_names
from shared.pipeline.mentions import with_repeated
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.spans import join_spans
from shared.progress import Progress, silent
from shared.text.references.decoding import decode
from site_client.deid.choices.lists import HospitalLists
from site_client.deid.choices.sameness import said
from site_client.deid.journal import Annotator
from site_client.deid.mode import Mode
from site_client.deid.of_patients import Finding, NotesOfPatients

Repeat: TypeAlias = Callable[[Document], Document]
"""Gives a note with what is annotated in it annotated wherever the note says it again."""
_LEAST_CHARACTERS, _LEAST_DIGITS = 4, 5
_WORD = re.compile(r"[^\W\d_]+|\d+")


@dataclass
class Tally:
    """What was found.

    Args:
        spans: how many of each category.
        labels: how many of them the pipeline did not find whole: the note brought them along as labels.
        unnamed: how many notes are of no patient, where somebody has said whose notes they are.
        telling_ids: how many notes have an id that says what is hidden in their text.
    """

    spans: Counter[str] = field(default_factory=Counter)
    labels: int = 0
    unnamed: int = 0
    telling_ids: int = 0


@dataclass(frozen=True)
class Deidentified:
    """What was written.

    Args:
        documents: how many.
        spans: how many of each category.
        labels: how many of them the pipeline did not find whole: they were labelled in the notes.
        untouched: names of what stands beside the text of the notes and is written as it came.
        rewritten: whether files were written as they came, but for their texts.
        unnamed, telling_ids: as in Tally.
    """

    documents: int
    spans: Mapping[str, int]
    labels: int = 0
    untouched: tuple[str, ...] = ()
    rewritten: bool = False
    unnamed: int = 0
    telling_ids: int = 0


def merge_annotations(predicted: Document, known: Document) -> Document:
    """Both documents' spans, where they overlap as one span: what anybody marked as PHI is hidden."""
    return join_spans(known, predicted.annotations)


def deidentify(
    annotator: Annotator,
    documents: Iterable[Document],
    mode: Mode,
    tally: Tally,
    lists: HospitalLists | None = None,
    patients: NotesOfPatients | None = None,
    repeat: Repeat = with_repeated,
) -> Iterator[Document]:
    """De-identified documents, in order.

    Args:
        annotator: the pipeline of the pulled release.
        documents: notes.
        mode: how they are handed on.
        tally: is filled.
        lists: of the hospital: what is hidden whoever finds it, and what is not.
        patients: of whom a note also hides what their other notes say; None where every note stands alone.
        repeat: finds in a note what it says again; see `repeating`.
    """
    findings = _findings(annotator, documents, mode, repeat)
    for finding in findings if patients is None or not mode.hides else patients.complete(findings):
        own, found = finding.own, finding.found
        if mode.hides and lists:
            own, found = lists.apply(own), lists.apply(found)
        tally.spans.update(span.category for span in found.annotations)
        tally.labels += count_outside(found.annotations, own.annotations)
        tally.unnamed += patients is not None and finding.note.identifier not in patients.patients
        tally.telling_ids += mode.hides and _has_telling_id(found)
        yield replace(mode.turn(found), record=finding.note.record, file=finding.note.file)


def repeating(pipeline: Pipeline) -> Repeat:
    """Finds again what is found or labelled, a person by one word of the name, too, as the pipeline does with what it finds."""
    people = categories_of_names(pipeline.encoder.scheme, "people")
    return partial(with_repeated, people=people, are_public=pipeline.encoder.are_public)


def _findings(annotator: Annotator, documents: Iterable[Document], mode: Mode, repeat: Repeat) -> Iterator[Finding]:
    originals: list[Document] = []

    def remembered() -> Iterator[Document]:
        for document in documents:
            originals.append(document)
            yield document

    for predicted in annotator.annotate(remembered()):
        original = originals.pop(0)
        own = found = repeat(predicted) if mode.hides else predicted
        if mode.hides and original.annotations:
            found = repeat(merge_annotations(predicted, original))
        yield Finding(original, own, found)


def count_outside(spans: Iterable[Annotation], others: Iterable[Annotation]) -> int:
    """How many spans lie within none of the others, which may overlap; a long note has thousands of both."""
    ordered = sorted(others, key=lambda one: one.start)
    starts = [one.start for one in ordered]
    furthest = list(accumulate((one.end for one in ordered), max, initial=0))
    return sum(furthest[bisect_right(starts, span.start)] < span.end for span in spans)


def _has_telling_id(found: Document) -> bool:
    """Whether the id, which is written as it came, has all words of a span, in any order."""
    told = _words(found.identifier)
    covered = (_words(decode(found.covered_text(span)).text) for span in found.annotations)
    return any(words <= told and _is_telling("".join(words)) for words in covered)


def _is_telling(written: str) -> bool:
    """Few letters and digits are the same by chance, and a year alone is in many an id."""
    return len(written) >= (_LEAST_DIGITS if written.isdecimal() else _LEAST_CHARACTERS)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(said(text)))


def without_labels(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents as if nobody had labelled them."""
    for document in documents:
        yield replace(document, annotations=(), labelled=False)


def require_empty(out: Path) -> None:
    """
    Raises:
        ConfigurationError: the folder holds something already, maybe the notes themselves.
    """
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigurationError(f"{out}: expected a new folder, found one with files in it; choose another")


def is_rewritten(source: Format | None, mode: Mode) -> bool:
    """Whether files are written as they came, but for their texts; else each note becomes a file of its own, named after its id."""
    return source is not None and source.keeps_records and mode.hides


@dataclass(frozen=True)
class _Watched:
    """An annotator whose progress is told: what it has done may wait for other notes of the patient before it is written."""

    annotator: Annotator
    progress: Progress
    total: int

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for number, found in enumerate(self.annotator.annotate(documents), start=1):
            yield found
            self.progress("notes", number, self.total)


def write_deidentified(
    annotator: Annotator,
    documents: Iterable[Document],
    out: Path,
    mode: Mode,
    progress: Progress = silent,
    *,
    source: Format | None = None,
    total: int = 0,
    lists: HospitalLists | None = None,
    patients: NotesOfPatients | None = None,
    repeat: Repeat = with_repeated,
    finish: Callable[[], None] | None = None,
) -> Deidentified:
    """Write de-identified notes into a folder: in the format of the mode, or as they came where that keeps records.

    Args:
        annotator: the pipeline of the pulled release.
        documents: notes.
        out: new, or an empty folder.
        mode: how they are handed on.
        progress: takes the notes in which PHI was looked for.
        source: the format of the notes.
        total: how many there are; 0 where nobody has counted.
        lists, patients, repeat: as in `deidentify`.
        finish: is called when all notes are turned, before the folder has its name: what must not be missing beside it is then in place.

    Raises:
        ConfigurationError: the folder holds something already, maybe the notes themselves, or no note is of any of the patients.
    """
    require_empty(out)
    tally = Tally()
    untouched: dict[str, None] = {}
    again = source if is_rewritten(source, mode) else None

    def watched() -> Iterator[Document]:
        turned = 0
        told = _Watched(annotator, progress, total)
        for document in deidentify(told, documents, mode, tally, lists, patients, repeat):
            turned += 1
            if again is not None:
                untouched.update(dict.fromkeys(again.untouched(document)))
            yield document
        if turned and tally.unnamed == turned:
            raise ConfigurationError(
                f"--patients: expected the patients of these notes, got a table that names none of the {turned}; correct its ids"
            )
        if finish is not None:
            finish()

    written = write_corpus(watched(), out, mode.format) if again is None else rewrite_corpus(watched(), again, out)
    return Deidentified(
        written,
        dict(tally.spans),
        tally.labels,
        tuple(untouched),
        again is not None,
        tally.unnamed,
        tally.telling_ids,
    )
