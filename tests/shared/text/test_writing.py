"""Tokens written as a text again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.tokens import tokenise
from shared.text.writing import write_sentences

LINES = st.lists(st.text("ab1 .,:/-@()\n'", max_size=30), max_size=4).map("\n".join)


@given(LINES)
def test_every_token_stands_where_it_is_said_to(text: str) -> None:
    tokens = tokenise(text)
    lengths = np.diff(np.append(tokens.sentence_starts, len(tokens))).astype(np.int64)
    written, placed = write_sentences(tokens.words, lengths)
    assert [written[start:end] for start, end in placed.spans.tolist()] == tokens.words
    assert placed.sentence_starts.tolist() == tokens.sentence_starts.tolist()
    assert (placed.spans[1:, 0] >= placed.spans[:-1, 1]).all()
    # Nothing but tokens and white space.
    assert "".join(written.split()) == "".join(tokens.words)


@pytest.mark.parametrize(
    "line",
    [
        "seen on 29-Oct-07, and 10/29/2007.",
        "call (617) 555-0123 at 12:30",
        "write to ann@mail.example.org today",
        "Dr. Smith saw Mr. O'Brien.",
        "a weight of 3.5 kg, stable",
        "Smith, John",
        "reached at x97424, or by fax x13375",
        "on January 22nd, in his 40s",
        "Pathology S52-18134 by kp99 in 2007",
    ],
)
def test_usual_lines_come_back_as_they_were(line: str) -> None:
    tokens = tokenise(line)
    written, _ = write_sentences(tokens.words, np.array([len(tokens)]))
    assert written == line + "\n"
