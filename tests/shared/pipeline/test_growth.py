"""What reads a note takes time that grows with the note alone: counted in lines that run, for a note and for one twice as long."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.last_word import STEPS, LastWord, LastWordSettings
from shared.pipeline.mentions import nobody_knows
from shared.text.tokens import tokenise

LAST_WORD = LastWord(load_scheme("i2b2_2014"), LastWordSettings("English", STEPS), nobody_knows)


def lines(read: Callable[[str], object], text: str) -> int:
    count = 0

    def seen(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return seen

    # What is loaded or computed once for all notes is no part of it.
    read(text[:40])
    before = sys.gettrace()
    sys.settrace(seen)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count


def completed(text: str) -> object:
    """Every word found."""
    spans, start = [], 0
    for word in text.split(" "):
        if word:
            spans.append(Annotation(start, start + len(word), "PATIENT"))
        start += len(word) + 1
    return LAST_WORD.complete(Document("n", text, tuple(spans)))


@pytest.mark.parametrize(
    ("read", "unit"),
    [(tokenise, unit) for unit in ('") ', ". ", "Dr. ", "a\\n", "1. ")]
    + [(completed, unit) for unit in ("Smith ", "J. ", "Smith, ", "de ", "12:30 ", "Smith-")],
)
def test_twice_the_note_takes_twice_the_steps(read: Callable[[str], object], unit: str) -> None:
    assert lines(read, unit * 800) < 2.6 * lines(read, unit * 400)
