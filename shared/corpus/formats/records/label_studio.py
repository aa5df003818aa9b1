"""Label Studio's JSON export: an array of tasks.

    {"id", "data": {"text"}, "annotations": [{"result": [
        {"type": "labels", "value": {"start", "end", "labels", "text"}}]}]}

One set of annotations per task: cancelled ones are passed over and counted; two that stand are refused, for nobody can
say which is right. A task where none stands is a note that nobody has labelled. Regions of other kinds that cover text are refused; choices, ratings and relations are passed over
and counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from shared.corpus.formats.records.json_records import JsonRecords, Record, identifier_of
from shared.corpus.formats.records.jsonl import build, refuse_other_spans, spans_of
from shared.corpus.parsing.alignment import Tag
from shared.corpus.parsing.decoding import offset, text_value
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError, FormatError


class LabelStudio(JsonRecords):
    """JSON exported from Label Studio; see Format."""

    name = "labelstudio"
    title = "Label Studio export (tasks with results)"
    suffixes: ClassVar[tuple[str, ...]] = (".json", *JsonRecords.suffixes)
    opening: ClassVar[bytes] = b"[\n"
    between: ClassVar[bytes] = b",\n"
    closing: ClassVar[bytes] = b"\n]\n"

    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document; see JsonRecords."""
        data = record.get("data")
        text = text_value(data.get("text") if isinstance(data, dict) else None, "'text' in 'data'", fallback)
        identifier = identifier_of(record, fallback)
        tags = []
        results = _results(record, identifier, notes)
        for index, region in enumerate(results or []):
            tag = _tag(region, identifier, f"result {index + 1}")
            if tag is None:
                notes["Label Studio results that cover no text (choices, relations), passed over"] += 1
            else:
                tags.append(tag)
        return build(text, tags, identifier, notes, labelled=results is not None)

    def to_record(self, document: Document) -> Record:
        """A document as a record; see JsonRecords."""
        results = [_region(document, span, index) for index, span in enumerate(document.annotations)]
        return {"id": document.identifier, "data": {"text": document.text}, "annotations": [{"result": results}]}


def _results(record: Record, document: str, notes: Counter[str]) -> list[Any] | None:
    """The regions of the annotation that stands; None where none does."""
    standing = []
    key = "annotations" if "annotations" in record else "completions"
    # What a model proposes is no label.
    refuse_other_spans(record, (key, "predictions"), document)
    for item in spans_of(record.get(key), document):
        if not isinstance(item, dict):
            raise FormatError(
                "expected an object for each annotation, got another value; correct it", document=document
            )
        if item.get("was_cancelled"):
            notes["Label Studio annotations that were cancelled, passed over"] += 1
        else:
            standing.append(item)
    if len(standing) > 1:
        raise AnnotationError(
            f"expected one annotator's result for each task, got {len(standing)}; keep one", document=document
        )
    return spans_of(standing[0].get("result"), document) if standing else None


def _tag(region: object, document: str, place: str) -> Tag | None:
    if not isinstance(region, dict):
        raise FormatError(
            "expected an object for each result, got another value; correct it", document=document, place=place
        )
    value = region.get("value")
    if not isinstance(value, dict) or not {"start", "end"} & value.keys():
        return None
    labels = value.get("labels")
    if region.get("type") != "labels" or not isinstance(labels, list) or len(labels) != 1:
        raise AnnotationError(
            "expected a region of type 'labels' with one label, got another; correct it", document=document, place=place
        )
    quoted = value.get("text")
    return Tag(
        offset(value.get("start"), document, place),
        offset(value.get("end"), document, place),
        text_value(labels[0], "the label", document, place),
        None if quoted is None else text_value(quoted, "'text'", document, place),
        region["id"] if isinstance(region.get("id"), str) else "",
    )


def _region(document: Document, span: Annotation, index: int) -> Record:
    return {
        "id": span.identifier or f"r{index + 1}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {"start": span.start, "end": span.end, "text": document.covered_text(span), "labels": [span.category]},
    }
