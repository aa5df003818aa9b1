"""What a release promises, and what a hospital gets when it asks for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shared.errors import ConfigurationError, ModelError
from shared.labels import tag_spans
from shared.pipeline.operating_points import (
    FILE,
    GRID,
    HospitalCurve,
    OperatingPoint,
    OperatingPoints,
    choose_points,
    load_points,
)
from shared.pipeline.reading import Reading, raise_tags

POINTS = OperatingPoints(4, (OperatingPoint(0.9, None, 0.93, 0.9, 0.81), OperatingPoint(0.95, 0.1, 0.96, 0.8, 0.9)))


def curve(*hidden: int, entities: int = 100) -> HospitalCurve:
    """A hospital of which so many entities are hidden at the first thresholds, and as many at all others as at the last."""
    counts = np.array([*hidden, *[hidden[-1]] * (len(GRID) - len(hidden))])
    shown = counts + np.arange(len(GRID)) * 10
    return HospitalCurve(entities, counts, counts, shown)


class TestChoosing:
    def test_the_cheapest_threshold_whose_median_reaches_the_target(self) -> None:
        found = choose_points([curve(91, 97), curve(92, 99), curve(50, 60, 99)])
        assert found is not None
        assert found.hospitals == 3
        chosen = [(one.target, one.threshold) for one in found.points]
        assert chosen == [(0.9, None), (0.92, GRID[1]), (0.95, GRID[1]), (0.98, GRID[2]), (0.99, GRID[2])]
        assert found.points[0].hidden == 0.91
        assert found.points[0].least == 0.5
        assert found.default.target == 0.92

    def test_what_no_threshold_reaches_is_promised_to_nobody(self) -> None:
        found = choose_points([curve(90), curve(91), curve(94)])
        assert found is not None
        assert [one.target for one in found.points] == [0.9]
        with pytest.raises(ConfigurationError, match=r"at most 0\.9"):
            found.reaching(0.95)

    @pytest.mark.parametrize("curves", [[], [curve(99), curve(99)], [curve(50), curve(50), curve(50)]])
    def test_few_hospitals_or_poor_ones_promise_nothing(self, curves: list[HospitalCurve]) -> None:
        assert choose_points(curves) is None

    def test_a_hospital_without_phi_has_no_say(self) -> None:
        assert choose_points([curve(99), curve(99), curve(0, entities=0)]) is None

    def test_more_is_promised_than_was_asked_never_less(self) -> None:
        assert POINTS.reaching(0.91).target == 0.95
        assert POINTS.reaching(0.95).target == 0.95
        assert POINTS.reaching(0.5).target == 0.9


class TestFile:
    def test_it_reads_back(self, tmp_path: Path) -> None:
        assert load_points(tmp_path) is None
        POINTS.save(tmp_path)
        assert load_points(tmp_path) == POINTS

    @pytest.mark.parametrize(
        "change",
        [
            {"version": 2},
            {"hospitals": "4"},
            {"hospitals": 0},
            {"points": []},
            {"points": [{"target": 0.9}]},
            {"points": [{"target": 0.9, "threshold": True, "hidden": 1, "precision": 1, "least": 1}]},
            {"points": [{"target": 0.9, "threshold": 1.0, "hidden": 1, "precision": 1, "least": 1}]},
            {"points": [{"target": 0.9, "threshold": None, "hidden": 2, "precision": 1, "least": 1}]},
            {"points": 3},
        ],
    )
    def test_what_is_none_is_refused(self, tmp_path: Path, change: dict[str, object]) -> None:
        POINTS.save(tmp_path)
        stated = json.loads((tmp_path / FILE).read_text()) | change
        (tmp_path / FILE).write_text(json.dumps(stated))
        with pytest.raises(ModelError):
            load_points(tmp_path)

    @pytest.mark.parametrize("text", ["", "[]", "{", "null"])
    def test_so_is_no_json(self, tmp_path: Path, text: str) -> None:
        (tmp_path / FILE).write_text(text)
        with pytest.raises(ModelError):
            load_points(tmp_path)


def reading(tags: list[int], certainty: list[float], category: list[int]) -> Reading:
    return Reading(np.array(tags, np.uint8), np.array(certainty, np.float32), np.array(category))


class TestRaising:
    def test_a_probable_token_is_hidden_and_joins_what_it_touches(self) -> None:
        found = raise_tags(
            reading([0, 1, 0, 0, 0], [0.4, 0.9, 0.3, 0.01, 0.5], [0, 0, 0, 0, 1]), np.array([0], np.int32), 0.3
        )
        assert list(tag_spans(found)) == [(0, 3, 0), (4, 5, 1)]

    def test_it_joins_nothing_of_another_sentence_or_category(self) -> None:
        found = raise_tags(reading([1, 0, 0], [0.9, 0.4, 0.4], [0, 0, 1]), np.array([0, 1], np.int32), 0.3)
        assert list(tag_spans(found)) == [(0, 1, 0), (1, 2, 0), (2, 3, 1)]

    def test_two_spans_that_only_touch_stay_two(self) -> None:
        found = raise_tags(reading([1, 1, 0], [0.9, 0.9, 0.1], [0, 0, 0]), np.array([0], np.int32), 0.3)
        assert list(tag_spans(found)) == [(0, 1, 0), (1, 2, 0)]

    @given(st.data())
    def test_nothing_that_was_hidden_is_given_up_and_a_lower_threshold_hides_no_less(self, data: st.DataObject) -> None:
        size = data.draw(st.integers(1, 12))
        tags = data.draw(hnp.arrays(np.uint8, size, elements=st.integers(0, 4)))
        certainty = data.draw(hnp.arrays(np.float32, size, elements=st.floats(0, 1, width=32)))
        category = data.draw(hnp.arrays(np.int64, size, elements=st.integers(0, 1)))
        one, starts = Reading(tags, certainty, category), np.array([0], np.int32)
        low, high = (raise_tags(one, starts, threshold) > 0 for threshold in (0.1, 0.6))
        assert (high >= (tags > 0)).all()
        assert (low >= high).all()
        assert (low == ((tags > 0) | (certainty >= np.float32(0.1)))).all()


def test_the_points_are_frozen_values() -> None:
    with pytest.raises(ModelError):
        replace(POINTS, points=(POINTS.points[1], POINTS.points[0]))
