"""When an audit is good enough: limits on findings, in a TOML file that the provider keeps.

    [[limit]]
    attack = "match"
    measure = "top-1 of"
    above_baseline = 0.005
    trials = 100
    why = "a word among its neighbours"

A limit holds for every finding of its attack whose measure begins with its words. `most` and `least` bound the value;
`above_baseline` allows a value only so far above what an attacker without the share reaches, unless chance explains the
rest: unless the interval, at 95% for all findings of the limit together, reaches down to it.

What was not tried is not shown: a limit without a finding fails, and so does one whose largest finding rests on fewer
trials than it asks for. Only a quick audit may lack what the policy marks `full_only`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from shared.errors import ConfigurationError
from shared.evaluation.intervals import clopper_pearson
from shared.files import read_text
from shared.privacy.finding import Finding

_BOUNDS = ("most", "above_baseline", "least")


@dataclass(frozen=True)
class Limit:
    """One limit.

    Args:
        attack: name of the attack.
        measure: begins with.
        why: in words that a privacy officer reads.
        most: largest value that passes; None for no such bound.
        above_baseline: how far above the baseline passes; None for no such bound.
        least: smallest value that passes, for the positive controls, which must be broken.
        trials: on so many at least the largest finding must rest.
        full_only: whether a quick audit may lack it.

    Raises:
        ConfigurationError: a value is of the wrong kind, or there is no bound.
    """

    attack: str
    measure: str
    why: str
    most: float | None = None
    above_baseline: float | None = None
    least: float | None = None
    trials: int = 1
    full_only: bool = False

    def __post_init__(self) -> None:
        texts = (self.attack, self.measure, self.why)
        if not all(isinstance(text, str) and text for text in texts):
            raise ConfigurationError("policy: expected text for attack, measure and why of every limit; give all three")
        bounds = [bound for bound in (self.most, self.above_baseline, self.least) if bound is not None]
        if not bounds or not all(_number(bound) for bound in bounds):
            raise ConfigurationError(
                f"policy, {self.attack}: expected numbers for {', '.join(_BOUNDS)}; give at least one"
            )
        if not isinstance(self.trials, int) or isinstance(self.trials, bool) or self.trials < 1:
            raise ConfigurationError(f"policy, {self.attack}: expected trials from 1 on; give a whole number")
        if not isinstance(self.full_only, bool):
            raise ConfigurationError(f"policy, {self.attack}: expected full_only to be true or false")

    def concerns(self, finding: Finding) -> bool:
        """Whether the limit is about this finding."""
        return finding.attack == self.attack and finding.measure.startswith(self.measure)

    def allows(self, finding: Finding, looks: int = 1) -> bool:
        """Whether the finding is within the limit.

        Args:
            finding: that it concerns.
            looks: findings that it concerns in all. Many looks at 95% would find something in mere chance.
        """
        # Written so that a NaN is never within a limit.
        if self.most is not None and not finding.value <= self.most:
            return False
        if self.least is not None and not finding.value >= self.least:
            return False
        if self.above_baseline is not None:
            if finding.baseline is None:
                # Chance is unknown only where nothing was tried, which is harmless if the limit has other findings.
                return finding.trials == 0
            return lowest(finding, looks) <= finding.baseline + self.above_baseline
        return True

    @property
    def bound(self) -> str:
        """What passes, in words."""
        parts = []
        if self.most is not None:
            parts.append(f"at most {100 * self.most:g}%")
        if self.least is not None:
            parts.append(f"at least {100 * self.least:g}%")
        if self.above_baseline is not None:
            beyond = 100 * self.above_baseline
            parts.append(f"at most {beyond:g} points above it" if beyond else "not above it")
        return ", ".join(parts)


@dataclass(frozen=True)
class Verdict:
    """What became of one limit.

    Args:
        limit: which.
        findings: that it concerns.
        reason: why it is broken, or why it was skipped; empty where it is kept.
        skipped: whether the audit did not try it and need not.
    """

    limit: Limit
    findings: tuple[Finding, ...]
    reason: str = ""
    skipped: bool = False

    @property
    def passed(self) -> bool:
        """Whether the limit does not stand against publishing."""
        return self.skipped or not self.reason

    @property
    def shown(self) -> Finding | None:
        """The finding to show for all: of those that break the limit, else of all, the one with the most trials."""
        broken = [one for one in self.findings if not self.limit.allows(one, len(self.findings))]
        return max(broken or self.findings, key=lambda one: (one.trials, excess(one)), default=None)


def lowest(finding: Finding, looks: int) -> float:
    """Lower end of the interval of one of several findings that hold together at 95%.

    An interval that is not that of a count of hits stays as it is.
    """
    if looks < 2 or not math.isfinite(finding.value):
        return finding.interval[0]
    hits = round(finding.value * finding.trials)
    counted = finding.trials > 0 and 0 <= hits <= finding.trials and math.isclose(hits, finding.value * finding.trials)
    if (
        looks > 1
        and counted
        and math.isclose(clopper_pearson(hits, finding.trials)[0], finding.interval[0], abs_tol=1e-9)
    ):
        return clopper_pearson(hits, finding.trials, level=1 - 0.05 / looks)[0]
    return finding.interval[0]


def excess(finding: Finding) -> float:
    """How far the value lies above what an attacker without the share reaches."""
    return finding.value - (finding.baseline or 0.0)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def judge(limits: Sequence[Limit], findings: Sequence[Finding], *, full: bool) -> list[Verdict]:
    """Hold findings against limits.

    Args:
        limits: of the policy.
        findings: of the audit.
        full: whether the audit was a full one.
    """
    return [_judged(limit, tuple(filter(limit.concerns, findings)), full) for limit in limits]


def _judged(limit: Limit, findings: tuple[Finding, ...], full: bool) -> Verdict:
    if not findings:
        if limit.full_only and not full:
            return Verdict(limit, findings, "part of a full audit only", skipped=True)
        return Verdict(limit, findings, "not tried")
    trials = max(finding.trials for finding in findings)
    if trials < limit.trials:
        return Verdict(limit, findings, f"{trials} trials, at least {limit.trials} are needed; give more notes")
    broken = sum(not limit.allows(finding, len(findings)) for finding in findings)
    return Verdict(limit, findings, f"{broken} of {len(findings)} figures beyond the limit" if broken else "")


def load_policy(path: Path | None = None) -> list[Limit]:
    """The limits of a policy file; those of the project where none is given.

    Raises:
        ConfigurationError: the file is not a policy.
        StorageError: it can't be read.
    """
    name = "policy.toml" if path is None else path.name
    text = _bundled() if path is None else read_text(path)
    try:
        limits = [Limit(**one) for one in tomllib.loads(text)["limit"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{name}: expected [[limit]] tables with attack, measure, why and a bound; see docs/privacy.md"
        ) from error
    if not limits:
        raise ConfigurationError(f"{name}: expected at least one limit, got none; an empty policy would pass anything")
    return limits


def _bundled() -> str:
    return (resources.files("shared.privacy") / "policy.toml").read_text(encoding="utf-8")
