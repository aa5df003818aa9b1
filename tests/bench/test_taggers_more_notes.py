"""What a tagger's errors are, and how many notes a power law of them asks for."""

from __future__ import annotations

import pytest

from bench.taggers.more_notes import KINDS, count_kinds, notes_needed
from shared.document import Annotation, Document

TEXT = "Ana Ruiz lives in Avila since May."


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        ((0, 8, "DOCTOR"), "category"),
        ((0, 3, "PATIENT"), "edge"),
        ((4, 8, "DOCTOR"), "both"),
        (None, "missed"),
        ((9, 14, "CITY"), "false"),
    ],
)
def test_an_error_is_of_one_kind(found: tuple[int, int, str] | None, kind: str) -> None:
    gold = [Annotation(0, 8, "PATIENT"), Annotation(18, 23, "CITY")]
    exact = [one for one in gold if one.category != "PATIENT" or kind == "false"]
    system = [*exact, *([Annotation(*found)] if found else [])]
    counted = count_kinds((Document("1", TEXT, tuple(gold)), Document("1", TEXT, tuple(system))))
    assert counted == {one: int(one == kind) for one in KINDS}


def test_exact_spans_are_no_errors() -> None:
    gold = Document("1", TEXT, (Annotation(0, 8, "PATIENT"),))
    assert not any(count_kinds((gold, gold)).values())


def test_a_power_law_is_continued() -> None:
    assert notes_needed((100, 200, 400), (0.08, 0.04, 0.02), 0.01) == pytest.approx(800)
    assert notes_needed((100, 200), (0.08, 0.08), 0.01) == float("inf")
