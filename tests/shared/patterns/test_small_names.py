"""Names in small letters, found by what lists of names have and dictionaries have not."""

from __future__ import annotations

import numpy as np
import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.patterns.small_names import SmallNames
from shared.pipeline.last_word import LastWord, LastWordSettings

I2B2 = load_scheme("i2b2_2014")


def found(text: str, language: str | None = "English", scheme: str = "i2b2_2014") -> list[str]:
    return [text[one.start : one.end] for one in SmallNames(load_scheme(scheme), language).find(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f/u suarez 2/1 or prn", ["suarez"]),
        ("pmd = randhawa (fields clinic)", ["randhawa"]),
        ("d/w andrade-cadena, jiménez_", ["andrade", "cadena", "jiménez"]),
        # Words of the language, of clinical notes and of anatomy; names that are written as names are the tagger's.
        ("rose from chair, long walk, at the carina, no gerd, brady", []),
        ("Suarez and SUAREZ", []),
        # Parts of words, and short ones.
        ("suarez2 xsuarez diaz0 ng", []),
        ("", []),
    ],
)
def test_who_is_called_so_and_nothing_else(text: str, names: list[str]) -> None:
    assert found(text) == names


def test_words_of_another_language_are_names_unless_nobody_knows_the_language() -> None:
    # "rubio" is fair hair in Spanish, and a surname in the United States.
    assert found("pcp rubio") == ["rubio"]
    assert found("pcp rubio", "Spanish", "meddocan") == found("pcp rubio", None) == []


def complete(text: str, *spans: Annotation) -> list[tuple[str, str]]:
    last = LastWord(I2B2, LastWordSettings("English", ("patterns",)), lambda words: np.ones(len(words), dtype=np.bool_))
    return [(text[one.start : one.end], one.category) for one in last.complete(Document("n", text, spans)).annotations]


def test_the_last_word_adds_them_where_nothing_was_found() -> None:
    text = "pcp suarez, seen with randhawa"
    doctor = Annotation(4, 10, "DOCTOR", confidence=0.6)
    assert complete(text, doctor) == [("suarez", "DOCTOR"), ("randhawa", "PATIENT")]
    # A span that holds it, or a part of it, says what it is.
    assert complete(text, Annotation(0, 10, "DOCTOR", confidence=0.6))[0] == ("pcp suarez", "DOCTOR")


def test_what_things_are_called_after_is_no_name() -> None:
    assert complete("foley in, allis clamps; suarez") == [("suarez", "PATIENT")]
