"""What of a text stays the same however it is exported."""

from __future__ import annotations

import pytest

from shared.text.letters import as_printed, only_words


@pytest.mark.parametrize("end", ["\n", "<br>", " \n"])
def test_attack_a_dash_ahead_of_many_line_ends_takes_no_hours(end: str) -> None:
    """In a time that grows with the square of their number this would not end."""
    assert only_words(as_printed("a-" + end * 100_000 + ".")) == ["a"]


def test_a_word_that_is_cut_at_the_end_of_a_line_is_one() -> None:
    assert only_words(as_printed("Quill-  \n   feather")) == ["quillfeather"]
