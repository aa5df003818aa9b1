"""PHI is found however a note writes its signs, its marks and its lines, and whole words of it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.labels import load_scheme
from shared.patterns.engine import Patterns
from shared.patterns.kinds import Suspicion
from shared.patterns.reading import read
from shared.text.plain_signs import plain_signs

ENGLISH, SPANISH = Patterns(load_scheme("i2b2_2014"), "English", 0.9), Patterns(load_scheme("meddocan"), "Spanish", 0.9)
LONG = "The patient was seen again in our office by the ward"


def found(text: str, patterns: Patterns = ENGLISH) -> set[str]:
    return {text[one.start : one.end] for one in patterns.find(text)}


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        ("MRN:\t123456", "123456"),
        ("SSN: 219\u201309\u20119999", "219\u201309\u20119999"),
        ("Tel:\u00a0555\u00a01234567", "555\u00a01234567"),
        ("in Mar \u201919.", "Mar \u201919"),
        ("Write to jo＠ward．example.org", "jo＠ward．example.org"),
        ("MRN: ١٢٣٤٥٦", "١٢٣٤٥٦"),
        ("on ０３/０４/２０１９.", "０３/０４/２０１９"),
        ("at 12\u00a0Larkspur\u202fLane", "12\u00a0Larkspur\u202fLane"),
        ("Mrs O\u2019Quill came", "O\u2019Quill"),
        ("transcript\rQuillfeather Regional\r12 May", "Quillfeather Regional"),
        ("J. Quill, MD\r\nJQ/mtr\r\n", "mtr"),
    ],
)
def test_signs_that_look_alike_hide_nothing(text: str, phi: str) -> None:
    assert phi in found(text)


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        ("Dr. Oxen\u200bthorpe saw", "Oxen\u200bthorpe"),
        ("Dr.\u200b\u2060 Oxen\u00adthorpe\u200b saw", "Oxen\u00adthorpe\u200b"),
        ("MRN: 12\u206034567", "12\u206034567"),
        ("\ufeffDr. Oxenthorpe", "Oxenthorpe"),
        ("Mr. Kowal\u010dyk, he", "Kowal\u010dyk"),
        ("Mrs DeQuill, she", "DeQuill"),
    ],
)
def test_words_are_found_whole(text: str, phi: str) -> None:
    assert phi in found(text)


def test_a_letter_and_its_mark_are_one_letter() -> None:
    text = unicodedata.normalize("NFD", "la Dra. Brígida Peñalúz pasó")
    assert unicodedata.normalize("NFD", "Brígida Peñalúz") in found(text, SPANISH)


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        (f"{LONG} on March\n5, 2019 and then went home.", "March\n5, 2019"),
        (f"{LONG} of Dr. Ann\nOxenthorpe, who will see him.", "Ann\nOxenthorpe"),
        (f"{LONG} and lives at 12 Larkspur\nLane with his son.", "12 Larkspur\nLane"),
        (f"{LONG} and the number is (555)\n123-4567 for now.", "(555)\n123-4567"),
        (f"{LONG} and the number is (555)\r\n123-4567 for now.", "(555)\r\n123-4567"),
        (f"{LONG} under the MRN:\n7654321 of before.", "7654321"),
    ],
)
def test_what_a_line_is_wrapped_in_is_whole(text: str, phi: str) -> None:
    assert any(phi in one for one in found(text))


@pytest.mark.parametrize(
    "text",
    [
        "seen in March\n5 mg daily",
        f"{LONG} in March\n2. Quillamine",
        f"{LONG} in March\n\n5 tablets",
        f"{LONG * 3} in March\n5 tablets",
        f"{LONG} in March\nWard: 3",
        "Ann\nOxenthorpe",
    ],
)
def test_lines_of_a_list_are_not_one(text: str) -> None:
    assert not any("\n" in one for one in found(text))


def test_what_begins_a_line_is_found_behind_a_wrapped_line_too() -> None:
    assert "mtr" in found(f"{LONG} and left for home\nagain. J. Quill, MD\nJQ/mtr\n")


@example("MON")
@given(st.text("aA1 .,-/@(:\n\r\tÁ\u0301\u200bñ\u00a0９") | st.text())
def test_what_is_found_lies_in_the_note_and_ends_no_word_within(text: str) -> None:
    for one in ENGLISH.find(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.start == 0 or not text[one.start - 1 : one.start + 1].isalpha()
        assert one.end == len(text) or not text[one.end - 1 : one.end + 1].isalpha()


def test_a_note_as_it_is_read_shows_nothing_of_itself() -> None:
    assert "Oxenthorpe" not in repr(read("Mrs Oxenthorpe"))


@example("\r\n\u200b1.")
@given(st.text(alphabet="\r\n\u200b\u0301\ufeff\u0306\u2028 12.\u0660", max_size=30))
def test_every_sign_that_is_read_is_that_of_its_place_in_the_note(text: str) -> None:
    """Also where line ends, marks and what has no width follow each other: a place too far on covers another word, and leaves this one."""
    reading = read(text)
    # A mark at the very beginning has no letter, and is read as it is.
    starts = [reading.in_note(Suspicion(at, at + 1, "ID", 1.0, "")).start for at in range(len(reading.text))]
    assert starts == sorted(set(starts))
    for at, start in enumerate(starts):
        if reading.text[at].isdigit() or reading.text[at] == ".":
            assert plain_signs(text[start]) == reading.text[at]
    assert reading.in_note(Suspicion(0, len(reading.text), "ID", 1.0, "")).end == len(text)
