"""How much an audit would have noticed: what passes an audit of ten words shows little, and its reader must be told.

Of a figure that counts hits among trials, a limit breaks from some number of hits on. An attacker who is right so often that this number
is reached in 95 of 100 audits is noticed almost surely; one who is right less often may not be.

Of a figure that counts nothing, such as an area or a mean, with an interval by resampling, no such rate is known. What is known is how far its
interval reaches: so much above what passes a figure must lie for the limit to break. It is about so much, for intervals of greater figures
are narrower as a rule.

The figures of a pooled limit are looks at the same words, and what reads a word may read it in all of them: their sum is as sure as one
figure and no surer, so the chance of its hits is that of their part among the trials of one.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from scipy.special import betaincinv

from shared.evaluation.intervals import clopper_pearson
from shared.privacy.policy import Limit, Verdict, count_hits
from shared.privacy.statistics.finding import Finding

SURE = 0.95


def noticed_rate(verdict: Verdict, figure: Finding | None = None) -> float | None:
    """How often an attacker must be right for a figure to break its limit, in 95 of 100 audits.

    Args:
        verdict: on the limit.
        figure: one of its findings; by default the one that it shows.

    Returns:
        in (0, 1]; None where the figure is no count, bounds from below, or could never break the limit.
    """
    finding, limit = figure or verdict.shown, verdict.limit
    if finding is None or limit.least is not None or count_hits(finding) is None:
        return None
    # The sum of a pooled limit is the last, and looked at once.
    summed = limit.pooled and len(verdict.findings) > 1
    is_sum = summed and finding is verdict.findings[-1]
    looks = 1 if is_sum else len(verdict.findings) - summed
    hits = _breaking_hits(limit, finding, looks)
    if hits is None:
        return None
    figures = len(verdict.findings) - 1 if is_sum else 1
    trials, part = finding.trials // figures, math.ceil(hits / figures)
    # The chance of so many hits or more is a regularised incomplete beta function of the rate.
    return float(betaincinv(part, trials - part + 1, SURE)) if part <= trials else None


def breaking_value(verdict: Verdict, figure: Finding | None = None) -> float | None:
    """About the least value of a figure that would have broken its limit, by the interval that it has.

    Args:
        verdict: on the limit.
        figure: one of its findings; by default the one that it shows.

    Returns:
        the value, a share at most 1; None where the figure is a count, of which `noticed_rate` tells more, or is beyond the limit, or where
        its interval does not matter, or reaches no lower than the value and so tells nothing of those of greater ones.
    """
    finding, limit = figure or verdict.shown, verdict.limit
    if finding is None or finding.baseline is None or finding in verdict.broken or count_hits(finding) is not None:
        return None
    ceiling = limit.ceiling(finding.baseline)
    if math.isinf(ceiling) or not finding.trials or finding.interval[0] >= finding.value:
        return None
    least = ceiling + finding.value - finding.interval[0]
    return least if finding.unit else min(least, 1.0)


def _breaking_hits(limit: Limit, finding: Finding, looks: int) -> int | None:
    """The fewest hits among the trials of a finding that are beyond a limit."""
    level = 1 - 0.05 / max(looks, 1)
    ceiling = math.inf if finding.baseline is None else limit.ceiling(finding.baseline)

    def beyond(hits: int) -> bool:
        if limit.most is not None and hits / finding.trials > limit.most:
            return True
        return clopper_pearson(hits, finding.trials, level=level)[0] > ceiling

    # The more hits, the more is beyond: the first is found by halving.
    hits = bisect_left(range(1, finding.trials + 1), True, key=beyond) + 1
    return hits if hits <= finding.trials else None
