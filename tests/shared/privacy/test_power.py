"""How much an audit would have noticed, against the binomial distribution and the limits themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from shared.privacy.policy import Limit, Verdict, judge
from shared.privacy.power import SURE, breaking_value, noticed_rate
from shared.privacy.statistics.finding import Finding, proportion
from shared.privacy.statistics.resampling import auc_interval

ABOVE = Limit("match", "top-1", "a word", above_baseline=0.01)
TIMES = Limit("match", "top-1", "a word", times_baseline=1.5)
MOST = Limit("match", "top-1", "a word", most=0.05)
POOLED = replace(ABOVE, pooled=True)


def found(hits: int, trials: int, baseline: float | None = 0.01, measure: str = "top-1") -> Finding:
    return proportion("match", measure, hits, trials, baseline, "a list", 0)


def verdict(limit: Limit, *findings: Finding) -> Verdict:
    return judge([limit], findings, full=True)[0]


@pytest.mark.parametrize("trials", [40, 300, 5000])
@pytest.mark.parametrize("limit", [ABOVE, TIMES, MOST])
def test_who_is_right_as_often_breaks_the_limit_in_95_of_100_audits(limit: Limit, trials: int) -> None:
    rate = noticed_rate(verdict(limit, found(0, trials)))
    assert rate is not None
    breaking = next(hits for hits in range(trials + 1) if not verdict(limit, found(hits, trials)).passed)
    assert binom.sf(breaking - 1, trials, rate) == pytest.approx(SURE)


def test_among_many_figures_each_forgives_more() -> None:
    one = verdict(ABOVE, found(0, 100))
    many = verdict(ABOVE, *(found(0, 100, measure=f"top-1 of {number}") for number in range(20)))
    assert (noticed_rate(one) or 1) < (noticed_rate(many) or 0)
    breaking = next(
        hits for hits in range(101) if not verdict(ABOVE, found(hits, 100), *(found(0, 100) for _ in range(19))).passed
    )
    assert binom.sf(breaking - 1, 100, noticed_rate(many)) == pytest.approx(SURE)


@pytest.mark.parametrize(("trials", "figures"), [(100, 20), (200, 4), (500, 6)])
def test_of_a_sum_the_same_words_may_be_read_in_every_figure(trials: int, figures: int) -> None:
    names = [f"top-1 of {number}" for number in range(figures)]
    pooled = verdict(POOLED, *(found(0, trials, measure=name) for name in names))
    assert pooled.shown is pooled.findings[-1]
    rate = noticed_rate(pooled)
    assert rate is not None
    breaking = next(
        hits
        for hits in range(trials + 1)
        if not verdict(POOLED, *(found(hits, trials, measure=name) for name in names)).passed
    )
    assert binom.sf(breaking - 1, trials, rate) >= SURE - 1e-9
    # It is looked at once: the sum of so many breaks for less than each by itself.
    assert rate < (noticed_rate(verdict(ABOVE, *(found(0, trials, measure=name) for name in names))) or 0)


AREA = Limit("match", "top-1", "an area", above_baseline=0.25)


def area(separation: float, notes: int, seed: int) -> Finding:
    """Of scores of which those inside lie so many standard deviations higher."""
    inside = np.arange(notes) < notes // 2
    scores = np.random.default_rng(seed).standard_normal(notes) + separation * inside
    value, interval = auc_interval(scores, inside, np.random.default_rng(seed), 400)
    return Finding("match", "top-1", value, 0.5, interval, notes, "a list", seed)


@pytest.mark.parametrize("notes", [60, 200])
def test_of_an_area_it_is_told_from_about_where_the_limit_breaks(notes: int) -> None:
    told = [breaking_value(verdict(AREA, area(0.6, notes, seed))) for seed in range(20)]
    assert all(one is not None and one > 0.75 for one in told)
    breaking = [made.value for seed in range(60) if not verdict(AREA, made := area(1.55, notes, seed)).passed]
    # It claims no more than is so: what breaks the limit may lie somewhat lower, for its interval is narrower.
    assert 0 < float(np.median([one or 0 for one in told])) - min(breaking) < 0.08


def test_with_few_notes_a_greater_leak_passes() -> None:
    few, many = (breaking_value(verdict(AREA, area(0.6, notes, 1))) or 0 for notes in (60, 600))
    assert 0.75 < many < few <= 1


def test_of_counts_of_what_is_beyond_and_of_what_no_interval_decides_no_value_is_told() -> None:
    assert breaking_value(verdict(ABOVE, found(0, 100))) is None
    assert breaking_value(verdict(AREA, area(9.0, 60, 0))) is None
    assert breaking_value(verdict(replace(AREA, above_baseline=None, most=0.9), area(0.6, 60, 0))) is None
    assert breaking_value(verdict(AREA)) is None


def test_what_is_no_count_or_can_not_break_says_nothing() -> None:
    resampled = replace(found(1, 100), interval=(0.0, 0.5))
    assert noticed_rate(verdict(ABOVE, resampled)) is None
    assert noticed_rate(verdict(ABOVE, found(0, 1, baseline=0.5))) is None
    assert noticed_rate(verdict(Limit("match", "top-1", "a control", least=0.5), found(90, 100))) is None
    assert noticed_rate(verdict(ABOVE)) is None


@pytest.mark.parametrize(
    "changed",
    [{"interval": (0.0, 0.0)}, {"unit": "categories"}, {"unit": "categories", "interval": (0.0, 0.0)}],
    ids=["resampled", "a unit", "both"],
)
@pytest.mark.parametrize("limit", [ABOVE, MOST, replace(ABOVE, above_baseline=0.0)], ids=["above", "most", "not above"])
def test_a_figure_of_nothing_that_is_no_count_promises_nothing(limit: Limit, changed: dict[str, Any]) -> None:
    """Drawn again nothing is nothing every time: its lower end is that of a count, and its upper end is not."""
    nothing = replace(found(0, 400, baseline=0.0), **changed)
    judged = verdict(limit, nothing)
    assert judged.passed
    assert noticed_rate(verdict(limit, found(0, 400, baseline=0.0))) is not None
    assert noticed_rate(judged) is None
    # Nor does an interval without width tell from where on the limit would have broken.
    assert breaking_value(judged) is None
