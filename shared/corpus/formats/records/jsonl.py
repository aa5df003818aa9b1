"""Our own JSON Lines: {"id", "text", "annotations": [{"start", "end", "category"}]}.

A span may also carry "id", "comment" and "text" (what it covers, which is then checked). An empty list of annotations
says that there is no PHI; a record without the list is a note that nobody has labelled, unless it carries spans under a
name of another tool: that is refused, as is, in every format, a record with two lists of spans.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from shared.corpus.formats.records.json_records import JsonRecords, Record, identifier_of
from shared.corpus.parsing.alignment import COUNTINGS, Tag, align, is_counted_alike, mismatch
from shared.corpus.parsing.decoding import kind_of, offset, text_value
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError, FormatError

_OWN = "annotations"
_OTHER_TOOLS = ("annotation", "completions", "spans", "label", "labels", "entities", "tags", "predictions", "result")


class PlainJsonl(JsonRecords):
    """Our own JSONL; see Format."""

    name = "jsonl"
    title = "JSON Lines with id, text and annotations"

    def __init__(self, text_column: str = "text") -> None:
        self.text_column = text_column

    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document; see JsonRecords."""
        text = text_value(record.get(self.text_column), f"'{self.text_column}'", fallback)
        identifier = identifier_of(record, fallback)
        items = record.get(_OWN)
        if items is not None:
            refuse_other_spans(record, (_OWN,), identifier)
        else:
            foreign = [key for key in _OTHER_TOOLS if key in record]
            if foreign:
                raise FormatError(
                    f"expected 'annotations', got '{foreign[0]}', which this format does not know; name the format",
                    document=identifier,
                )
        return build(
            text,
            [
                _tag(item, identifier, index)
                for index, item in enumerate([] if items is None else spans_of(items, identifier))
            ],
            identifier,
            notes,
            labelled=items is not None,
        )

    def to_record(self, document: Document) -> Record:
        """A document as a record; see JsonRecords."""
        return {
            "id": document.identifier,
            self.text_column: document.text,
            "annotations": [_item(document, span) for span in document.annotations],
        }


def spans_of(value: object, document: str) -> list[Any]:
    """A list, or a clear error."""
    if isinstance(value, list):
        return value
    raise FormatError(f"expected a list of spans, got {kind_of(value)}; correct it", document=document)


def refuse_other_spans(record: Record, own: tuple[str, ...], document: str) -> None:
    """Nothing may stand where another tool has its spans: that list may hold what ours lacks.

    Args:
        record: the parsed object.
        own: where the format has its spans, and what may stand beside them.
        document: for the error.

    Raises:
        FormatError: something does.
    """
    for key in (_OWN, *_OTHER_TOOLS):
        if key not in own and record.get(key) and isinstance(record[key], (list, dict)):
            raise FormatError(
                f"expected spans under '{own[0]}' alone, got '{key}' beside; leave the list that holds",
                document=document,
            )


def tag_of(item: object, start: str, end: str, category: str, surface: str, document: str, index: int) -> Tag:
    """A span that is an object; the four names say where its start, end, label and quoted text stand."""
    place = f"span {index + 1}"
    if not isinstance(item, dict):
        raise FormatError(
            "expected an object for each span, got another value; correct it", document=document, place=place
        )
    label = text_value(item.get(category), f"'{category}'", document, place)
    quoted = item.get(surface)
    return Tag(
        offset(item.get(start), document, place),
        offset(item.get(end), document, place),
        label,
        None if quoted is None else text_value(quoted, f"'{surface}'", document, place),
        *(value if isinstance(value, str) else "" for value in (item.get("id"), item.get("comment"))),
    )


def build(text: str, tags: list[Tag], identifier: str, notes: Counter[str], *, labelled: bool = True) -> AnnotatedText:
    """A document of tags that are seen to fit their text.

    Raises:
        AnnotationError: they do not.
    """
    for index, tag in enumerate(tags):
        if not tag.category.strip():
            raise AnnotationError(
                "expected a label on the span, got an empty one; add it", document=identifier, place=f"span {index + 1}"
            )
    annotations = align(text, tags, COUNTINGS, notes)
    if annotations is None:
        raise mismatch(text, tags, identifier)
    return AnnotatedText(identifier, text, annotations, labelled)


def _tag(item: object, document: str, index: int) -> Tag:
    return tag_of(item, "start", "end", "category", "text", document, index)


def _item(document: Document, span: Annotation) -> Record:
    item: Record = {"start": span.start, "end": span.end, "category": span.category}
    quoted = "" if is_counted_alike(document.text) else document.covered_text(span)
    known = (("id", span.identifier), ("comment", span.comment), ("text", quoted))
    return item | {key: value for key, value in known if value}
