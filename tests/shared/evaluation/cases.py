"""Documents for the tests of this folder: short texts in several scripts, with invented names."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from shared.document import AnnotatedText, Annotation, Document

# A blank, punctuation, letters within and outside ASCII, a digit, an ideograph and a combining accent.
ALPHABET = "aZ3é漢 ,_.\n\u0301"
CATEGORIES = ("PATIENT", "DOCTOR", "CITY", "HOSPITAL", "DATE", "AGE", "IDNUM", "SSN", "PHONE", "PROFESSION", "OTHER")


def document(text: str, *spans: tuple[int, int, str], identifier: str = "110-01") -> Document:
    return Document(identifier, text, tuple(Annotation(*span) for span in spans))


@st.composite
def spans_of(draw: st.DrawFn, text: str, categories: tuple[str, ...] = CATEGORIES) -> tuple[Annotation, ...]:
    """Spans that don't overlap, in any order; some touch each other."""
    if not text:
        return ()
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=10)))
    spans = []
    for start, end in pairwise(cuts):
        if draw(st.booleans()):
            spans.append(Annotation(start, end, draw(st.sampled_from(categories))))
    return tuple(draw(st.permutations(spans)))


@st.composite
def pairs(
    draw: st.DrawFn, alphabet: str = ALPHABET, categories: tuple[str, ...] = CATEGORIES
) -> list[tuple[Document, Document]]:
    """One to four pairs; the system repeats about half of the gold spans, some with another end or type."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(st.text(alphabet, max_size=24))
        gold = Document(f"{number}-01", text, draw(spans_of(text, categories)))
        system: list[Annotation] = []
        for span in (*gold.annotations, *draw(spans_of(text, categories))):
            end = min(len(text), max(span.start + 1, span.end + draw(st.sampled_from((0, 0, 0, -2, -1, 1, 2, 3)))))
            category = draw(st.sampled_from((span.category, span.category, *categories)))
            if draw(st.booleans()) and all(end <= other.start or other.end <= span.start for other in system):
                system.append(Annotation(span.start, end, category))
        made.append((gold, Document(gold.identifier, text, tuple(system))))
    return made


@st.composite
def overlapping_pairs(
    draw: st.DrawFn, alphabet: str = ALPHABET, categories: tuple[str, ...] = CATEGORIES
) -> list[tuple[AnnotatedText, AnnotatedText]]:
    """One to three pairs of spans in any order: crossing, nested, doubled, empty, many from one start."""
    made = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(st.text(alphabet, max_size=12))
        # Few starts and types, so that many spans of the two sides have them in common.
        span = st.tuples(st.integers(0, len(text)), st.integers(0, 9), st.sampled_from(categories[:4]))
        sides = []
        for _ in range(2):
            spans = draw(st.lists(span, max_size=9))
            fitting = (Annotation(start, min(start + size, len(text)), category) for start, size, category in spans)
            sides.append(AnnotatedText(f"{number}-01", text, tuple(fitting)))
        made.append((sides[0], sides[1]))
    return made
