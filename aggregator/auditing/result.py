"""What an audit found, in words and numbers: for its record, its page and the terminal."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from shared.constructions.accounting import GaussianGuarantee
from shared.privacy.audit import Audit, AuditSettings
from shared.privacy.audit_record import FORMAT
from shared.privacy.policy import FULL_ONLY, Policy, Verdict
from shared.privacy.statistics.finding import Finding

NOT_SHOWN = (
    "That no better attack exists. Only what is proved holds against all.",
    "PHI that nobody labelled in a hospital's notes and that nothing finds before encoding. It is shown as any other word: "
    "readable if it is common in public text, else as one of its cluster.",
    "That words which are not PHI are hidden. They are not: the figures under readability say how many can be read. A rare "
    "combination of findings may point to a person.",
    "That nobody learns which note a sentence is from, or which notes trained a head. Both can be guessed better than by chance; "
    "how much better has a limit, of clinical sentences and of a head that the audit trains on shares.",
    "Anything about notes unlike those that were used here.",
)


# Why a limit is skipped, and what can be done about it.
_REASONS = {FULL_ONLY: "they are part of a full audit only (--preset full)"}


@dataclass(frozen=True)
class Inputs:
    """What was attacked and with what, by SHA-256.

    Args:
        representer: all files that decide a representation.
        notes: of attacker and attacked.
        vectors: public word vectors, from which neighbours come.
        names: full names of the linkage attack.
    """

    representer: str
    notes: str
    vectors: str
    names: str


@dataclass(frozen=True)
class AuditResult:
    """An audit and what became of it.

    Args:
        audit: findings, accounting.
        verdicts: one a limit of the policy.
        policy: the limits.
        inputs: what was attacked.
        preset: "quick" or "full".
        settings: of the attacks.
        seen: how many of the attacked notes the representer was trained on; None where its record does not say.
        software: versions by name.
        number: of this audit, among those of this representer that the workspace has seen.
        made: its day.
    """

    audit: Audit
    verdicts: tuple[Verdict, ...]
    policy: Policy
    inputs: Inputs
    preset: str
    settings: AuditSettings
    seen: int | None
    software: Mapping[str, str]
    number: int = 1
    made: datetime.date = field(default_factory=datetime.date.today)

    @property
    def passed(self) -> bool:
        """Whether every limit is kept, and one of them was measured: what was only skipped shows nothing."""
        return all(one.passed for one in self.verdicts) and any(not one.skipped for one in self.verdicts)

    @property
    def words(self) -> str:
        """The verdict."""
        skipped = Counter(verdict.reason for verdict in self.verdicts if verdict.skipped)
        measured = len(self.verdicts) - skipped.total()
        more = [
            f" {count}{' more' if measured else ''} {_were(count)} not measured: {_REASONS.get(why, why)}."
            for why, count in skipped.items()
        ]
        if not measured:
            refused = "none of its limits was measured. It must not be published."
            return f"The representer does NOT pass its audit: {refused}{''.join(more)}"
        if not self.passed:
            broken = sum(not verdict.passed for verdict in self.verdicts)
            return (
                f"The representer does NOT pass its audit: it does not keep {broken} of the {count_limits(measured)} that this audit asks for. "
                "It must not be published."
            )
        return (
            f"The representer passes its audit: it keeps {'all ' if measured > 1 else ''}{count_limits(measured)} that this audit asks for; "
            f"no attack that was tried reads protected words beyond {'it' if measured == 1 else 'them'}.{''.join(more)}"
        )

    @property
    def caveats(self) -> list[str]:
        """What a reader of the verdict must know."""
        found = []
        if self.audit.left_out:
            names = ", ".join(reason.partition(":")[0] for reason in self.audit.left_out)
            found.append(f"{self.preset} audit, not tried: {names}")
        if not self.policy.ours:
            found.append(
                f"the limits are NOT the project's own: {self.policy.name}, SHA-256 {self.policy.digest[:16]}; ask the provider for them"
            )
        if self.seen is None:
            found.append("whether any attacked note was among those that the representer was trained on is not known")
        elif self.seen:
            found.append(
                f"{self.seen} of the attacked notes were among those that the representer was trained on, which flatters one that is "
                "trained; audit it on others before real notes are shared"
            )
        if self.number > 1:
            found.append(
                f"this is audit number {self.number} of this representer; one of many passes by chance, see `aggregator audit-log show`"
            )
        return found

    def as_json(self) -> dict[str, object]:
        """Everything as a JSON object."""
        return {
            "format": FORMAT,
            "made": self.made.isoformat(),
            "passed": self.passed,
            "verdict": self.words,
            "caveats": self.caveats,
            "not_shown": list(NOT_SHOWN),
            "preset": self.preset,
            "seed": self.settings.seed,
            "policy": {"name": self.policy.name, "digest": self.policy.digest, "ours": self.policy.ours},
            "representer": self.inputs.representer,
            "inputs": asdict(self.inputs),
            "attacked_notes_trained_on": self.seen,
            "number": self.number,
            "software": dict(self.software),
            "accounting": {
                "basis": self.audit.accounting.basis,
                "statement": self.audit.accounting.statement,
                "guarantees": [
                    # JSON has no infinity, which is the epsilon of noise too weak for any number.
                    {
                        "unit": one.unit,
                        "mu": one.mu,
                        "rho": one.rho,
                        "epsilon": _finite(one.epsilon),
                        "delta": one.delta,
                    }
                    for one in self.audit.accounting.guarantees
                ],
            },
            "verdicts": [
                {
                    **asdict(one.limit),
                    "passed": one.passed,
                    "skipped": one.skipped,
                    "reason": one.reason,
                    "findings": len(one.findings),
                }
                for one in self.verdicts
            ],
            "left_out": list(self.audit.left_out),
            "own_set": self.audit.own_set,
            "findings": [asdict(finding) for finding in self.audit.findings],
            "settings": self.settings.as_json(),
        }


def count_limits(number: int) -> str:
    """So many of them, in words."""
    return "1 limit" if number == 1 else f"{number} limits"


def table_lines(result: AuditResult) -> list[str]:
    """Every limit for a terminal, with the figure that it rests on."""
    lines = [result.audit.accounting.statement, *map(_guaranteed, result.audit.accounting.guarantees)]
    for verdict in result.verdicts:
        shown = verdict.shown
        parts = [] if shown is None else [f"{shown.measure}: {format_value(shown, shown.value)} {shown.unit}".rstrip()]
        lines.append(
            f"{verdict.outcome:7} {verdict.limit.attack}: " + "; ".join([*parts, *filter(None, [verdict.reason])])
        )
        if shown is not None:
            lines.append(f"        ({_rests_on(shown)}; passes: {verdict.limit.bound})")
    lines += [f"left out: {reason}" for reason in result.audit.left_out]
    lines += [result.words, *(f"note: {caveat}" for caveat in result.caveats), "What this does not show:"]
    return [*lines, *(f"- {line}" for line in NOT_SHOWN)]


def format_value(finding: Finding, value: float) -> str:
    """A value of a finding in words: a share in percent, anything else as it is."""
    if finding.unit:
        return f"{value:g}"
    return f"{100 * value:.2f}%" if 0 < value < 0.1 else f"{100 * value:.1f}%"


def _guaranteed(one: GaussianGuarantee) -> str:
    return (
        f"        {one.unit}: mu {one.mu:.3g}, rho {one.rho:.3g}, epsilon {one.epsilon:.3g} at delta {one.delta:.0e}; "
        f"the best attacker decides right in {one.accuracy:.1%}"
    )


def _rests_on(finding: Finding) -> str:
    without = [] if finding.baseline is None else [f"without the share {format_value(finding, finding.baseline)}"]
    interval = (
        [] if finding.unit else [f"interval {' to '.join(format_value(finding, end) for end in finding.interval)}"]
    )
    return ", ".join([*without, *interval, f"{finding.trials} trials"])


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
