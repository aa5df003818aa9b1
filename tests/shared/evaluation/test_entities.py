from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.document import AnnotatedText
from shared.evaluation import Scores, binary_token_scores, strict_entity
from shared.evaluation.entities import token_owners
from tests.shared.evaluation.cases import document, overlapping_pairs, pairs


def words(text: str) -> NDArray[np.int32]:
    return np.array([match.span() for match in re.finditer(r"\w+|[^\w\s]", text)], dtype=np.int32).reshape(-1, 2)


def counts(scores: Scores) -> tuple[int, int, int]:
    return scores.tp, scores.fp, scores.fn


def test_token_that_a_span_touches_is_phi() -> None:
    # Tokens: Eva Gomezz , 33 . ; the gold span cuts the second, the system's spans miss the first and hide the comma.
    gold = document("Eva Gomezz, 33.", (0, 9, "NAME"), (12, 14, "AGE"))
    system = document("Eva Gomezz, 33.", (8, 11, "NAME"), (12, 13, "DATE"))
    scores = binary_token_scores([(gold, system)], spans=words)
    assert counts(scores) == (2, 1, 1)
    assert {name: counts(part) for name, part in scores.per_type.items()} == {"NAME": (1, 1, 1), "AGE": (1, 0, 0)}


def test_token_between_two_spans_belongs_to_the_first() -> None:
    note = document("0123", (0, 2, "A"), (2, 4, "B"))
    assert token_owners(words(note.text), note.annotations).tolist() == [0]


def test_own_tokens_are_the_default() -> None:
    note = document("d:03/04/2019t", (2, 12, "DATE"))
    scores = binary_token_scores([(note, document(note.text, (2, 4, "DATE")))])
    assert counts(scores) == (1, 0, 4)


def test_strict_entity_asks_for_edges_and_type() -> None:
    gold = document("aa bb cc", (0, 2, "A"), (3, 5, "B"), (6, 8, "C"))
    system = document("aa bb cc", (0, 2, "A"), (3, 4, "B"), (6, 8, "A"))
    assert counts(strict_entity([(gold, system)])) == (1, 2, 2)


@settings(deadline=None)
@given(st.one_of(pairs(), overlapping_pairs()))
def test_token_binary_is_what_a_loop_over_characters_finds(made: list[tuple[AnnotatedText, AnnotatedText]]) -> None:
    expected = [0, 0, 0]
    for gold, system in made:
        for start, end in words(gold.text).tolist():
            real, hidden = (
                any(span.start <= position < span.end for span in note.annotations for position in range(start, end))
                for note in (gold, system)
            )
            if real or hidden:
                expected[0 if real and hidden else 1 if hidden else 2] += 1
    scores = binary_token_scores(made, spans=words)
    assert list(counts(scores)) == expected
    swapped = binary_token_scores([(system, gold) for gold, system in made], spans=words)
    assert counts(swapped) == (expected[0], expected[2], expected[1])


@pytest.mark.parametrize("text", ["", "   "])
def test_note_without_tokens_counts_nothing(text: str) -> None:
    assert counts(binary_token_scores([(document(text), document(text))])) == (0, 0, 0)
