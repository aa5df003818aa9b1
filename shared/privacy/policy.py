"""When an audit is good enough: limits on findings, in a TOML file that the provider keeps.

    [[limit]]
    attack = "match"
    measure = "top-1 of 100, nearest neighbours"
    above_baseline = 0.005
    trials = 100
    why = "a word among its neighbours"

A limit holds for every finding of its attack whose measure begins with its words. `most` bounds the value; `least` bounds
the lower end of its interval, for a control that chance may have broken proves nothing. `above_baseline` allows a value only
so far above what an attacker without the share reaches, and `times_baseline` only so many times as much, unless chance
explains the rest: unless the interval, at 95% for all findings of the limit together, reaches down to it.

Of many figures that correction forgives each a lot. A `pooled` limit looks at those of all PHI together, leaves their
parts by category out, and also holds the sum of their hits against the sum of their trials, where 95% need no correction.
Figures of one audit attack the same words, so the sum is surer of itself than it should be; the allowance has room for it.

What was not tried is not shown: a limit without a finding fails, and so does one of whose findings rests on fewer trials
than it asks for; findings of one category may. What could not have broken a limit does not keep it: one in times the
baseline fails where so many times as often as without the share is always. One limit does not vouch for figures that other findings
lack: what must be there has a limit of its own. Only a quick audit may lack what the policy marks `full_only`, and only the audit of a
construction without an own set, of words that it can't tell apart, what is marked `own_set_only`.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from foundation.reading import read_text
from shared.errors import ConfigurationError
from shared.evaluation.intervals import clopper_pearson
from shared.privacy.statistics.finding import Finding, proportion

FULL_ONLY = "part of a full audit only"
NO_OWN_SET = "this construction has no own set"
BEYOND = "figures beyond the limit"
_BOUNDS = ("most", "above_baseline", "times_baseline", "least")


@dataclass(frozen=True)
class Limit:
    """One limit.

    Args:
        attack: name of the attack.
        measure: begins with.
        why: in words that a privacy officer reads.
        most: largest value that passes; None for no such bound.
        above_baseline: how far above the baseline passes; None for no such bound.
        times_baseline: how many times the baseline passes; None for no such bound.
        least: smallest lower end of the interval that passes, for the positive controls, which must be broken.
        trials: on so many at least every finding must rest, but for those of one category beside one of all.
        full_only: whether a quick audit may lack it.
        own_set_only: whether it may be lacking where the construction has no own set, of words that it can't tell apart.
        pooled: whether the hits of all findings count together, and findings of one category not.

    Raises:
        ConfigurationError: a value is of the wrong kind, or there is no bound.
    """

    attack: str
    measure: str
    why: str
    most: float | None = None
    above_baseline: float | None = None
    times_baseline: float | None = None
    least: float | None = None
    trials: int = 1
    full_only: bool = False
    own_set_only: bool = False
    pooled: bool = False

    def __post_init__(self) -> None:
        texts = (self.attack, self.measure, self.why)
        if not all(isinstance(text, str) and text for text in texts):
            raise ConfigurationError("policy: expected text for attack, measure and why of every limit; give all three")
        bounds = [bound for bound in (getattr(self, name) for name in _BOUNDS) if bound is not None]
        if not bounds or not all(_number(bound) for bound in bounds):
            raise ConfigurationError(
                f"policy, {self.attack}: expected numbers for {', '.join(_BOUNDS)}; give at least one"
            )
        if not isinstance(self.trials, int) or isinstance(self.trials, bool) or self.trials < 1:
            raise ConfigurationError(f"policy, {self.attack}: expected trials from 1 on; give a whole number")
        if not all(isinstance(flag, bool) for flag in (self.full_only, self.own_set_only, self.pooled)):
            raise ConfigurationError(
                f"policy, {self.attack}: expected full_only, own_set_only and pooled to be true or false"
            )

    def concerns(self, finding: Finding) -> bool:
        """Whether the limit is about this finding."""
        named = finding.attack == self.attack and finding.measure.startswith(self.measure)
        return named and not (self.pooled and finding.category)

    def allows(self, finding: Finding, looks: int = 1) -> bool:
        """Whether the finding is within the limit.

        Args:
            finding: that it concerns.
            looks: findings that it concerns in all. Many looks at 95% would find something in mere chance.
        """
        # Written so that a NaN is never within a limit.
        if self.most is not None and not finding.value <= self.most:
            return False
        if self.least is not None and not finding.interval[0] >= self.least:
            return False
        if self.above_baseline is None and self.times_baseline is None:
            return True
        if finding.baseline is None:
            return False
        return lower_end(finding, looks) <= self.ceiling(finding.baseline)

    def can_break(self, finding: Finding) -> bool:
        """Whether some value would be beyond the limit: a share is at most 1, also where so many times chance is more."""
        if self.times_baseline is None or self.most is not None or self.least is not None:
            return True
        return bool(finding.unit) or finding.baseline is None or not self.ceiling(finding.baseline) >= 1

    def ceiling(self, baseline: float) -> float:
        """The largest value above a baseline that passes."""
        above = math.inf if self.above_baseline is None else baseline + self.above_baseline
        return above if self.times_baseline is None else min(above, baseline * self.times_baseline)

    @property
    def bound(self) -> str:
        """What passes, in words."""
        parts = []
        if self.most is not None:
            parts.append(f"at most {100 * self.most:g}%")
        if self.least is not None:
            parts.append(f"at least {100 * self.least:g}%, with its whole interval")
        if self.above_baseline is not None:
            beyond = 100 * self.above_baseline
            parts.append(f"at most {beyond:g} points above it" if beyond else "not above it")
        if self.times_baseline is not None:
            parts.append(f"at most {self.times_baseline:g} times it")
        return ", ".join(parts)


@dataclass(frozen=True)
class Policy:
    """Limits, and where they are from.

    Args:
        name: of the file.
        digest: SHA-256 of it.
        limits: at least one.
    """

    name: str
    digest: str
    limits: tuple[Limit, ...]

    @property
    def ours(self) -> bool:
        """Whether it is the project's, whatever it is called."""
        return self.digest == _sha256(_bundled())


