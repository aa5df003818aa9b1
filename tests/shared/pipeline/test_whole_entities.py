"""What was found in part is widened to its whole, and to no more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.pipeline.whole_entities import WholeEntities
from tests.site_client.deid.notes import annotated

WORDS = frozenset("reports saw patient hospital and".split())


def are_public(words: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([word.lower() in WORDS for word in words], dtype=np.bool_)


WHOLE = WholeEntities(frozenset({"P"}), frozenset({"H"}), frozenset({"T"}), are_public)


def widened(text: str, category: str) -> list[str]:
    """The spans of a text in which brackets say what was found, widened."""
    plain, spans, start = "", [], 0
    for sign in text:
        if sign == "[":
            start = len(plain)
        elif sign == "]":
            spans.append(Annotation(start, len(plain), category))
        else:
            plain += sign
    found = WHOLE.widen(Document("n", plain, tuple(spans)))
    return [found.covered_text(span) for span in found.annotations]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("seen by J. [Quillfeather]", ["J. Quillfeather"]),
        ("seen by J.R. [Quillfeather]", ["J.R. Quillfeather"]),
        ("Pt: [Anselm] K., aged", ["Anselm K."]),
        ("[Anselm] K. Quillfeather came", ["Anselm K. Quillfeather"]),
        ("[Anselm] K. [Quillfeather] came", ["Anselm K. Quillfeather"]),
        ("Anselm [Quillfeather] came", ["Anselm Quillfeather"]),
        ("[Anselm] Quillfeather came", ["Anselm Quillfeather"]),
        ("QUILLFEATHER, [ANSELM] came", ["QUILLFEATHER, ANSELM"]),
        ("[Quillfeather],Anselm came", ["Quillfeather,Anselm"]),
        ("Anselm de la [Torre] came", ["Anselm de la Torre"]),
        ("[Quill]-Feather came", ["Quill-Feather"]),
        ("[Quillfeather], M.D. came", ["Quillfeather"]),
        ("[Quillfeather], J.K. came", ["Quillfeather, J.K."]),
        ("[Quillfeather] J. K. came", ["Quillfeather J. K."]),
        ("[Anselm] J. K. Quillfeather came", ["Anselm J. K. Quillfeather"]),
        ("[Anselm] DeQuill came", ["Anselm DeQuill"]),
        ("[Anselm] O’Quill came", ["Anselm O’Quill"]),
        ("[Anselm] EtOH came", ["Anselm"]),
        ("seen by J.\xa0[Quillfeather]", ["J.\xa0Quillfeather"]),
        ("[Anselm]\xa0Quillfeather came", ["Anselm\xa0Quillfeather"]),
        ("[Quill]\u2011Feather came", ["Quill\u2011Feather"]),
        (f"{'was seen ' * 7}by [Anselm]\nQuillfeather today", ["Anselm\nQuillfeather"]),
        (f"{'was seen ' * 7}by [Anselm]\nPlan: rest", ["Anselm"]),
        ("seen by [Anselm]\nQuillfeather today", ["Anselm"]),
        ("Patient [Quillfeather] Reports pain", ["Quillfeather"]),
        ("Dr [Quillfeather], MD", ["Quillfeather"]),
        ("by [Linh] Do today", ["Linh Do"]),
        ("with Don [Quillfeather] today", ["Don Quillfeather"]),
        ("Md [Quillfeather] came", ["Md Quillfeather"]),
        ("by [Quillfeather] DO today", ["Quillfeather"]),
        ("[Quillfeather] has vitamin C. He", ["Quillfeather"]),
        ("[Quillfeather].\nSaw her", ["Quillfeather"]),
        ("[Quillfeather] came and [Anselm] left", ["Quillfeather", "Anselm"]),
    ],
)
def test_names_of_people(text: str, whole: list[str]) -> None:
    assert widened(text, "P") == whole


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("at [Larkspur] General.", ["Larkspur General"]),
        ("at [Larkspur] Family Medicine.", ["Larkspur Family Medicine"]),
        ("for [Larkspur], [Quill] and [Feather].", ["Larkspur, Quill and Feather"]),
        ("at St. [Osyth] today", ["St. Osyth"]),
        ("University of [Larkspur] today", ["University of Larkspur"]),
        ("at [Larkspur] today", ["Larkspur"]),
        ("at [Larkspur]. [Osyth] is near", ["Larkspur", "Osyth"]),
    ],
)
def test_institutions(text: str, whole: list[str]) -> None:
    assert widened(text, "H") == whole


def test_towns() -> None:
    assert widened("in East [Larkspur], LOWER [OSYTH] or [Quill]", "T") == ["East Larkspur", "LOWER OSYTH", "Quill"]


def test_of_other_categories_nothing_is_widened() -> None:
    assert widened("J. [Quillfeather] General, East [Larkspur]", "X") == ["Quillfeather", "Larkspur"]


@given(annotated())
def test_what_was_found_stays_found(document: Document) -> None:
    for category in ("P", "H", "T"):
        named = tuple(Annotation(span.start, span.end, category) for span in document.annotations)
        found = WHOLE.widen(Document("n", document.text, named))
        for span in named:
            assert any(one.start <= span.start and span.end <= one.end for one in found.annotations)
