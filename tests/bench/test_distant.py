"""Messages are read one by one, with the labels that they had."""

from __future__ import annotations

from bench.generalise.distant import lines
from shared.document import Annotation, Document


def test_lines_keep_the_words_that_are_labelled() -> None:
    text = "Ana saw Rome\n\nnobody\nand Bo"
    spans = (Annotation(0, 3, "person"), Annotation(8, 12, "location"), Annotation(25, 27, "person"))
    assert [text[one.start : one.end] for one in spans] == ["Ana", "Rome", "Bo"]
    found = lines(Document("m", text, spans))
    assert [one.text for one in found] == ["Ana saw Rome", "nobody", "and Bo"]
    assert [[one.text[span.start : span.end] for span in one.annotations] for one in found] == [
        ["Ana", "Rome"],
        [],
        ["Bo"],
    ]
    assert len({one.identifier for one in found}) == 3


def test_a_label_over_a_line_break_is_in_no_line() -> None:
    assert not any(one.annotations for one in lines(Document("m", "Ana\nBo", (Annotation(0, 6, "person"),))))
