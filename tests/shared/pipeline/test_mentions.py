"""A name that was found once is hidden in every mention, whole; line ends stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.pipeline.mentions import _Note, with_repeated
from shared.text.tokens import Tokens
from site_client.deid.redact import REDACT
from tests.site_client.deid.notes import annotated


def found(text: str, *spans: str) -> Document:
    """A note in which the first mention of each is found."""
    return Document("n", text, tuple(Annotation(text.index(one), text.index(one) + len(one), "X") for one in spans))


@pytest.mark.parametrize(
    ("text", "spans", "hidden"),
    [
        ("Ana Marchbanks. Dr Ana Marchbanks.", ["Ana Marchbanks"], "[X]. Dr [X]."),
        ("Ana Marchbanks. ANA  MARCHBANKS, Ana\nMarchbanks", ["Ana Marchbanks"], "[X]. [X], [X]\n[X]"),
        ("Marchbanks, Marchbanksia, O'Marchbanks", ["Marchbanks"], "[X], Marchbanksia, O'[X]"),
        ("Seen on 12/03/2019, i.e. 12/03/2019", ["12/03/2019"], "Seen on [X], i.e. [X]"),
        ("for 3/4 of it, 3/4", ["3/4"], "for [X] of it, 3/4"),
        ("García-Lopez; GARCIA LOPEZ", ["García-Lopez"], "[X]; [X]"),
        ("Rose rose", ["Rose"], "[X] rose"),
        ("Ana, Ana", ["Ana"], "[X], Ana"),
        ("a nurse, the nurse", ["nurse"], "a [X], the nurse"),
        # A blank without width, which editors and web pages leave, between two words and within one.
        ("Ana Ruiz, Ana\u200bRuiz, Ana\ufeff Ruiz", ["Ana Ruiz"], "[X], [X], [X]"),
        ("Ana Ruiz, Ana Ru\u200biz, A\u200bna\u200bRuiz", ["Ana Ruiz"], "[X], [X], [X]"),
        ("Ana Ruiz, Ana Ru\xadiz, Anaruiz", ["Ana Ruiz"], "[X], [X], Anaruiz"),
        ("Ana Ruiz, A" + "\u200b\xad" * 99 + "na R" + "\u200b\u0301" * 99 + "uiz", ["Ana Ruiz"], "[X], [X]"),
        ("12345, 12345\ufeff\xadiz", ["12345"], "[X], [X]\ufeff\xadiz"),
        ("Anastasia, " + "\u200b".join("Anastasia"), ["Anastasia"], "[X], [X]"),
        ("Ana\u200bRuiz, Ana Ruiz", ["Ana\u200bRuiz"], "[X], [X]"),
        ("Ana Ru\u200biz, Ana Ruiz", ["Ana Ru\u200biz"], "[X], [X]"),
        ("Ana Ruiz, \uff21\uff4e\uff41 \uff32\uff55\uff49\uff5a", ["Ana Ruiz"], "[X], [X]"),
    ],
)
def test_further_mentions(text: str, spans: list[str], hidden: str) -> None:
    assert REDACT.turn(with_repeated(found(text, *spans))).text == hidden


def long_names(count: int) -> Document:
    """Names that begin with the same words, as addresses of one street do."""
    spans, text = [], ""
    for number in range(count):
        name = "Smith " * (number % 49 + 1) + f"Q{number}"
        spans.append(Annotation(len(text), len(text) + len(name), "X"))
        text += name + ". "
    return Document("n", text, tuple(spans))


def pieces(count: int) -> Document:
    """Letters that blanks without width part, beside names of which one is as long as all of them."""
    text = f"Smith A{'a' * 200}. " + "a\u200b" * count + " " + "A\u200b\xad" * count
    return Document("n", text, (Annotation(0, 5, "X"), Annotation(6, 207, "X")))


@pytest.mark.parametrize(("note", "count"), [(long_names, 100), (pieces, 1000)])
def test_time_grows_with_the_note_and_no_faster(
    note: Callable[[int], Document], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: Counter[int] = Counter()

    class Counted(list[str]):
        def __getitem__(self, at: Any) -> Any:
            looks[count] += 1
            return super().__getitem__(at)

    made = _Note.__init__

    def counted(self: _Note, text: str, tokens: Tokens) -> None:
        made(self, text, tokens)
        self.words = Counted(self.words)

    monkeypatch.setattr(_Note, "__init__", counted)
    with_repeated(note(count))
    once = looks[count]
    with_repeated(note(4 * count))
    assert looks[count] - once < 6 * once


def is_summer(words: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([word == "summer" for word in words], dtype=np.bool_)


@pytest.mark.parametrize(
    ("text", "name", "hidden"),
    [
        ("Ana Marchbanks; Marchbanks, MARCHBANKS", "Ana Marchbanks", "[X]; [X], [X]"),
        ("Ana Marchbanks; Ana", "Ana Marchbanks", "[X]; Ana"),
        ("Brunilda Summer; Summer came, Brunilda", "Brunilda Summer", "[X]; Summer came, [X]"),
        ("Summer; Summer", "Summer", "[X]; Summer"),
    ],
)
def test_a_word_of_a_name_is_the_name_if_it_is_no_public_word(text: str, name: str, hidden: str) -> None:
    assert REDACT.turn(with_repeated(found(text, name), {"X"}, is_summer)).text == hidden
    assert with_repeated(found(text, name), {"Y"}).annotations[0].category == "X"


def test_a_mention_does_not_change_the_category_of_what_was_found() -> None:
    text = "Quillfeather, Quillfeather"
    both = Document("n", text, (Annotation(0, 12, "B"), Annotation(14, 26, "A")))
    assert with_repeated(both).annotations == both.annotations


def test_half_a_mention_becomes_a_whole_one() -> None:
    text = "Ana Marchbanks; Ana Marchbanks"
    half = Document("n", text, (Annotation(0, 14, "X"), Annotation(16, 19, "Y")))
    assert REDACT.turn(with_repeated(half)).text == "[X]; [Y]"


@given(annotated())
def test_nothing_changes_where_nothing_is_said_twice(document: Document) -> None:
    assert with_repeated(document).annotations == document.annotations


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\n\n", "\n  "])
def test_a_span_over_the_end_of_a_line_swallows_none(end: str) -> None:
    text = f"Dr Ana{end}Marchbanks saw"
    document = Document("n", text, (Annotation(3, len(text) - 4, "X"),))
    assert REDACT.turn(document).text == f"Dr [X]{end.rstrip(' ')}[X] saw"