class Outcome(StrEnum):
    """What became of a limit, as people read it."""

    PASS = "pass"
    SKIPPED = "skipped"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Verdict:
    """What became of one limit.

    Args:
        limit: which.
        findings: that it concerns; of a pooled limit, their sum as the last.
        broken: those beyond the limit, with too few trials, or so that none could have broken it.
        reason: why it is broken, or why it was skipped; empty where it is kept.
        skipped: whether the audit did not try it and need not have.
    """

    limit: Limit
    findings: tuple[Finding, ...]
    broken: tuple[Finding, ...] = ()
    reason: str = ""
    skipped: bool = False

    @property
    def passed(self) -> bool:
        """Whether the limit does not stand against publishing."""
        return self.outcome != Outcome.FAIL

    @property
    def outcome(self) -> Outcome:
        """Skipped, kept or broken."""
        if self.skipped:
            return Outcome.SKIPPED
        return Outcome.FAIL if self.reason else Outcome.PASS

    @property
    def shown(self) -> Finding | None:
        """The finding to show for all: of those that break the limit, else of all, the one with the most trials."""
        return max(self.broken or self.findings, key=lambda one: (one.trials, excess(one)), default=None)


def lower_end(finding: Finding, looks: int) -> float:
    """Lower end of the interval of one of several findings that hold together at 95%.

    An interval that is not that of a count of hits stays as it is.
    """
    hits = count_hits(finding)
    if looks < 2 or hits is None:
        return finding.interval[0]
    return clopper_pearson(hits, finding.trials, level=1 - 0.05 / looks)[0]


