"""i2b2 2014 XML and MEDDOCAN XML: one file a note, the text in CDATA, spans as elements with offsets.

    <deIdi2b2><TEXT><![CDATA[...]]></TEXT><TAGS><NAME id= start= end= text= TYPE= comment=/></TAGS></deIdi2b2>

The category is the TYPE; the element name is derived from it when writing. The text is what the XML standard says it
is: line ends normalised to LF. Where the offsets only fit the text with its carriage returns, the text is read with
them. A note without TAGS is refused rather than taken for one without PHI.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar
from xml.parsers import expat

from shared.corpus.parsing.alignment import COUNTINGS, Tag, align, mismatch
from shared.corpus.parsing.decoding import offset
from shared.corpus.parsing.format import Entry, Format, only_part
from shared.corpus.parsing.safe_xml import cdata, new_parser, quote, require_xml_text, run_parser
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError, FormatError

_ELEMENT_TYPES = {
    "NAME": "PATIENT DOCTOR USERNAME NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO",
    "PROFESSION": "PROFESSION PROFESION",
    "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION LOCATION-OTHER "
    "CENTRO_SALUD INSTITUCION CALLE TERRITORIO PAIS",
    "AGE": "AGE EDAD_SUJETO_ASISTENCIA",
    "DATE": "DATE FECHAS",
    "CONTACT": "PHONE FAX EMAIL URL IPADDR IPADDRESS NUMERO_TELEFONO NUMERO_FAX CORREO_ELECTRONICO URL_WEB "
    "DIREC_PROT_INTERNET",
    "ID": "ID SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM ID_SUJETO_ASISTENCIA "
    "ID_ASEGURAMIENTO "
    "ID_CONTACTO_ASISTENCIAL ID_EMPLEO_PERSONAL_SANITARIO ID_TITULACION_PERSONAL_SANITARIO IDENTIF_BIOMETRICOS "
    "IDENTIF_DISPOSITIVOS_NRSERIE IDENTIF_VEHICULOS_NRSERIE_PLACAS NUMERO_BENEF_PLAN_SALUD OTRO_NUMERO_IDENTIF",
}
_ELEMENT_OF = {category: element for element, types in _ELEMENT_TYPES.items() for category in types.split()}
_OTHER = "OTHER"


class TaggedXml(Format):
    """The two dialects differ in the root element alone."""

    suffixes: ClassVar[tuple[str, ...]] = (".xml",)

    def __init__(self, name: str, title: str, root: str) -> None:
        self.name = name
        self.title = title
        self.root = root

    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        """Read one record; see Format."""
        identifier, data = entry.identifier, only_part(entry)
        walk = _Walk(self.root, identifier)
        walk.run(data)
        returns = b"\r" in data
        if returns and any(tag.surface is None for tag in walk.tags):
            problem = "expected text attributes, for without them carriage returns may count or not; add them"
            raise AnnotationError(problem, document=identifier)
        document = _fit("".join(walk.text), walk.tags, identifier, notes)
        if document is None and returns:
            document = _fit(_text_with_returns(self.root, data, identifier), walk.tags, identifier, notes)
        if document is None:
            raise mismatch("".join(walk.text), walk.tags, identifier)
        return document

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        require_xml_text(document.text, document.identifier)
        lines = [
            '<?xml version="1.0" encoding="UTF-8" ?>',
            f"<{self.root}>",
            f"<TEXT>{cdata(document.text)}</TEXT>",
            "<TAGS>",
            *(_element(document, index, span) for index, span in enumerate(document.annotations)),
            "</TAGS>",
            f"</{self.root}>",
            "",
        ]
        return {".xml": "\n".join(lines).encode()}


def _element(document: Document, index: int, span: Annotation) -> str:
    require_xml_text(span.category + span.identifier + span.comment, document.identifier)
    return (
        f"<{_ELEMENT_OF.get(span.category, _OTHER)} id={quote(span.identifier or f'P{index}')}"
        f' start="{span.start}" end="{span.end}" text={quote(document.covered_text(span))}'
        f" TYPE={quote(span.category)} comment={quote(span.comment)} />"
    )


class _Walk:
    """One pass of expat over one note: fills `text` and `tags`."""

    def __init__(self, root: str, document: str) -> None:
        self.root = root
        self.document = document
        self.text: list[str] = []
        self.tags: list[Tag] = []
        self._depth = 0
        self._section = ""
        self._seen: list[str] = []

    def run(self, data: bytes) -> None:
        self._parser: expat.XMLParserType = new_parser(data, self.document)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._stray
        try:
            run_parser(self._parser, data, self.document)
        finally:
            del self._parser  # Its handlers point back here; a cycle would keep each note until the next collection.
        if self._seen != ["TEXT", "TAGS"]:
            raise FormatError(
                "expected one TEXT and then one TAGS element, got other sections; correct the file",
                document=self.document,
            )

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 3 and self._section == "TAGS":
            self.tags.append(self._tag(attributes))
        elif self._depth == 2 and element in ("TEXT", "TAGS"):
            self._section = element
            self._seen.append(element)
            if element == "TEXT":
                self._parser.CharacterDataHandler = self.text.append
        elif self._depth != 1 or element != self.root:
            raise FormatError(
                f"expected <{self.root}> with TEXT and TAGS, got another element; correct the file or name its format",
                document=self.document,
                place=f"line {self._parser.CurrentLineNumber}",
            )

    def _end(self, element: str) -> None:
        self._depth -= 1
        if self._depth == 1:
            self._section = ""
            self._parser.CharacterDataHandler = self._stray

    def _stray(self, data: str) -> None:
        if not data.isspace():
            raise FormatError(
                "expected text inside TEXT only, got text elsewhere; move it",
                document=self.document,
                place=f"line {self._parser.CurrentLineNumber}",
            )

    def _tag(self, attributes: dict[str, str]) -> Tag:
        start, end, category = attributes.get("start", ""), attributes.get("end", ""), attributes.get("TYPE", "")
        digits = start + end
        # Nearly every tag passes this at once; only for the others is it worth finding out what is wrong, and where.
        if not (start and end and category and len(digits) <= 18 and digits.isascii() and digits.isdigit()):
            self._examine(attributes)
        return Tag(
            int(start),
            int(end),
            category,
            attributes.get("text"),
            attributes.get("id", ""),
            attributes.get("comment", ""),
        )

    def _examine(self, attributes: dict[str, str]) -> None:
        """Returns if a tag has a category and offsets."""
        place = f"tag {len(self.tags) + 1}"
        if not attributes.get("TYPE"):
            raise AnnotationError("expected a TYPE on the tag, got none; add it", document=self.document, place=place)
        for name in ("start", "end"):
            offset(attributes.get(name), self.document, place)


def _fit(text: str, tags: list[Tag], identifier: str, notes: Counter[str]) -> AnnotatedText | None:
    annotations = align(text, tags, COUNTINGS, notes)
    return None if annotations is None else AnnotatedText(identifier, text, annotations)


def _text_with_returns(root: str, data: bytes, identifier: str) -> str:
    """The text with the carriage returns that the parser would have normalised away."""
    stand_in = next(chr(point) for point in range(0xE000, 0xF8FF) if chr(point).encode() not in data)
    head, mark, rest = data.partition(b"<TEXT>")
    body, end_mark, tail = rest.rpartition(b"</TEXT>")
    walk = _Walk(root, identifier)
    walk.run(head + mark + body.replace(b"\r", stand_in.encode()) + end_mark + tail)
    return "".join(walk.text).replace(stand_in, "\r")
