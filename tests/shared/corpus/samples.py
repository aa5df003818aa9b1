"""Documents made by code, for every test of notes in and out. All names are invented."""

from __future__ import annotations

from hypothesis import strategies as st

from shared.corpus.escapes import find_escapes
from shared.document import Annotation, Document

FILE_PER_NOTE = ("i2b2_2014", "meddocan", "brat")
FILE_OF_MANY = ("i2b2_2006", "conll", "jsonl", "presidio", "doccano", "labelstudio")
ANNOTATED = FILE_PER_NOTE + FILE_OF_MANY
ENDINGS = {"i2b2_2006": ".xml", "conll": ".conll", "presidio": ".json", "labelstudio": ".json"}

_PIECES = (
    "Brunhilda",
    "Quillfeather",
    "12/03/2019",
    "e\u0301clair",
    "👩‍⚕️",
    "😀",
    "שלום",
    "مريم",
    "\r\n",
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "]]>",
    "<PHI>",
    "&amp;",
    '"',
    "'",
    ".",
    ",",
    "\u00a0",
    "\u2028",
    "\u0085",
    "\ufeff",
    "-DOCSTART-",
    "# text",
    "\\n",
    "|",
    "{",
    "]",
    "T1",
    "O",
    "</RECORD>",
    "<RECORD ",
    "d:03t:",
)
_CATEGORIES = ("PATIENT", "LOCATION-OTHER", "FECHAS", "Außenstelle", "A_B")

# What is refused has tests of its own.
texts = st.lists(st.sampled_from(_PIECES), max_size=14).map("".join).filter(lambda text: find_escapes(text) is None)


@st.composite
def documents(draw: st.DrawFn, edges_are_words: bool = False, annotated: bool = True) -> Document:
    """A document with any text; spans anywhere, or only between characters that belong to words."""
    text = draw(texts)
    positions = draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)) if annotated else []
    positions.sort()
    spans = []
    for start, end in zip(positions[::2], positions[1::2], strict=False):
        if edges_are_words and not (text[start].isalnum() and text[end - 1].isalnum()):
            continue
        spans.append(Annotation(start, end, draw(st.sampled_from(_CATEGORIES))))
    return Document("note", text, tuple(spans))


def note(identifier: str, *pieces: str | tuple[str, str]) -> Document:
    """A document from plain strings and (text, category) pairs."""
    text, spans = "", []
    for piece in pieces:
        surface, category = (piece, "") if isinstance(piece, str) else piece
        if category:
            spans.append(Annotation(len(text), len(text) + len(surface), category))
        text += surface
    return Document(identifier, text, tuple(spans))


NOTES = (
    note("a-1", "Seen by ", ("Brunhilda Quillfeather", "DOCTOR"), " on ", ("12/03/2019", "DATE"), ".\n"),
    note("a-2", "No name here.\n"),
    note("a-3"),
    note("a-4", ("Ermenegild", "PATIENT"), ("Oxenthorpe", "DOCTOR"), "\r\n😀 ", ("عمر", "PATIENT")),
)


def essence(document: Document) -> tuple[str, str, list[tuple[int, int, str]]]:
    """What every format keeps."""
    return document.identifier, document.text, [(span.start, span.end, span.category) for span in document.annotations]
