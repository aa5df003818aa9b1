"""Surrogates of a note take time that grows with the note alone: counted in calls of functions, of a note and of one twice as long."""

from __future__ import annotations

import datetime
import sys
from types import FrameType

import pytest

from shared.document import Annotation, Document
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings


def _calls(spans: list[str], category: str) -> int:
    """Under a key, so that the same is drawn, and the same counted, each time."""
    text, annotations, count = "", [], 0
    for span in spans:
        annotations.append(Annotation(len(text), len(text) + len(span), category))
        text += span + " | "

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    surrogates = Surrogates(SurrogateSettings(language="English"), key=bytes(32), today=datetime.date(2024, 5, 1))
    # What is loaded or computed once for all notes is no part of it.
    surrogates.replace(Document("warm", spans[0], (Annotation(0, len(spans[0]), category),)))
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        surrogates.replace(Document("n", text, tuple(annotations)))
    finally:
        sys.setprofile(before)
    return count


def _names(count: int) -> list[str]:
    return ["Q" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) for number in range(count)]


def _days(count: int) -> list[str]:
    first = datetime.date(1990, 1, 1)
    return [str(first + datetime.timedelta(days=3 * number)) for number in range(count)]


@pytest.mark.parametrize(
    ("category", "one", "twice"),
    [
        pytest.param("DATE", _days(150), _days(300), id="dates"),
        # More than there are in the list that they are drawn from.
        pytest.param("PATIENT", _names(900), _names(1800), id="names"),
        *(
            pytest.param(category, [unit * 100], [unit * 200], id=f"{category} {unit.strip()}")
            for category in ("AGE", "DATE")
            for unit in ("1/", "12 ", "1:05 ", "1 year ", "Mon 2019 ", "1-")
        ),
        *(
            pytest.param(category, [unit * 100], [unit * 200], id=f"{category} {unit.strip()}")
            for category, unit in (
                ("PATIENT", "Ann Lee "),
                ("STREET", "po box "),
                ("CITY", "1 a, "),
                ("PHONE", "1 "),
                ("HOSPITAL", "St "),
            )
        ),
    ],
)
def test_twice_the_note_takes_twice_the_calls(category: str, one: list[str], twice: list[str]) -> None:
    assert _calls(twice, category) < 2.6 * _calls(one, category)
