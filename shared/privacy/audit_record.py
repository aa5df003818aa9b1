"""`audit.json`: the record of an audit, as whoever relies on it reads it.

Its findings are the word of who made it. What they are worth is judged by the reader, under limits of the reader's own: neither
the limits nor the verdict in the record count here.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import ModelError
from shared.privacy.policy import Policy, Verdict, judge
from shared.privacy.statistics.finding import Finding

FORMAT = 2
RECORD = "audit.json"
PAGE = "audit.html"
MAX_RECORD_BYTES = 16 << 20
FULL, QUICK = "full", "quick"
_UNKNOWN = "not recorded"
_MAX_FINDINGS = 10_000
# Whole numbers up to here are numbers of a float, too, as bounds are computed of them.
_MOST_TRIALS = 1 << 53


@dataclass(frozen=True)
class AuditRecord:
    """What the record of an audit says.

    Args:
        representer: digest of the one that was attacked.
        preset: "quick" or "full".
        made: its day; None in records of version 0.1.
        findings: of the attacks.
    """

    representer: str
    preset: str
    made: datetime.date | None
    findings: tuple[Finding, ...]

    def judged(self, policy: Policy, *, own_set: bool) -> list[Verdict]:
        """The verdicts under limits of the reader's own.

        Args:
            policy: the limits.
            own_set: whether the construction has one, by its files; the record may say anything.
        """
        return judge(policy.limits, self.findings, full=self.preset == FULL, own_set=own_set)


def parse_audit(data: bytes) -> AuditRecord:
    """The record in the bytes of `audit.json`.

    Raises:
        ModelError: they are no such record.
    """
    try:
        record: Any = json.loads(data.decode("utf-8"), parse_constant=_no_number)
        if record["format"] != FORMAT or len(record["findings"]) > _MAX_FINDINGS:
            raise ValueError
        made = record.get("made")
        return AuditRecord(
            str(record["representer"]),
            str(record["preset"]),
            None if made is None else datetime.date.fromisoformat(made),
            tuple(map(_finding, record["findings"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ModelError(f"{RECORD}: expected the record of an audit, got something else; tell the provider") from error


def describe_audit(record: Mapping[str, Any]) -> str:
    """Preset, seed and policy of the record of an audit, in words."""
    policy = record.get("policy", {})
    whose = "the project's own" if policy.get("ours") is True else "NOT the project's own"
    return (
        f"preset {record.get('preset', _UNKNOWN)}, seed {record.get('seed', _UNKNOWN)}, policy "
        f"{policy.get('name', _UNKNOWN)} ({whose}, SHA-256 {str(policy.get('digest', _UNKNOWN))[:16]})"
    )


def _finding(stated: Mapping[str, Any]) -> Finding:
    low, high = stated["interval"]
    baseline = stated["baseline"]
    return Finding(
        attack=_text(stated["attack"]),
        measure=_text(stated["measure"]),
        value=_number(stated["value"]),
        baseline=None if baseline is None else _number(baseline),
        interval=(_number(low), _number(high)),
        trials=_count(stated["trials"]),
        knowledge=_text(stated["knowledge"]),
        seed=int(stated["seed"]),
        unit=_text(stated.get("unit", "")),
        category=_text(stated.get("category", "")),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_TRIALS:
        raise ValueError
    return value


def _no_number(name: str) -> float:
    raise ValueError(name)