def pool_findings(findings: Sequence[Finding]) -> Finding | None:
    """All hits among all trials, and what an attacker without the share reaches on average; None if one is no count."""
    counted = [hits for one in findings if (hits := count_hits(one)) is not None]
    if not findings or len(counted) < len(findings):
        return None
    trials = sum(one.trials for one in findings)
    chances = [one.baseline * one.trials for one in findings if one.baseline is not None]
    baseline = sum(chances) / trials if len(chances) == len(findings) else None
    first = findings[0]
    return proportion(
        first.attack, f"{len(findings)} figures together", sum(counted), trials, baseline, first.knowledge, first.seed
    )


def count_hits(finding: Finding) -> int | None:
    """How many, where the finding is a count of hits with the interval of one, at both ends: of nothing any interval begins at 0."""
    if finding.unit or not finding.trials or not 0 <= finding.value <= 1:
        return None
    hits = round(finding.value * finding.trials)
    stated = (hits / finding.trials, *clopper_pearson(hits, finding.trials))
    found = (finding.value, *finding.interval)
    return hits if all(math.isclose(*both, abs_tol=1e-9) for both in zip(stated, found, strict=True)) else None


def excess(finding: Finding) -> float:
    """How far the value lies above what an attacker without the share reaches."""
    return finding.value - (finding.baseline or 0.0)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def judge(limits: Sequence[Limit], findings: Sequence[Finding], *, full: bool, own_set: bool = True) -> list[Verdict]:
    """Hold findings against limits.

    Args:
        limits: of the policy.
        findings: of the audit.
        full: whether the audit was a full one.
        own_set: whether the construction has one.
    """
    return [_judged(limit, tuple(filter(limit.concerns, findings)), full, own_set) for limit in limits]


def _judged(limit: Limit, findings: tuple[Finding, ...], full: bool, own_set: bool) -> Verdict:
    if not findings:
        if limit.own_set_only and not own_set:
            return Verdict(limit, findings, reason=NO_OWN_SET, skipped=True)
        if limit.full_only and not full:
            return Verdict(limit, findings, reason=FULL_ONLY, skipped=True)
        return Verdict(limit, findings, reason="not tried")
    whole = [one for one in findings if not one.category] or findings
    if few := tuple(one for one in whole if one.trials < limit.trials):
        fewest = min(one.trials for one in few)
        reason = f"not enough notes: {fewest} trials, at least {limit.trials} are needed; give more notes"
        return Verdict(limit, findings, few, reason)
    if idle := tuple(one for one in whole if not limit.can_break(one)):
        chance = max(one.baseline or 0.0 for one in idle)
        reason = (
            f"can't break: {100 * chance:.0f}% are right without the share, and {limit.times_baseline:g} times as many would be all; give "
            "more notes, of more even length"
        )
        return Verdict(limit, findings, idle, reason)
    broken = [one for one in findings if not limit.allows(one, len(findings))]
    if limit.pooled and len(findings) > 1:
        together = pool_findings(findings)
        if together is None:
            return Verdict(limit, findings, reason="figures that are no counts can't be pooled; change the policy")
        findings = (*findings, together)
        broken += [] if limit.allows(together) else [together]
    reason = f"{len(broken)} of {len(findings)} {BEYOND}" if broken else ""
    return Verdict(limit, findings, tuple(broken), reason)


def load_policy(path: Path | None = None) -> Policy:
    """A policy file; the project's where none is given.

    Raises:
        ConfigurationError: the file is not a policy.
        StorageError: it can't be read.
    """
    name = "policy.toml" if path is None else path.name
    text = _bundled() if path is None else read_text(path)
    try:
        limits = tuple(Limit(**one) for one in tomllib.loads(text)["limit"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{name}: expected [[limit]] tables with attack, measure, why and a bound; see docs/privacy.md"
        ) from error
    if not limits:
        raise ConfigurationError(f"{name}: expected at least one limit, got none; an empty policy would pass anything")
    return Policy(name, _sha256(text), limits)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _bundled() -> str:
    return (resources.files("shared.privacy") / "policy.toml").read_text(encoding="utf-8")
