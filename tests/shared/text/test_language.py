"""Languages are told by short words: never a wrong one for a whole note of the corpora, and hardly ever none."""

from __future__ import annotations

import pytest

from shared.corpus import read_corpus
from shared.text.language import guess_language, guess_vocabulary, known_languages
from tests.data import corpus

GERMAN = (
    "Die Patientin wurde am Montag von der Ärztin untersucht und klagte über Schmerzen in der Brust. Es gab keine "
    "Auffälligkeiten bei der Untersuchung, und sie wird nach einer Woche wieder vorgestellt."
)
SPANISH = (
    "La paciente fue vista el lunes por la médica y se quejaba de dolor en el pecho. No había hallazgos en la "
    "exploración, y se cita de nuevo a la consulta en una semana con los resultados."
)


@pytest.mark.parametrize(
    ("text", "language"), [(GERMAN, "German"), (SPANISH, "Spanish"), ("", None), ("Hb 12,3 g/dl " * 20, None)]
)
def test_a_text_and_what_is_none(text: str, language: str | None) -> None:
    assert guess_language([text]) == language
    assert guess_language([text.upper()]) == language


def test_a_vocabulary_is_told_by_its_commonest_words() -> None:
    assert guess_vocabulary(list(dict.fromkeys(SPANISH.lower().split()))) is None
    spanish = "el la los las de del y que en un una con por para se su sus al es fue no lo como más pero sin sobre entre".split()
    assert guess_vocabulary([*spanish, "dolor", "the", "of"]) == "Spanish"
    assert guess_vocabulary([*(f"word{number}" for number in range(1000)), *spanish]) is None
    assert guess_vocabulary([]) is None


def test_what_is_guessed_is_a_language_that_is_known() -> None:
    assert list(known_languages()) == sorted(known_languages())
    assert {"English", "German", "Spanish"} <= set(known_languages())


@pytest.mark.parametrize(
    ("path", "language"), [("meddocan/train/brat", "Spanish"), ("en_sites/site_a/test", "English")]
)
def test_whole_notes_of_the_corpora(path: str, language: str) -> None:
    found = [guess_language([note.text]) for note in read_corpus(corpus(path))]
    assert set(found) <= {language, None}
    assert found.count(language) >= 0.98 * len(found)
