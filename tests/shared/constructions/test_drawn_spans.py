"""Whole spans in the place of labelled PHI of which a bank has pieces alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.constructions.drawn_spans import DrawnSpans, drawn_spans
from shared.labels import categories_of_any_form, load_scheme
from shared.models.noise_source import PrivateNoise
from shared.sentences.tokenised import TokenisedSentences
from tests import constructions
from tests.shared.embeddings.made import table

SCHEME = load_scheme("i2b2_2014")
EMAIL, PATIENT, PHONE, STREET = (SCHEME.category_index[name] for name in ("EMAIL", "PATIENT", "PHONE", "STREET"))
NAMES = (("QUILLFEATHER", "WULFRIC", "OXENTHORPE"),)
EMAIL_WORDS = ["wulfric", "@", "quillmail", ".", "zed"]


def tagged(category: int, length: int) -> list[int]:
    return [2 * category + 1, *[2 * category + 2] * (length - 1)]


def public(words: list[str], tags: list[int]) -> TokenisedSentences:
    return TokenisedSentences(words, np.array(tags, dtype=np.uint8), np.array([len(words)]))


def bank(lists: tuple[tuple[str, ...], ...] = NAMES) -> SurrogateBank:
    """Of a public e-mail, which is cut, and a patient."""
    notes = public([*EMAIL_WORDS, "saw", "Eve", "Stone"], [*tagged(EMAIL, 5), 0, *tagged(PATIENT, 2)])
    return surrogate_bank([notes], lists, public_lists=(), any_form=categories_of_any_form(SCHEME))


def spans(lists: tuple[tuple[str, ...], ...] = NAMES) -> DrawnSpans:
    found = drawn_spans(bank(lists), SCHEME, "English")
    assert found is not None
    return found


def draws(category: int, words: list[str], times: int = 40) -> list[list[str] | None]:
    generator, made = np.random.default_rng(0), spans()
    return [made.draw(category, words, generator) for _ in range(times)]


def test_a_span_of_any_form_is_one_of_as_many_words_from_end_to_end() -> None:
    found = draws(EMAIL, ["a"] * 5)
    assert len({" ".join(one) for one in found if one}) > 20
    for one in found:
        assert one is not None
        assert (len(one), one.count("@"), one[-2]) == (5, 1, ".")


def test_names_in_it_are_those_of_the_lists_of_the_release() -> None:
    signs = {word for one in draws(EMAIL, ["a"] * 5, 300) for word in one or ()}
    assert signs & {"quillfeather", "wulfric", "oxenthorpe"}
    assert any(drawn_spans(bank(()), SCHEME, "English").draw(EMAIL, ["a"] * 5, np.random.default_rng(1)) or ())  # type: ignore[union-attr]


def test_capitals_and_small_letters_stay() -> None:
    assert all(word == word.upper() for one in draws(STREET, ["A", "A", "A"]) for word in one or ["a"])
    assert all(word == word.lower() for one in draws(STREET, ["a", "a", "a"]) for word in one or ["A"])


def test_a_category_without_public_spans_is_drawn_by_casing_and_punctuation() -> None:
    for one in draws(PHONE, ["1", "-", "1", "-", "1"]):
        assert one is not None
        assert [word.isdigit() for word in one] == [True, False, True, False, True]
        assert {one[1], one[3]} == {"-"}


def test_what_the_bank_has_whole_and_what_no_form_is_like_is_left_to_the_bank() -> None:
    assert draws(PATIENT, ["Aa", "Aa"], 1) == draws(EMAIL, ["a"] * 90, 1) == draws(PHONE, ["Aa"] * 9, 1) == [None]


@pytest.mark.parametrize(("scheme", "language"), [("i2b2_2014", None), ("i2b2_2014", "French")])
def test_no_forms_are_drawn_in_other_languages(scheme: str, language: str | None) -> None:
    assert drawn_spans(bank(), load_scheme(scheme), language) is None


def test_shares_are_read_with_whole_spans_of_their_lengths() -> None:
    words = ["we", "wrote", "to", "by", *EMAIL_WORDS, "saw", "eve", "stone"]
    made = constructions.surrogates(
        constructions.members(constructions.clusters(table(tuple(words), dim=4))), SCHEME, bank()
    )
    own = public(["we", "wrote", "to", "osyth", "@", "zed"], [0, 0, 0, *tagged(EMAIL, 3)])
    share = made.rehearse_codes(made.with_public_lengths(own, PrivateNoise()), PrivateNoise())
    decoding = replace(made.decoding(), spans=spans())
    read = decoding.draw_words(share, np.random.default_rng(3))
    assert read.lengths.tolist() == share.lengths.tolist() == [8]
    assert read.tags.tolist() == share.tags.tolist() == [0, 0, 0, *tagged(EMAIL, 5)]
    assert (read.words[3:].count("@"), read.words[6]) == (1, ".")
    assert "osyth" not in read.words
