"""What a hospital tells of a head: shares by the note, careful under noise, and of no note more than of any other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.models.noise_source import PrivateNoise
from shared.pipeline.operating_points import GRID
from shared.pipeline.promises.by_note import MEASURED, NUMBERS, NoisyCurves, note_vector, read_curve, says_nothing

PHI, HALF = 4, len(GRID) // 2


def counts(hidden: int) -> NDArray[np.int64]:
    """So many of the entities are hidden by the best tags, all of them in the lower half of the grid."""
    found = np.array([hidden if place < HALF else PHI for place in range(len(GRID))])
    return np.array([found, found, found + 1])


def test_without_noise_it_is_the_mean_over_notes() -> None:
    curves = NoisyCurves(0.0)
    for number in (1, 2, 3):
        curves.add(PHI, counts(number))
    # No PHI, and a word hidden all the same: that counts for precision alone.
    curves.add(0, np.array([np.zeros(len(GRID), int), np.zeros(len(GRID), int), np.ones(len(GRID), int)]))
    hidden, precision = curves.told(PrivateNoise()).reshape(2, -1)
    late = [place >= HALF for place in MEASURED]
    np.testing.assert_allclose(hidden, [1.0 if one else 0.5 for one in late], atol=1e-4)
    early = (1 / 2 + 2 / 3 + 3 / 4) / 4
    assert precision[0] == pytest.approx(early, abs=1e-4)
    assert precision.max() == precision[0]


def test_noise_makes_it_careful_and_many_notes_make_up_for_it() -> None:
    told = {}
    # Their number is told with noise, too: 20 seemed enough in one run of two thousand, 4 do in one of half a million.
    for notes in (4, 2000):
        curves = NoisyCurves(4.0)
        for _ in range(notes):
            curves.add(PHI, counts(2))
        told[notes] = curves.told(PrivateNoise())
    assert says_nothing(told[4])
    assert not told[4].any()
    told = {notes: curve[0] for notes, curve in told.items()}
    assert told[4] == 0
    assert 0.44 < told[2000] < 0.52


@pytest.mark.parametrize(("multiplier", "notes"), [(0.0, 1), (4.0, 2000)])
def test_where_nothing_is_hidden_that_is_told_and_is_not_silence(multiplier: float, notes: int) -> None:
    curves = NoisyCurves(multiplier)
    for _ in range(notes):
        curves.add(PHI, np.zeros((3, len(GRID)), int))
    told = curves.told(PrivateNoise())
    assert not says_nothing(told)
    curve = read_curve(told)
    assert curve.hidden.max() <= 0.02 * curve.entities
    # Below the unit of a curve: what is added to tell it from silence promises nothing.
    assert curve.hidden[0] == 0 or multiplier


@given(
    st.integers(0, 50),
    arrays.arrays(np.int64, (3, len(GRID)), elements=st.integers(0, 50)),
)
def test_no_note_counts_for_more_than_the_bound(entities: int, made: NDArray[np.int64]) -> None:
    """Also of counts that no pipeline makes: what is longer is shortened."""
    base, with_note = NoisyCurves(0.0), NoisyCurves(0.0)
    with_note.add(entities, made)
    moved = np.linalg.norm(with_note._sum.noisy(0, PrivateNoise()) - base._sum.noisy(0, PrivateNoise()))
    assert moved <= with_note._sum.bound


@given(st.integers(0, 50), arrays.arrays(np.int64, (3, len(GRID)), elements=st.integers(0, 50)))
def test_no_note_that_a_pipeline_can_make_is_shortened(entities: int, made: NDArray[np.int64]) -> None:
    """Whichever way its hiding and its precision go: what is shortened would be the notes in which a head does badly."""
    hidden, right, wrong = np.minimum(made[0], entities), made[1], made[2]
    vector = note_vector(entities, np.array([hidden, right, right + wrong]))
    bins, losses = vector[: len(MEASURED) + 2], vector[len(MEASURED) + 2 :]
    assert bins.min() >= 0
    assert bins.sum() == pytest.approx(1)
    assert losses.max() <= 0
    assert np.linalg.norm(vector) <= NoisyCurves(0.0)._sum.bound


WRONG = np.array([[0] * len(GRID), [0] * len(GRID), [0] + [5] * (len(GRID) - 1)])
"""The best tags hide nothing, and all that lower thresholds hide is wrong."""
GOOD = np.array([[PHI] * len(GRID), [5] * len(GRID), [5] * len(GRID)])


@pytest.mark.parametrize("bad", [100, 500, 900])
def test_notes_in_which_a_head_does_badly_count_in_full(bad: int) -> None:
    curves = NoisyCurves(0.0)
    for number in range(1000):
        curves.add(PHI, WRONG if number < bad else GOOD)
    hidden, precision = curves.told(PrivateNoise()).reshape(2, -1)
    np.testing.assert_allclose(hidden, 1 - bad / 1000, atol=1e-4)
    np.testing.assert_allclose(precision, [1.0] + [1 - bad / 1000] * (len(MEASURED) - 1), atol=1e-4)


def test_a_curve_that_goes_both_ways_is_told_by_its_worse_side() -> None:
    ways = np.zeros((3, len(GRID)), dtype=np.int64)
    ways[0, list(MEASURED)] = [2, 4, 2, 4, 3, 4]
    ways[1, list(MEASURED)] = [1, 1, 8, 8, 9, 9]
    ways[2, list(MEASURED)] = [1, 2, 10, 10, 20, 20]
    curves = NoisyCurves(0.0)
    for _ in range(100):
        curves.add(PHI, ways)
    hidden, precision = curves.told(PrivateNoise()).reshape(2, -1)
    np.testing.assert_allclose(hidden, [0.5, 0.5, 0.5, 0.75, 0.75, 1], atol=1e-4)
    np.testing.assert_allclose(precision, [1, 0.5, 0.5, 0.5, 0.45, 0.45], atol=1e-4)


def test_the_sum_alone_decides_what_is_told() -> None:
    """How many notes there are is a number of it, and has noise like any other."""
    curves, empty = NoisyCurves(0.0), NoisyCurves(0.0)
    for number in range(100):
        curves.add(number % 3, counts(number % 3))
    empty._sum._sum[:] = curves._sum._sum
    np.testing.assert_array_equal(empty.told(PrivateNoise()), curves.told(PrivateNoise()))


def test_a_curve_is_read_for_the_whole_grid_and_never_rosier() -> None:
    hidden = np.linspace(0.5, 0.95, len(MEASURED))
    precision = np.linspace(0.9, 0.4, len(MEASURED))
    curve = read_curve(np.concatenate([hidden, precision]).astype(np.float32))
    said, right = curve.hidden / curve.entities, curve.right / curve.shown
    for place in range(len(GRID)):
        measured = [index for index, at in enumerate(MEASURED) if at <= place]
        assert said[place] == pytest.approx(hidden[measured[-1]], abs=1e-4)
        behind = [index for index, at in enumerate(MEASURED) if at >= place] or [len(MEASURED) - 1]
        assert right[place] == pytest.approx(precision[behind[0]], abs=1e-4)


@pytest.mark.parametrize(
    "told", [np.zeros(NUMBERS + 1), np.full(NUMBERS, 1.5), np.full(NUMBERS, -0.1), np.full(NUMBERS, np.nan)]
)
def test_numbers_that_are_no_shares_are_refused(told: NDArray[np.float64]) -> None:
    with pytest.raises(ConfigurationError):
        read_curve(told.astype(np.float32))
