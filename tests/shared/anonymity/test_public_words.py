"""Public words: common words of public text, never what looks like a name or a number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.public_words import PublicRule, WordUse
from shared.errors import ConfigurationError
from shared.sentences.tokenised import TokenisedSentences

WORDS = ("the", "came", "ada", "rosa", "12", "b12", "/", "rare", "stone", "mri")


def use() -> WordUse:
    counted = WordUse(WORDS)
    for _ in range(6):
        counted.add_labelled(
            TokenisedSentences(
                ["The", "Ada", "came", "12", "/", "b12", "Stone"],
                np.array([0, 0, 0, 0, 0, 0, 1], dtype=np.uint8),
                np.array([7]),
            )
        )
    counted.add_texts(["the rosa came . " * 9 + "the Rosa came . rare stone MRI MRI MRI MRI MRI MRI"])
    return counted


def public(rule: PublicRule, names: frozenset[str] = frozenset()) -> set[str]:
    return {word for word, shown in zip(WORDS, use().find_public(rule, names), strict=True) if shown}


def test_what_is_common_is_public_but_for_numbers() -> None:
    assert public(PublicRule()) == {"the", "came", "ada", "rosa", "/", "mri"}


def test_a_listed_name_must_hardly_ever_have_a_capital() -> None:
    names = frozenset({"Ada", "ROSÁ", "stone"})
    assert public(PublicRule(), names) == {"the", "came", "rosa", "/", "mri"}
    assert "rosa" not in public(PublicRule(capitalised_share=0.05), names)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Paciente garcía ingresado. ", True),
        ("Paciente García ingresado. ", False),
        # Headings and whole notes are written in capitals: they do not tell a name from a word.
        ("Paciente GARCÍA ingresado. ", False),
        ("PACIENTE GARCÍA INGRESADO. ", False),
        # Nor does the start of a sentence or a line.
        ("García ingresa hoy. ", False),
        ("GARCÍA\n", False),
        ("García ingresa hoy.\nVisto: garcía. ", True),
    ],
)
def test_a_listed_name_is_public_only_where_it_is_seen_to_be_a_word(text: str, shown: bool) -> None:
    counted = WordUse(("garcía",))
    counted.add_texts([text] * 6)
    assert counted.find_public(PublicRule(), frozenset({"Garcia"})).tolist() == [shown]


def test_a_word_at_the_start_of_a_sentence_is_not_thought_a_name() -> None:
    counted = WordUse(("go",))
    counted.add_texts(["Go. Go. Go. Go. Go. Go."])
    assert counted.find_public(PublicRule())[0]


def test_occurrences_as_phi_do_not_count() -> None:
    assert "stone" not in public(PublicRule(least=2))
    assert "stone" in public(PublicRule(least=1))


@pytest.mark.parametrize(
    "bad",
    [{"least": 0}, {"capitalised_share": 1.1}, {"capitalised_share": -0.1}, {"phi_share": 1.01}, {"phi_share": -0.1}],
)
def test_thresholds_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        PublicRule(**bad)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.sampled_from(["ada", "Ada", "stone", "the"]), st.booleans()), min_size=1, max_size=60))
def test_what_labelled_notes_too_often_call_phi_is_not_public(tokens: list[tuple[str, bool]]) -> None:
    counted = WordUse(("ada", "stone", "the", "/"))
    tags = np.array([phi for _, phi in tokens], dtype=np.uint8)
    counted.add_labelled(TokenisedSentences([word for word, _ in tokens], tags, np.array([len(tokens)])))
    # Texts without labels make words common; whether they are PHI they can't say.
    counted.add_texts(["ada stone the " * 5])
    every = Counter(word.lower() for word, _ in tokens)
    as_phi = Counter(word.lower() for word, phi in tokens if phi)
    shown = counted.find_public(PublicRule(phi_share=0.25)).tolist()
    assert shown == [*(as_phi[word] * 4 <= every[word] for word in ("ada", "stone", "the")), True]
    assert counted.find_public(PublicRule()).all()


def test_a_word_that_comes_in_bunches_tells_what_a_text_is_about() -> None:
    counted = WordUse(("the", "renal", "once"))
    counted.add_texts(["the the", "the the renal renal renal renal", "the the", "the the once"])
    the, renal, once = counted.topicality.tolist()
    # Eight times in four texts, by chance in all but e^-2 of them; four times in one text, by chance in 1 - 1/e of four.
    assert the == pytest.approx(np.log2(1 - np.exp(-2)))
    assert renal == pytest.approx(np.log2(4 * (1 - np.exp(-1))))
    assert the < once < renal


def test_each_labelled_note_is_a_text_where_notes_are_known() -> None:
    sentences = TokenisedSentences(["the"] * 4, np.zeros(4, dtype=np.uint8), np.ones(4, dtype=np.int64))
    together, apart = WordUse(("the",)), WordUse(("the",))
    together.add_labelled(sentences)
    apart.add_labelled(sentences, np.array([0, 0, 1, 1]))
    assert together.topicality[0] == pytest.approx(np.log2(1 - np.exp(-4)))
    assert apart.topicality[0] == pytest.approx(np.log2(1 - np.exp(-2)))
