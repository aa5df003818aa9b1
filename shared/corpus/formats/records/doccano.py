"""Doccano's export of sequence labels: {"id", "text", "label": [[start, end, "LABEL"]]}.

The list may also be called "labels", and newer exports give "entities" as objects with start_offset and end_offset.
None quotes the text that it covers, so a wrong offset shows only where it leaves the text, or where another counting has words and this one
parts of words. We write objects, with that text, for notes in which tools count differently.
"""

from __future__ import annotations

from collections import Counter

from shared.corpus.formats.records.json_records import JsonRecords, Record, identifier_of
from shared.corpus.formats.records.jsonl import build, refuse_other_spans, spans_of, tag_of
from shared.corpus.parsing.alignment import Tag, is_counted_alike
from shared.corpus.parsing.decoding import offset, text_value
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import FormatError

LABEL_KEYS = ("label", "labels", "entities")


class Doccano(JsonRecords):
    """JSONL of Doccano; see Format."""

    name = "doccano"
    title = "Doccano export (text and label triples)"

    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document; see JsonRecords."""
        text = text_value(record.get("text", record.get("data")), "'text'", fallback)
        identifier = identifier_of(record, fallback)
        keys = [key for key in LABEL_KEYS if key in record]
        if len(keys) != 1:
            raise FormatError(
                f"expected one of {', '.join(LABEL_KEYS)}, got {len(keys)} of them; correct the record",
                document=identifier,
            )
        if record.get("annotations") is not None:
            raise FormatError(
                f"expected spans under '{keys[0]}' alone, got 'annotations' beside; leave the list that holds",
                document=identifier,
            )
        refuse_other_spans(record, (keys[0],), identifier)
        items = spans_of(record[keys[0]], identifier)
        return build(text, [_tag(item, identifier, index) for index, item in enumerate(items)], identifier, notes)

    def to_record(self, document: Document) -> Record:
        """A document as a record; see JsonRecords."""
        known = {"id": document.identifier, "text": document.text}
        if is_counted_alike(document.text):
            return {**known, "label": [[span.start, span.end, span.category] for span in document.annotations]}
        return {**known, "entities": [_entity(document, span) for span in document.annotations]}


def _entity(document: Document, span: Annotation) -> Record:
    places = {"start_offset": span.start, "end_offset": span.end}
    return {**places, "label": span.category, "text": document.covered_text(span)}


def _tag(item: object, document: str, index: int) -> Tag:
    if isinstance(item, dict):
        return tag_of(item, "start_offset", "end_offset", "label", "text", document, index)
    place = f"span {index + 1}"
    if not isinstance(item, list) or len(item) != 3:
        raise FormatError(
            "expected [start, end, label] for each span, got another value; correct it", document=document, place=place
        )
    return Tag(
        offset(item[0], document, place),
        offset(item[1], document, place),
        text_value(item[2], "the label", document, place),
    )
