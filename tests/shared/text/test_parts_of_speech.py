from __future__ import annotations

import numpy as np
import pytest

from shared.text.parts_of_speech import LANGUAGES, PARTS, parts_of_speech


def tagged(sentences: list[str], language: str) -> list[str]:
    words = [sentence.split() for sentence in sentences]
    starts = np.cumsum([0, *map(len, words)])[:-1]
    found = parts_of_speech([word for sentence in words for word in sentence], starts, language)
    return [PARTS[number] for number in found.tolist()]


@pytest.mark.parametrize(
    ("language", "sentence", "parts"),
    [
        (
            "English",
            "The patient was seen by Dr. Smith on 12/3 and denies severe pain .",
            "DET NOUN AUX VERB ADP PROPN PROPN ADP NUM CCONJ VERB ADJ NOUN PUNCT",
        ),
        ("English", "She will return quickly to walk 5 miles", "PRON AUX VERB ADV ADP VERB NUM NOUN"),
        ("English", "Dose > 20 mg of B12", "NOUN SYM NUM NOUN ADP X"),
        (
            "Spanish",
            "El paciente acude a Madrid por una lesión dolorosa .",
            "DET NOUN VERB ADP PROPN ADP DET NOUN ADJ PUNCT",
        ),
        ("Spanish", "Se prescribe tratamiento y mejoró rápidamente", "PRON VERB NOUN CCONJ VERB ADV"),
    ],
)
def test_sentences_have_the_parts_that_a_reader_gives_them(language: str, sentence: str, parts: str) -> None:
    assert tagged([sentence], language) == parts.split()


def test_a_capital_that_begins_a_sentence_is_no_name_and_no_sentence_knows_another() -> None:
    assert tagged(["Ampolla grande", "Ampolla grande"], "Spanish") == ["NOUN", "NOUN"] * 2
    assert tagged(["la Ampolla"], "Spanish") == ["DET", "PROPN"]
    # "to" at the end of one sentence makes no verb of what begins the next.
    assert tagged(["went to", "walk"], "English")[2] == "NOUN"


def test_without_a_language_both_are_read_and_every_part_fits_the_one_hot_of_the_paper() -> None:
    assert LANGUAGES[0] == ""
    assert tagged(["the el dolor", "admitted"], "") == ["DET", "DET", "NOUN", "VERB"]
    assert len(PARTS) <= 20
    assert parts_of_speech([], np.zeros(0, dtype=np.int64)).tolist() == []
