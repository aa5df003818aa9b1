"""From pieces to a note: whatever the habits, every span covers exactly its own piece."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ConfigurationError
from shared.generate.grammar import Piece
from shared.generate.layout import lay_out
from shared.generate.profile import Layout

_TEXT = st.text("abc dé7:-\n", min_size=1, max_size=30)
_PHI = st.text("ABcñ5", min_size=1, max_size=12)
_PIECES = st.lists(
    st.one_of(st.builds(Piece, _TEXT), st.builds(Piece, _PHI, st.sampled_from(["PATIENT", "DATE"]))), max_size=12
)
_RATE = st.floats(0, 1)
_LAYOUTS = st.builds(
    Layout,
    wrap=st.sampled_from([0, 5, 20]),
    case=st.sampled_from(["kept", "upper", "lower"]),
    plain_letters=st.booleans(),
    glue_rate=_RATE,
    name_upper_rate=st.floats(0, 0.5),
    name_lower_rate=st.floats(0, 0.5),
)


@given(_PIECES, _LAYOUTS, st.integers(0, 1000))
def test_spans_cover_their_pieces(pieces: list[Piece], layout: Layout, seed: int) -> None:
    document = lay_out("x", pieces, layout, Random(seed))
    phi = [piece for piece in pieces if piece.category]

    def folded(text: str) -> str:
        return text.lower().replace("ñ", "n")

    assert [span.category for span in document.annotations] == [piece.category for piece in phi]
    assert [folded(document.covered_text(span)) for span in document.annotations] == [
        folded(piece.text) for piece in phi
    ]


@given(_PIECES, st.integers(0, 1000))
def test_without_habits_the_text_is_that_of_the_pieces(pieces: list[Piece], seed: int) -> None:
    assert lay_out("x", pieces, Layout(), Random(seed)).text == "".join(piece.text for piece in pieces)


def test_lines_break_at_the_column_but_never_inside_a_span() -> None:
    pieces = [Piece("one two three "), Piece("Anna Maria Long", "PATIENT"), Piece(" four five six seven")]
    document = lay_out("x", pieces, Layout(wrap=16), Random(0))
    assert document.text == "one two three\nAnna Maria Long\nfour five six\nseven"
    assert document.covered_text(document.annotations[0]) == "Anna Maria Long"


def test_spans_are_glued_where_the_text_stays_readable() -> None:
    pieces = [Piece("d: "), Piece("03/04/2019", "DATE"), Piece(" seen by "), Piece("Anna", "DOCTOR"), Piece(" again")]
    assert lay_out("x", pieces, Layout(glue_rate=1.0), Random(0)).text == "d:03/04/2019seen by Anna again"


def test_typing_errors_change_words_of_both_kinds() -> None:
    pieces = [Piece("headache "), Piece("Margaret", "PATIENT"), Piece(" Capital 12345")]
    document = lay_out("x", pieces, Layout(typo_rate=1.0, name_typo_rate=1.0), Random(1))
    assert not document.text.startswith("headache ")
    assert document.covered_text(document.annotations[0]) != "Margaret"
    assert document.text.endswith(" Capital 12345")


def test_case_of_whole_notes_follows_its_rate() -> None:
    layout = Layout(case="upper", case_rate=0.3)
    upper = sum(lay_out("x", [Piece("pain")], layout, Random(seed)).text == "PAIN" for seed in range(500))
    assert 110 < upper < 190


@pytest.mark.parametrize("broken", [{"wrap": -1}, {"typo_rate": 1.5}, {"case_rate": -0.1}])
def test_impossible_habits_are_refused(broken: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        Layout(**broken)  # type: ignore[arg-type]
