"""FHIR R4 and R5 resources, one a line (NDJSON): the text of a DocumentReference or a DiagnosticReport. Labelled by nobody.

The note is the attachment of plain text (base64) in `content` or `presentedForm`, or the `conclusion` of a report without
one. Other attachments are other forms of the same document, as FHIR has it: they are counted and passed over. An address in
the place of the text is refused, for nothing here fetches.

Written are the fields that name nobody: type, status and codes, each only where it is one of a public list, since any text may stand there;
and the id as it came, so that results can be joined. Subject, authors, dates, narrative and whatever else a resource may hold stay behind, so
that what was hidden in the text does not stand beside it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import IO, Any, ClassVar

from shared.corpus.formats.records.json_records import JsonRecords, Record, identifier_of
from shared.corpus.parsing.decoding import as_utf8, decode_utf8
from shared.document import AnnotatedText, Document
from shared.errors import ConfigurationError, FormatError

# Where each resource keeps its attachments, and its text where it has none.
RESOURCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"DocumentReference": ("content", ""), "DiagnosticReport": ("presentedForm", "conclusion")}
)
_CODES = ("type", "category", "code")
_REPORTED = frozenset(
    "registered partial preliminary modified final amended corrected appended cancelled entered-in-error unknown".split()
)
_COMPOSED = frozenset(
    "registered partial preliminary final amended corrected appended cancelled entered-in-error deprecated unknown".split()
)
# The words of R4 and R5 (value sets document-reference-status, composition-status and diagnostic-report-status).
_STATES: Mapping[str, Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "DocumentReference": {
            "status": frozenset(("current", "superseded", "entered-in-error")),
            "docStatus": _COMPOSED,
        },
        "DiagnosticReport": {"status": _REPORTED},
    }
)
_LOINC = re.compile(r"(?:L[AGLP])?[0-9]{1,7}-[0-9]")
_SNOMED = re.compile(r"[0-9]{6,18}")
_SECTIONS = re.compile(
    "AU|BG|BLB|CG|CH|CP|CT|CTH|CUS|EC|EN|GE|HM|ICU|IMM|LAB|MB|MCB|MYC|NMR|NMS|NRS|OSL|OTH?|OUS|PAR|PAT|PF|PHR|PHY|PT|RAD|RC|RRS|RT|RUS|RX|SP|SR|TX"
    "|URN|VR|VUS|XRC"
)
# What codes of public lists look like. Codes of other lists, of a hospital or of anybody, may be any text.
_SYSTEMS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "http://loinc.org": _LOINC,
        "urn:oid:2.16.840.1.113883.6.1": _LOINC,
        "http://snomed.info/sct": _SNOMED,
        "urn:oid:2.16.840.1.113883.6.96": _SNOMED,
        "http://terminology.hl7.org/CodeSystem/v2-0074": _SECTIONS,
        "http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category": re.compile("clinical-note"),
    }
)
_UTF8 = ("", "utf-8", "utf8", "us-ascii", "ascii")


class Fhir(JsonRecords):
    """FHIR resources with a note; see Format."""

    name = "fhir"
    title = "FHIR NDJSON, a DocumentReference or DiagnosticReport a line"
    keeps_records: ClassVar[bool] = True

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def from_record(self, record: Record, fallback: str, notes: Counter[str]) -> AnnotatedText:
        """A parsed record as a document; see JsonRecords."""
        kind = record.get("resourceType")
        if not isinstance(kind, str) or kind not in RESOURCES:
            raise FormatError(f"expected {' or '.join(RESOURCES)}, got another resource; move it", document=fallback)
        attachments, plain = RESOURCES[kind]
        text, content_type = self._text(record, attachments, plain, fallback, notes)
        kept: Record = {"resourceType": kind}
        kept |= {"id": record["id"]} if isinstance(record.get("id"), str) else {}
        kept |= {key: record[key] for key, words in _STATES[kind].items() if _is_of(record.get(key), words)}
        kept |= {key: codes for key in _CODES if (codes := _codes(record.get(key)))}
        return Document(identifier_of(record, fallback), text, labelled=False, record=(kept, content_type))

    def to_record(self, document: Document) -> Record:
        """A document as a record; see JsonRecords."""
        raise ConfigurationError("expected notes that came as FHIR, got others; choose another format to write")

    def rewrite(self, documents: Iterable[Document], stream: IO[bytes]) -> None:
        """Write the documents of one file; see Format."""
        for document in documents:
            kept, content_type = document.record
            attachments, plain = RESOURCES[kept["resourceType"]]
            if content_type:
                data = base64.b64encode(document.text.encode()).decode("ascii")
                attachment = {"contentType": "text/plain; charset=utf-8", "data": data}
                content = [{"attachment": attachment}] if attachments == "content" else [attachment]
                filled = {**kept, attachments: content}
            else:
                filled = {**kept, plain: document.text}
            stream.write(json.dumps(filled, ensure_ascii=False).encode() + b"\n")

    def untouched(self, document: Document) -> list[str]:
        """The id; see Format."""
        return ["id"] if "id" in document.record[0] else []

    def _text(
        self, record: Record, attachments: str, plain: str, document: str, notes: Counter[str]
    ) -> tuple[str, str]:
        """The note, and the type of the attachment that holds it, "" where none does."""
        given = record.get(attachments) or []
        if not isinstance(given, list):
            raise FormatError(
                f"expected a list under '{attachments}', got another value; correct it", document=document
            )
        found = [_attachment(item, attachments, document) for item in given]
        texts = [one for one in found if one[0].partition(";")[0].strip().lower() == "text/plain"]
        if len(texts) > 1:
            raise FormatError(
                f"expected one attachment of plain text, got {len(texts)}; make a resource of each", document=document
            )
        notes["FHIR attachments in other forms than plain text, passed over"] += len(found) - len(texts)
        own = record.get(plain) if plain else None
        if not texts and isinstance(own, str):
            return own, ""
        if not texts:
            raise FormatError(
                "expected an attachment of type text/plain, got none; export the notes as plain text", document=document
            )
        if isinstance(own, str):
            notes["FHIR conclusions beside a report of plain text, passed over"] += 1
        content_type, data = texts[0]
        if not isinstance(data, str):
            raise FormatError(
                "expected the text as base64 in the attachment, got none or an address; export it with its data",
                document=document,
            )
        try:
            raw = base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            raw = None
        if raw is None:
            raise FormatError("expected base64 in the attachment, got something else; correct it", document=document)
        return decode_utf8(as_utf8(raw, self._charset(content_type, document)), document), content_type

    def _charset(self, content_type: str, document: str) -> str:
        """What the attachment says that it is in, or what the notes were said to be in."""
        parameters = [part.strip().lower() for part in content_type.split(";")[1:]]
        stated = next((part[8:].strip('"') for part in parameters if part.startswith("charset=")), "")
        if stated in _UTF8:
            return self._encoding
        if stated in ("windows-1252", "iso-8859-1", "iso-8859-15"):
            return stated
        raise FormatError(
            "expected text in UTF-8, Windows-1252 or ISO 8859-1, got another charset; export it as UTF-8",
            document=document,
        )


def _attachment(item: object, where: str, document: str) -> tuple[str, Any]:
    found = item.get("attachment") if where == "content" and isinstance(item, dict) else item
    if not isinstance(found, dict) or not isinstance(found.get("contentType", ""), str):
        raise FormatError(f"expected attachments under '{where}', got another value; correct it", document=document)
    return found.get("contentType", ""), found.get("data")


def _is_of(given: object, words: frozenset[str]) -> bool:
    return isinstance(given, str) and given in words


def _codes(given: object) -> object:
    """Codes of public lists, without the words beside them, which anybody may have typed; None where there are none."""
    if isinstance(given, list):
        # A list within the list is none of FHIR.
        return [codes for one in given if not isinstance(one, list) and (codes := _codes(one))] or None
    coding = given.get("coding") if isinstance(given, dict) else None
    if not isinstance(coding, list):
        return None
    kept = [{"system": one["system"], "code": one["code"]} for one in coding if _is_public(one)]
    return {"coding": kept} if kept else None


def _is_public(coding: object) -> bool:
    system, code = (coding.get("system"), coding.get("code")) if isinstance(coding, dict) else (None, None)
    shape = _SYSTEMS.get(system) if isinstance(system, str) else None
    return shape is not None and isinstance(code, str) and shape.fullmatch(code) is not None
