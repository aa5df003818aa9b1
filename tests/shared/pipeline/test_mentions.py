"""A name that was found once is hidden in every mention, whole; line ends stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.pipeline.mentions import _Note, sayings_of, with_repeated
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
        ("Ana, Ana", ["Ana"], "[X], [X]"),
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
        # A label that begins or ends within a word.
        ("DrMarchbanks saw; Marchbanks, MARCHBANKS", ["Marchbanks"], "Dr[X] saw; [X], [X]"),
        ("MarchbanksMD saw; Marchbanks", ["Marchbanks"], "[X] saw; [X]"),
        ("DrAna Marchbanks saw; Ana Marchbanks", ["Ana Marchbanks"], "Dr[X] saw; [X]"),
        # A number that is glued to letters.
        ("MRN482139; MRN482139, 482139MRN", ["482139"], "MRN[X]; MRN[X], [X]MRN"),
        ("call 617-555-1234; tel617-555-1234ext", ["617-555-1234"], "call [X]; tel[X]ext"),
        ("MRN482139; MRN1482139, MRN4821390; A4821B", ["482139"], "MRN[X]; MRN1482139, MRN4821390; A4821B"),
        # The next line is indented.
        ("Larkspur Ward; Larkspur\n      Ward", ["Larkspur Ward"], "[X]; [X]\n[X]"),
        ("Larkspur Ward; Larkspur \r\n\t\tWard", ["Larkspur Ward"], "[X]; [X]\r\n[X]"),
        ("Larkspur Ward; Larkspur     \nWard", ["Larkspur Ward"], "[X]; [X]\n[X]"),
        ("Larkspur Ward; Larkspur,    \r\nWard", ["Larkspur Ward"], "[X]; [X]\r\n[X]"),
        ("617 555 1234, 617 555\n    1234", ["617 555 1234"], "[X], [X]\n[X]"),
        ("Larkspur Ward; Larkspur\n\n    Ward", ["Larkspur Ward"], "[X]; Larkspur\n\n    Ward"),
        ("Larkspur Ward; Larkspur     Ward", ["Larkspur Ward"], "[X]; Larkspur     Ward"),
        ("Ana Ruiz, \uff21\uff4e\uff41 \uff32\uff55\uff49\uff5a", ["Ana Ruiz"], "[X], [X]"),
    ],
)
def test_further_mentions(text: str, spans: list[str], hidden: str) -> None:
    assert REDACT.turn(with_repeated(found(text, *spans))).text == hidden


@pytest.mark.parametrize(
    ("text", "span", "hidden"),
    [
        ("mail j.doe@mgh.org, j.doe@mgh.org, j doe mgh org", "j.doe@mgh.org", "mail [X], [X], j doe mgh org"),
        ("@ he, he, He", "@ he", "[X], he, He"),
        ("user jdoe12, jdoe12, JDOE12, jdoe 12", "jdoe12", "user [X], [X], [X], jdoe 12"),
        ("at 45yo, a 45yo", "45yo", "at [X], a 45yo"),
        ("took 100mg, 100mg", "100mg", "took [X], 100mg"),
        ("on t12, t12", "t12", "on [X], t12"),
        ("12 may 2010, 12 may 2010", "12 may 2010", "[X], [X]"),
        ("on 3/4/21, 3/4/21, 3-4-21", "3/4/21", "on [X], [X], [X]"),
        ("on 3/4/21, 3 4 21, 3, 4, 21", "3/4/21", "on [X], 3 4 21, 3, 4, 21"),
        ("on 3/4/21, 13/4/21, 3/4/210", "3/4/21", "on [X], 13/4/21, 3/4/210"),
        ("at 1.2.3, 1.2.3", "1.2.3", "at [X], 1.2.3"),
        ("at 10:30, 10:30", "10:30", "at [X], 10:30"),
        ("Mrs Lee, Lee, LEE, lee, Leeds", "Lee", "Mrs [X], [X], [X], lee, Leeds"),
        ("Dr Roy, Roy", "Roy", "Dr [X], [X]"),
        ("May came in May", "May", "[X] came in May"),
        ("The, The", "The", "[X], The"),
        ("Oct, Oct", "Oct", "[X], Oct"),
        ("MGH, MGH", "MGH", "[X], MGH"),
        ("saw lee, lee, Lee", "lee", "saw [X], lee, Lee"),
    ],
)
def test_what_is_short_or_small_is_repeated_where_it_can_be_nothing_else(text: str, span: str, hidden: str) -> None:
    assert REDACT.turn(with_repeated(found(text, span))).text == hidden


@pytest.mark.parametrize("said", ["Lee", "j.doe@mgh.org", "jdoe12", "3/4/21"])
def test_so_it_is_in_another_note_of_the_patient(said: str) -> None:
    other = with_repeated(Document("o", f"seen: {said}."), also=sayings_of(found(f"Found {said} here", said)))
    assert REDACT.turn(other).text == "seen: [X]."


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
        ("Ana Marchbanks; Ana", "Ana Marchbanks", "[X]; [X]"),
        ("Kim Nguyen, seen with Kim, KIM, kim", "Kim Nguyen", "[X], seen with [X], [X], kim"),
        ("LEE, JOHANNA; Lee came", "LEE, JOHANNA", "[X]; [X] came"),
        ("Dr. Marchbanks; Dr. Who", "Dr. Marchbanks", "[X]; Dr. Who"),
        ("May Marchbanks in May", "May Marchbanks", "[X] in May"),
        ("Pat Marchbanks. Pat dry", "Pat Marchbanks", "[X]. Pat dry"),
        ("Xu Marchbanks. Xu, XU", "Xu Marchbanks", "[X]. [X], XU"),
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


@pytest.mark.parametrize("stays", ["marchbanks", "3/4", "May", "MGH", "J. R.", "T12", "Pat", "12b"])
@pytest.mark.parametrize("hides", ["Marchbanks", "Lee", "jdoe12", "a.b@c.org", "3/4/21"])
def test_the_limits_are_those_that_the_documentation_states(stays: str, hides: str) -> None:
    stated = (Path(__file__).parents[3] / "docs" / "hospital.md").read_text(encoding="utf-8")
    assert f"`{stays}`" in stated
    text = f"found {stays}, {hides}; then {stays}, {hides}."
    assert REDACT.turn(with_repeated(found(text, stays, hides))).text == f"found [X], [X]; then {stays}, [X]."
