"""`site-client deid`: what the pipeline found, as annotations, or hidden behind the names of their categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from shared.corpus import write_corpus
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.pipeline.pipeline import Pipeline
from shared.progress import Progress, silent

MODES = ("tag", "redact")


def redacted(document: Document) -> Document:
    """The document with every annotated span replaced by its category in brackets, and no annotations.

    The replacement is built from left to right over sorted, disjoint spans, which `Document` guarantees, so no part of a
    span can slip through between two replacements.
    """
    pieces: list[str] = []
    position = 0
    for span in document.annotations:
        pieces += [document.text[position : span.start], f"[{span.category}]"]
        position = span.end
    pieces.append(document.text[position:])
    return Document(document.identifier, "".join(pieces))


def merged(predicted: Document, known: Document) -> Document:
    """Both documents' spans, where they touch one another as one span: what anybody marked as PHI is hidden."""
    spans: list[Annotation] = []
    for span in sorted([*predicted.annotations, *known.annotations]):
        if spans and span.start < spans[-1].end:
            last = spans[-1]
            spans[-1] = Annotation(last.start, max(last.end, span.end), last.category)
        else:
            spans.append(span)
    return Document(known.identifier, known.text, tuple(spans))


def deidentify(
    pipeline: Pipeline, documents: Iterable[Document], mode: str, counts: dict[str, int]
) -> Iterator[Document]:
    """De-identified documents, in order.

    Args:
        pipeline: of the pulled release.
        documents: notes; annotations that they bring along are hidden too when redacting.
        mode: one of MODES.
        counts: is filled with the number of spans of each category.
    """
    originals: list[Document] = []

    def remembered() -> Iterator[Document]:
        for document in documents:
            originals.append(document)
            yield document

    for predicted in pipeline.annotate(remembered()):
        original = originals.pop(0)
        hidden = merged(predicted, original) if mode == "redact" else predicted
        for span in hidden.annotations:
            counts[span.category] = counts.get(span.category, 0) + 1
        yield redacted(hidden) if mode == "redact" else hidden


def write_deidentified(
    pipeline: Pipeline, documents: Iterable[Document], out: Path, mode: str, progress: Progress = silent
) -> tuple[int, dict[str, int]]:
    """Write de-identified notes into a folder: brat for tags, plain text for redacted notes.

    Returns:
        documents written, and spans of each category.

    Raises:
        ConfigurationError: the folder holds something already, maybe the notes themselves.
    """
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigurationError(f"{out}: expected a new folder, found one with files in it; choose another")
    counts: dict[str, int] = {}

    def watched() -> Iterator[Document]:
        for number, document in enumerate(deidentify(pipeline, documents, mode, counts), start=1):
            yield document
            progress("notes", number, 0)

    written = write_corpus(watched(), out, "brat" if mode == "tag" else "txt")
    return written, counts
