"""The samples of Presidio's data generator.

{"full_text", "spans": [{"entity_type", "entity_value", "start_position", "end_position"}]}
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from shared.corpus.formats.records.json_records import JsonRecords, Record, identifier_of
from shared.corpus.formats.records.jsonl import build, refuse_other_spans, spans_of, tag_of
from shared.corpus.parsing.decoding import text_value
from shared.document import AnnotatedText, Document


class Presidio(JsonRecords):
    """JSONL of Presidio; see Format."""

    name = "presidio"
    title = "samples of Presidio's generator (full_text and spans)"
    suffixes: ClassVar[tuple[str, ...]] = (".json", *JsonRecords.suffixes)
    opening: ClassVar[bytes] = b"[\n"
    between: ClassVar[bytes] = b",\n"
    closing: ClassVar[bytes] = b"\n]\n"

    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document; see JsonRecords."""
        text = text_value(record.get("full_text"), "'full_text'", fallback)
        identifier = identifier_of(record, fallback)
        # Its generator writes a tag for each token beside the spans that it is made of.
        refuse_other_spans(record, ("spans", "tags"), identifier)
        items = spans_of(record.get("spans"), identifier)
        tags = [
            tag_of(item, "start_position", "end_position", "entity_type", "entity_value", identifier, index)
            for index, item in enumerate(items)
        ]
        return build(text, tags, identifier, notes)

    def to_record(self, document: Document) -> Record:
        """A document as a record; see JsonRecords."""
        spans = [
            {
                "entity_type": span.category,
                "entity_value": document.covered_text(span),
                "start_position": span.start,
                "end_position": span.end,
            }
            for span in document.annotations
        ]
        return {"sample_id": document.identifier, "full_text": document.text, "masked": None, "spans": spans}
