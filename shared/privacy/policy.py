"""When an audit is good enough: limits on findings, in a TOML file that the provider keeps.

    [[limit]]
    attack = "match"
    measure = "top-1 of 100, nearest neighbours"
    most = 0.015
    why = "a word among its neighbours"

A limit holds for every finding whose attack and measure begin with its words. `most` bounds the value; `above_baseline`
allows a value only so far above what an attacker without the share reaches, unless chance explains the rest, that is
unless the interval reaches down to it. A limit that meets no finding fails: what was not tried is not shown.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from shared.errors import ConfigurationError
from shared.files import read_text
from shared.privacy.finding import Finding


@dataclass(frozen=True)
class Limit:
    """One limit.

    Args:
        attack: begins with.
        measure: begins with.
        why: in words that a privacy officer reads.
        most: largest value that passes; None for no such bound.
        above_baseline: how far above the baseline passes; None for no such bound.
        least: smallest value that passes, for the positive controls, which must be broken.
        full_only: whether a quick audit may lack it.
    """

    attack: str
    measure: str
    why: str
    most: float | None = None
    above_baseline: float | None = None
    least: float | None = None
    full_only: bool = False

    def __post_init__(self) -> None:
        if all(bound is None for bound in (self.most, self.above_baseline, self.least)):
            raise ConfigurationError(f"policy, {self.attack}: expected most, above_baseline or least; add one")

    def concerns(self, finding: Finding) -> bool:
        """Whether the limit is about this finding."""
        return finding.attack.startswith(self.attack) and finding.measure.startswith(self.measure)

    def allows(self, finding: Finding) -> bool:
        """Whether the finding is within the limit."""
        if self.most is not None and finding.value > self.most:
            return False
        if self.least is not None and finding.value < self.least:
            return False
        if self.above_baseline is not None:
            return finding.baseline is not None and finding.interval[0] <= finding.baseline + self.above_baseline
        return True


@dataclass(frozen=True)
class Verdict:
    """What became of one limit.

    Args:
        limit: which.
        findings: that it concerns.
        passed: whether all of them are within it, and there is one.
        skipped: whether the audit did not try it and need not.
    """

    limit: Limit
    findings: tuple[Finding, ...]
    passed: bool
    skipped: bool = False

    @property
    def worst(self) -> Finding | None:
        """The finding that is furthest beyond its baseline or, without one, the largest."""
        if not self.findings:
            return None
        return max(self.findings, key=lambda finding: finding.value - (finding.baseline or 0.0))


def judge(limits: Sequence[Limit], findings: Sequence[Finding], *, full: bool) -> list[Verdict]:
    """Hold findings against limits.

    Args:
        limits: of the policy.
        findings: of the audit.
        full: whether the audit was a full one.
    """
    verdicts = []
    for limit in limits:
        own = tuple(finding for finding in findings if limit.concerns(finding))
        skipped = not own and limit.full_only and not full
        verdicts.append(Verdict(limit, own, skipped or (bool(own) and all(map(limit.allows, own))), skipped))
    return verdicts


def load_policy(path: Path | None = None) -> list[Limit]:
    """The limits of a policy file; those of the project where none is given.

    Raises:
        ConfigurationError: the file is not a policy.
        StorageError: it can't be read.
    """
    name = "policy.toml" if path is None else path.name
    bundled = resources.files("shared.privacy") / name
    text = bundled.read_text(encoding="utf-8") if path is None else read_text(path)
    try:
        limits = [Limit(**one) for one in tomllib.loads(text)["limit"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{name}: expected [[limit]] tables with attack, measure, why and a bound; see docs/privacy.md"
        ) from error
    if not limits:
        raise ConfigurationError(f"{name}: expected at least one limit, got none; an empty policy would pass anything")
    return limits
