"""How much an audit would have noticed, against the binomial distribution and the limits themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom

from shared.privacy.policy import Limit, Verdict, judge
from shared.privacy.power import SURE, noticed_rate
from shared.privacy.statistics.finding import Finding, proportion

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


def test_what_is_no_count_or_can_not_break_says_nothing() -> None:
    resampled = replace(found(1, 100), interval=(0.0, 0.5))
    assert noticed_rate(verdict(ABOVE, resampled)) is None
    assert noticed_rate(verdict(ABOVE, found(0, 1, baseline=0.5))) is None
    assert noticed_rate(verdict(Limit("match", "top-1", "a control", least=0.5), found(90, 100))) is None
    assert noticed_rate(verdict(ABOVE)) is None
