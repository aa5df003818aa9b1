"""Edits, and their way back, against a model that keeps every state there ever was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_client.review.spans import Source, Span, span_of
from site_client.review.state import Edit, NoteState
from tests.site_client.review.projects import doubt, found, person

SPANS = st.tuples(st.integers(0, 9), st.integers(1, 10), st.sampled_from("AB")).filter(lambda one: one[0] < one[1])
STEPS = st.lists(
    st.one_of(st.tuples(st.just("put"), SPANS), st.sampled_from([("undo", None), ("redo", None)])), max_size=30
)


def overlapping(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    return tuple(span for span in spans if span.start < end and start < span.end)


@given(steps=STEPS)
def test_undo_and_redo_go_through_the_states_there_were(steps: list[tuple[str, tuple[int, int, str] | None]]) -> None:
    state = NoteState()
    before: list[tuple[Span, ...]] = []
    behind: list[tuple[Span, ...]] = []
    for what, span in steps:
        now, version = state.spans, state.version
        if span is not None:
            state.edit(Edit(overlapping(now, span[0], span[1]), (Span(*span),)))
            before.append(now)
            behind.clear()
        elif what == "undo" and before:
            state.undo()
            assert state.spans == before[-1]
            behind.append(now)
            before.pop()
        elif what == "redo" and behind:
            state.redo()
            assert state.spans == behind[-1]
            before.append(now)
            behind.pop()
        else:
            with pytest.raises(ValueError, match="found nothing"):
                state.undo() if what == "undo" else state.redo()
            assert (state.spans, state.version) == (now, version)
            continue
        assert state.version == version + 1
        assert (state.can_undo, state.can_redo) == (bool(before), bool(behind))
        assert all(one.end <= other.start for one, other in zip(state.spans, state.spans[1:], strict=False))


@pytest.mark.parametrize(
    "edit",
    [
        Edit((), ()),
        Edit((), (person(3, 6),)),
        Edit((), (person(5, 6), person(5, 7))),
        Edit((person(0, 4, "B"),), ()),
        Edit((person(0, 4), person(0, 4)), ()),
        Edit((person(7, 8),), (person(0, 1),)),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing(edit: Edit) -> None:
    state = NoteState((person(0, 4),))
    for make in (state.after, state.edit):
        with pytest.raises(ValueError, match="expected"):
            make(edit)
    assert (state.spans, state.version, state.can_undo) == ((person(0, 4),), 0, False)


def test_the_pipeline_is_heard_once_and_never_after_a_person() -> None:
    state = NoteState()
    state.find([found(0, 4, 0.9)])
    with pytest.raises(ValueError, match="nobody has changed"):
        state.find([])
    edited = NoteState()
    edited.edit(Edit((), (person(0, 1),)))
    with pytest.raises(ValueError, match="nobody has changed"):
        edited.find([found(5, 6, 0.9)])


def test_what_is_found_counts_unless_removed_and_a_doubt_only_if_accepted() -> None:
    state = NoteState()
    state.find([found(0, 4, 0.9), doubt(9, 14, 0.4)])
    assert [span.start for span in state.labels()] == [0]
    state.edit(Edit((doubt(9, 14, 0.4),), (Span(9, 14, "B", Source.DOUBT, 0.4),)))
    assert [span.start for span in state.labels()] == [0, 9]
    state.edit(Edit((found(0, 4, 0.9),), ()))
    assert [span.start for span in state.labels()] == [9]


@pytest.mark.parametrize("spans", [[], [found(0, 4, 0.9)]])
@pytest.mark.parametrize("finished", [False, True])
def test_a_note_is_untouched_until_a_person_says_anything_of_it(spans: list[Span], finished: bool) -> None:
    for looked_for in (False, True):
        state = NoteState()
        if looked_for:
            state.find(spans)
        assert state.untouched
        assert state.copy().untouched
        state.finish(finished)
        assert not state.untouched
        state.finish(False)
        assert not state.untouched
        assert not state.copy().untouched


@pytest.mark.parametrize(
    ("span", "confidence"),
    [
        (found(0, 4, 0.9), 0.9),
        (found(0, 4, 0.1), 0.1),
        (doubt(0, 4, 0.25), 0.75),
        (doubt(0, 4, 1.0), 0.0),
        (found(0, 4, None), 0.0),
        (doubt(0, 4, None), 0.0),
    ],
)
def test_confidence_is_in_what_a_span_counts_as(span: Span, confidence: float) -> None:
    assert span.confidence == confidence
    assert NoteState((span,)).least == confidence
    assert NoteState().least == 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [0, 4, "A", "person", None],
        [4, 4, "A", "person", None, True],
        [-1, 4, "A", "person", None, True],
        [0, 11, "A", "person", None, True],
        [0.0, 4, "A", "person", None, True],
        [True, 4, "A", "person", None, True],
        [0, 4, "C", "person", None, True],
        [0, 4, "A", "nobody", None, True],
        [0, 4, "A", "person", 1.5, True],
        [0, 4, "A", "person", "1", True],
        [0, 4, "A", "person", None, 1],
        [0, 4, ["A"], "person", None, True],
    ],
)
def test_what_is_no_span_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"expected|valid"):
        span_of(value, {"A", "B"}, 10)


@given(span=SPANS, source=st.sampled_from(list(Source)), certainty=st.none() | st.floats(0, 1), accepted=st.booleans())
def test_a_span_comes_back_as_it_was(
    span: tuple[int, int, str], source: Source, certainty: float | None, accepted: bool
) -> None:
    made = Span(*span, source, certainty, accepted)
    assert span_of(made.to_json(), {"A", "B"}, 10) == made
