"""Spans that could tell of somebody: what a bank must not hold, and what a hospital finds of it in its own notes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.bank_files import FILE, load_bank, save_bank
from shared.anonymity.public_lists import PublicList
from shared.anonymity.surrogates import surrogate_bank
from shared.anonymity.telling_spans import SpanSearch, Telling
from shared.labels import LabelScheme
from shared.sentences.tokenised import TokenisedSentences
from shared.text.tokens import tokenise

LISTS = (PublicList("words", "", "", "", frozenset({"hospital", "general", "de", "calle", "street", "clinic"})),)


def found(spans: list[str], *notes: str) -> int:
    search = SpanSearch([tuple(tokenise(span).words) for span in spans], LISTS)
    for note in notes:
        search.add(tokenise(note).words)
    return search.found


@pytest.mark.parametrize(
    ("span", "note"),
    [
        ("Anna Quillfeather", "seen: ANNA QUILLFEATHER, well"),
        ("José Pérez Gómez", "JOSE PEREZ GOMEZ"),
        ("8812345", "number 8812345."),
        ("12/03/2018", "on 12/03/2018"),
        ("Hospital General de Santa Osyth", "at the hospital general de santa osyth"),
        ("anna_b@mail.org", "write to anna_b@mail.org"),
    ],
)
def test_a_telling_span_of_the_bank_is_found_in_the_notes(span: str, note: str) -> None:
    assert found([span, "nothing like it here"], "first", note) == 1
    assert (
        found([span], note.replace(" ", " x ").replace("/", "-").replace("8812345", "8812346").replace("@", " ")) == 0
    )


@pytest.mark.parametrize(
    "span", ["Anna", "Hospital General", "calle Osyth", "1234", "2018", "00000", "00/00/0000", "("]
)
def test_what_stands_everywhere_is_not_looked_for(span: str) -> None:
    assert found([span], span) == 0


def test_a_span_counts_once_and_each_for_itself() -> None:
    assert found(["Anna Brown", "anna brown", "Ida Brown"], "Anna Brown, Anna Brown", "Ida Brown") == 2


NAMES = ("Anna", "Ida", "Bo", "Quillfeather", "Osyth")
WORDS = st.sampled_from([*NAMES, "Hospital", "de", "12", "3", "99999", "0", "@", ".", "/"])
SPANS = st.lists(WORDS, min_size=1, max_size=8).map(tuple)


@given(SPANS)
def test_no_piece_of_a_cut_span_tells(span: tuple[str, ...]) -> None:
    telling = Telling.of([span], LISTS)
    assert telling.hidden == set(NAMES) & set(span)
    pieces = telling.cut(span)
    assert not any(map(telling.tells, pieces))
    # Every word of the span is kept, in its order, but for the one that may stand at two ends.
    plain = ["0" * len(word) if word.isdecimal() else word for word in span]
    place = 0
    for piece in pieces:
        start = place if list(piece) == plain[place : place + len(piece)] else place - 1
        assert list(piece) == plain[start : start + len(piece)]
        place = start + len(piece)
    assert place == len(plain)


class TestBank:
    """A bank of public notes in which people have full names and file numbers."""

    TEXT = (
        "Anna Brown 8812345 Hospital General de Osyth Ida Stone 8812346 Clinic General de Vale Bo Field 8812347".split()
    )
    TAGS = np.array([1, 2, 3, 5, 6, 6, 6, 1, 2, 3, 5, 6, 6, 6, 1, 2, 3], dtype=np.uint8)
    NOTES = TokenisedSentences(TEXT, TAGS, np.array([len(TEXT)]))
    BANK = surrogate_bank([NOTES], public_lists=LISTS)

    def shown(self, seed: int) -> list[str]:
        own = TokenisedSentences(
            ["Eve", "Moss", "seen", "5550000"], np.array([1, 2, 0, 3], dtype=np.uint8), np.array([4])
        )
        return self.BANK.replace_spans(own, torch.Generator().manual_seed(seed)).words

    def test_a_hospital_finds_nothing_of_it_in_the_very_notes_that_it_was_made_of(self) -> None:
        spans = [words for _, words in (*self.BANK.spans, *self.BANK.later)]
        search = SpanSearch(spans, LISTS)
        search.add(self.TEXT)
        assert search.found == 0
        whole = SpanSearch([words for _, words in surrogate_bank([self.NOTES]).spans], LISTS)
        whole.add(self.TEXT)
        assert whole.found == 6

    def test_its_surrogates_still_have_a_given_name_first_and_any_number(self) -> None:
        seen = [self.shown(seed) for seed in range(60)]
        assert {words[0] for words in seen} == {"Anna", "Ida", "Bo"}
        assert {words[1] for words in seen} == {"Brown", "Stone", "Field"}
        assert {words[2] for words in seen} == {"seen"}
        numbers = {words[3] for words in seen}
        assert len(numbers) == 60
        assert all(len(number) == 7 and number.isdecimal() for number in numbers)

    def test_it_comes_back_as_it_was(self, tmp_path: Path) -> None:
        save_bank(self.BANK, tmp_path)
        again = load_bank(tmp_path, LabelScheme("three", ("PATIENT", "DOCTOR", "DATE")))
        assert (again.spans, again.later) == (self.BANK.spans, self.BANK.later)
        assert again.later

    @pytest.mark.parametrize("later", [[[3, "a"]], [[0]], [[0, ""]], "text", [7]])
    def test_a_damaged_one_is_refused(self, later: object, tmp_path: Path) -> None:
        from shared.errors import ModelError

        save_bank(self.BANK, tmp_path)
        stated = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
        (tmp_path / FILE).write_text(json.dumps(stated | {"later": later}), encoding="utf-8")
        with pytest.raises(ModelError, match="expected public spans"):
            load_bank(tmp_path, LabelScheme("three", ("PATIENT", "DOCTOR", "DATE")))

    def test_a_number_of_any_length_is_drawn(self) -> None:
        bank = surrogate_bank([TokenisedSentences(["1" * 30], np.array([1], dtype=np.uint8), np.array([1]))])
        own = TokenisedSentences(["2" * 30], np.array([1], dtype=np.uint8), np.array([1]))
        drawn = {bank.replace_spans(own, torch.Generator().manual_seed(seed)).words[0] for seed in range(9)}
        assert len(drawn) == 9
        assert {len(number) for number in drawn} == {30}
