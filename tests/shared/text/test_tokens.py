"""Tokenisation and sentence splitting: offsets are exact for any text, and sentences are bounded."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.casing import CASING_CLASSES, casing_class
from shared.text.tokens import MAX_SENTENCE_TOKENS, tokenise
from tests.data import corpus


def sentences(text: str) -> list[str]:
    tokens = tokenise(text)
    return [" ".join(tokens.words[start:end]) for start, end in tokens.sentences()]


NO_WIDTH = frozenset(
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069"
    "\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
"""What stands in a text and is not seen; joiners are not among it, they belong to the spelling of a word."""


def test_every_mark_stays_with_its_character() -> None:
    others = map(chr, range(0x80, 0x110000))
    marks = [other for other in others if unicodedata.category(other) in ("Mn", "Mc", "Me", "Cf")]
    assert len(marks) > 2000
    assert tokenise(" ".join("." + mark for mark in marks)).spans.tolist() == [
        [3 * at, 3 * at + 2] for at in range(len(marks))
    ]


@given(st.text() | st.text("aB1. \xad\u200b\u200d\u0301\ufeff"))
def test_tokens_are_ascending_slices_that_leave_only_white_space_out(text: str) -> None:
    tokens = tokenise(text)
    position = 0
    for (start, end), word in zip(tokens.spans.tolist(), tokens.words, strict=True):
        assert start < end
        assert text[position:start].strip() == ""
        seen = "".join(character for character in text[start:end] if character not in NO_WIDTH)
        assert word == (seen or text[start:end])
        position = end
    assert text[position:].strip() == ""


@given(st.text())
def test_sentences_cover_all_tokens_and_are_bounded(text: str) -> None:
    tokens = tokenise(text)
    covered = [index for start, end in tokens.sentences() for index in range(start, end)]
    assert covered == list(range(len(tokens)))
    assert all(0 < end - start <= MAX_SENTENCE_TOKENS for start, end in tokens.sentences())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("d:03/04/2019t:", ["d", ":", "03", "/", "04", "/", "2019", "t", ":"]),
        ("58yo man", ["58", "yo", "man"]),
        ("O'Brien-Smith", ["O", "'", "Brien", "-", "Smith"]),
        ("a...b", ["a", "...", "b"]),
        ("jose\u0301 3ºA", ["jose\u0301", "3", "ºA"]),
        ("x_y^z~1%", ["x", "_", "y", "^", "z", "~", "1", "%"]),
        ("\ufeffa\x00b", ["\ufeff", "a", "\x00", "b"]),
        ("Gó\xadm\u200bez\u2060 19\u200b84 e\u0301\u200b", ["Gómez", "1984", "e\u0301"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokenise(text).words == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left. She stayed.", ["He left .", "She stayed ."]),
        ("Dr. Smith saw J. Doe. Plan made.", ["Dr . Smith saw J . Doe .", "Plan made ."]),
        ("PLAN\nrest", ["PLAN", "rest"]),
        (
            "a wrapped line that goes on for more than fifty-five characters\nand ends here.",
            ["a wrapped line that goes on for more than fifty - five characters and ends here ."],
        ),
        ("one\n\n\ntwo", ["one", "two"]),
        ("Meds:\n- aspirin\n- iron", ["Meds :", "- aspirin", "- iron"]),
        ("Temp 3.5 today", ["Temp 3 . 5 today"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_blank_line_ends_a_sentence_that_a_line_end_does_not(line_end: str) -> None:
    """The line is so long and goes on in small letters, so that one line end alone may be the printer's."""
    line = "a wrapped line that goes on for more than fifty-five characters"
    words = line.replace("-", " - ")
    assert sentences(f"{line}{line_end}and ends") == [f"{words} and ends"]
    assert sentences(f"{line}{line_end * 2}and ends") == [words, "and ends"]
    assert sentences(f"{line}{line_end} {line_end}and ends") == [words, "and ends"]


def test_a_note_of_five_megabytes_in_one_line_has_bounded_sentences() -> None:
    tokens = tokenise("word, " * (5_000_000 // 6))
    lengths = np.diff([*tokens.sentence_starts.tolist(), len(tokens)])
    assert lengths.max() <= MAX_SENTENCE_TOKENS
    assert lengths.sum() == len(tokens)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("2019", "numeric"),
        ("12a", "mainly numeric"),
        ("fever", "all lower"),
        ("MRI", "all upper"),
        ("Ana", "initial upper"),
        ("Ab12", "initial upper"),
        ("aB1", "contains digit"),
        ("iPhone", "other"),
        (",", "other"),
        ("١٢", "numeric"),
        ("b2b2b", "all lower"),
    ],
)
def test_casing(word: str, name: str) -> None:
    assert CASING_CLASSES[casing_class(word)] == name


def test_few_spans_of_a_real_corpus_cut_a_token() -> None:
    cut = spans = 0
    for path in sorted(corpus("meddocan/train/brat").glob("*.ann")):
        tokens = tokenise(path.with_suffix(".txt").read_bytes().decode())
        edges = set(tokens.spans.ravel().tolist())
        for line in path.read_text(encoding="utf-8").splitlines():
            start, end = map(int, line.split("\t")[1].split()[1:])
            spans += 1
            cut += start not in edges or end not in edges
    assert spans > 10_000
    assert cut / spans < 0.001
