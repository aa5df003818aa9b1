"""How evaluation reads: any answer that can be scored is scored, so spans may overlap, repeat or be empty.

By default a file is read as everywhere else: its offsets are held against the text that they quote, converted where
another counting explains them, and refused where none does or where they lie outside the text.

The official scripts look at nothing of this, and `OFFICIAL_READERS` read as they do:

- Offsets stand for code points of the text as an XML parser or, for brat, Python's universal line ends give it, whatever
  the text quoted beside them. They may lie outside the text, or end before they start.
- A byte order mark of a brat text is its first character.
- XML elements of other names than the PHI track's are passed over; the element's name counts besides the TYPE.
- Lines of an .ann that name no label and two offsets are passed over.

Refused all the same, because two readers may differ over it: offsets not written as plain numbers ("07", "+7"), tags
without a TYPE, elements or comments inside the text, files of one id.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

from shared.corpus.formats.brat import Brat
from shared.corpus.formats.tagged_xml import TaggedXml
from shared.corpus.parsing.decoding import decode_utf8
from shared.corpus.parsing.format import Entry, Format, only_part
from shared.corpus.parsing.safe_xml import new_parser, run_parser
from shared.document import AnnotatedText, Annotation
from shared.errors import AnnotationError, EvaluationError, FormatError
from shared.evaluation.spans import TaggedAnnotation

# PHITag.tag_types of both scripts, in their order.
_ELEMENTS = ("PHI", "NAME", "PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID", "OTHER")
_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def within_text(found: AnnotatedText) -> AnnotatedText:
    """What was read, if its spans lie inside its text.

    Raises:
        AnnotationError: one does not.
    """
    for span in found.annotations:
        if not 0 <= span.start <= span.end <= len(found.text):
            raise AnnotationError(
                f"expected a span inside the {len(found.text)} characters of the text, got another; correct its offsets",
                document=found.identifier,
                place=f"characters {span.start}-{span.end}",
            )
    return found


def as_it_stands(found: AnnotatedText) -> AnnotatedText:
    """What was read, wherever its spans lie: the official scripts do not look."""
    return found


class _OfficialXml(TaggedXml):
    """`StandoffAnnotation.parse_text_and_tags` of i2b2, `i2b2Annotation` of MEDDOCAN."""

    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        root = _element_tree(only_part(entry), entry.identifier)
        text, tags = root.find("TEXT"), root.find("TAGS")
        if text is None or tags is None or len(text):
            raise FormatError(
                "expected a TEXT element that holds text alone and a TAGS element, got others; correct the file",
                document=entry.identifier,
            )
        spans = tuple(_tagged(tag, entry.identifier) for name in _ELEMENTS for tag in tags.findall(name))
        if others := sum(tag.tag not in _ELEMENTS for tag in tags):
            notes["XML elements outside the PHI track, passed over"] += others
        return AnnotatedText(entry.identifier, text.text or "", spans)


class _OfficialBrat(Brat):
    """`BratAnnotation` of MEDDOCAN."""

    def parse(self, entry: Entry, notes: Counter[str]) -> AnnotatedText:
        self.require_both(entry)
        text, lines = (_as_python_opens(entry.parts[suffix], entry.identifier) for suffix in self.suffixes)
        spans = []
        for number, line in enumerate(lines.split("\n"), start=1):
            fields = line.strip().split("\t")
            if not fields[0].startswith("T"):
                continue
            span = fields[1].split() if len(fields) > 1 else []
            if len(span) < 3:
                notes["brat lines without a label and two offsets, passed over"] += 1
                continue
            place = f"line {number} of the .ann"
            start, end = (_offset(value, entry.identifier, place) for value in span[1:3])
            spans.append(Annotation(start, end, span[0]))
        return AnnotatedText(entry.identifier, text, tuple(spans))


OFFICIAL_READERS: Mapping[str, Format] = MappingProxyType(
    {
        "i2b2_2014": _OfficialXml("i2b2_2014", "i2b2 2014 XML", "deIdi2b2"),
        "meddocan": _OfficialXml("meddocan", "MEDDOCAN XML", "MEDDOCAN"),
        "brat": _OfficialBrat(),
    }
)


def sentence_files(folder: Path) -> Callable[[AnnotatedText], int]:
    """Sentences as MEDDOCAN gives them: one file for each note, ID.ann, with one line for each sentence.

    Returns:
        A count of sentences for `evaluate_meddocan`; it raises EvaluationError for a note without a file.
    """

    def count(document: AnnotatedText) -> int:
        try:
            with (folder / f"{document.identifier}.ann").open(encoding="utf-8", errors="replace") as lines:
                return sum(1 for _ in lines)
        except OSError as error:
            raise EvaluationError(
                f"{document.identifier}: expected its sentences in {document.identifier}.ann of the folder given, "
                f"which can't be read ({error.strerror}); add the file, or leave the folder out"
            ) from None

    return count


def _element_tree(data: bytes, document: str) -> ElementTree.Element:
    builder = ElementTree.TreeBuilder(insert_comments=True, insert_pis=True)
    parser = new_parser(data, document)
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.CommentHandler = builder.comment
    parser.ProcessingInstructionHandler = builder.pi
    run_parser(parser, data, document)
    return builder.close()


def _tagged(tag: ElementTree.Element, document: str) -> TaggedAnnotation:
    start, end = (_offset(tag.get(edge, ""), document, f"a {tag.tag} tag") for edge in ("start", "end"))
    category = tag.get("TYPE")
    if not category:
        raise AnnotationError(
            "expected a TYPE on the tag, got none; add it", document=document, place=f"characters {start}-{end}"
        )
    return TaggedAnnotation(start, end, category, element=tag.tag)


def _offset(value: str, document: str, place: str) -> int:
    if not _PLAIN_NUMBER.fullmatch(value):
        raise FormatError(
            "expected an offset that is a plain whole number, got something else; correct it",
            document=document,
            place=place,
        )
    return int(value)


def _as_python_opens(data: bytes, document: str) -> str:
    """A file as `open(name).read()` gives it where UTF-8 is the default."""
    mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
    return mark + decode_utf8(data, document).replace("\r\n", "\n").replace("\r", "\n")
