"""The gate of `release`: a head that finds less than before leaves only with the name of somebody who has approved it.

`train-head` compares: with the head of the last release, site by site with the pool without that site, and a head that has seen no share with
the one that taught it. The gate reads what it has recorded beside the head. A drop is a recall whose whole interval lies below the other's by more than the tolerance, or false alarms,
the share of what is no PHI that is hidden, that lie above it so; heads of earlier versions have none recorded. A lower recall
against the last release passes as far as hospitals have taken back what it had learned from, since they may at any time: no recall
fell by a greater part of itself than the part of the shared tokens that went. It is recorded like one that a person has approved. No
withdrawal excuses false alarms.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from aggregator.errors import DropError, WorkspaceError
from aggregator.publishing.head_record import RECORD
from foundation.reading import read_text
from protocols.canonical import Json

TOLERANCE = 0.01
"""Two trainings on the same notes differ by about as much: less is no drop."""
FALSE_ALARMS = "false alarms"
"""The category of what is no PHI, of which a head should call nothing PHI."""
FALSE_TOLERANCE = 0.005
"""The same for them: there are far more words that are no PHI, and trainings differ by fewer of them."""
OWN_HELD_OUT = "on the provider's own held-out notes; no hospital's"
"""Where a head was measured that hospitals trained together: nothing else is here."""
_NAMED = 3
_AGAINST = "what it finds against an earlier release"
_TEACHER = "the head that taught it"
_EACH = "what each site does to the others"


def trained_with_hospitals(record: Mapping[str, Any]) -> bool:
    """Whether hospitals trained a head together over a connection, so that no note and no share of theirs was here to measure on.

    Args:
        record: of its training.
    """
    together = record.get("federated")
    return bool(together and not together["simulated"])


def is_worse(category: str, low: float, high: float) -> bool:
    """Whether a difference is for the worse, for sure and beyond the tolerance; what is no number is.

    Args:
        category: of PHI, or FALSE_ALARMS.
        low: lower end of its interval.
        high: upper end.
    """
    return not low <= FALSE_TOLERANCE if category == FALSE_ALARMS else not high >= -TOLERANCE


def describe_measure(category: str) -> str:
    """What is compared, in words."""
    return "the share hidden of what is no PHI" if category == FALSE_ALARMS else f"recall of {category}"


class Reason(StrEnum):
    """Why a head that finds less was released all the same."""

    APPROVED = "approved"
    WITHDRAWAL = "withdrawal"


class Other(StrEnum):
    """Which head finds more, and where, in the words of log and card: no site is named."""

    LAST = "in the last release"
    WITHOUT = "in the pool without one of the hospitals"
    TEACHER = "of the head that taught this one"


@dataclass(frozen=True)
class Drop:
    """A recall that is lower than it was, or than it would be; or false alarms that are more.

    Args:
        category: of PHI, or FALSE_ALARMS.
        other: which head it is compared with.
        against: the same for the provider, who may know which one.
        recall: of the head: which share it calls PHI.
        before: of the other.
        high: upper end of the interval of the difference.
    """

    category: str
    other: Other
    against: str
    recall: float
    before: float
    high: float

    def __str__(self) -> str:
        return f"{self.category} {self.recall:.3f} against {self.before:.3f} of {self.against}"


@dataclass(frozen=True)
class Passed:
    """What the gate let through although it finds less.

    Args:
        reason: why.
        approver: name of the person; "" after a withdrawal.
        drops: what was lower.
        uncompared: whether the head was not compared with the last release at all.
        withdrawn: as for `check_quality`, where that is the reason; else 0.
    """

    reason: Reason
    approver: str
    drops: tuple[Drop, ...]
    uncompared: bool = False
    withdrawn: float = 0.0

    def describe(self) -> list[str]:
        """For the log and the card: no site is named."""
        lines = [
            f"{describe_measure(drop.category)} is {drop.recall:.3f}, and {drop.before:.3f} {drop.other}"
            for drop in self.drops
        ]
        return lines + ["it was not compared with the last release"] * self.uncompared

    def as_json(self, release: str) -> dict[str, Json]:
        """For the log, of the release that it is about."""
        told: dict[str, Json] = {"release": release, "reason": str(self.reason), "drops": [*self.describe()]}
        if self.reason is Reason.WITHDRAWAL:
            told["withdrawn"] = f"{self.withdrawn:.4f}"
        return told


def check_quality(head: Path, last: str | None, *, withdrawn: float, approver: str | None) -> Passed | None:
    """Returns if a head may be released.

    Args:
        head: its folder.
        last: digest of the last release with a head of the same representer; None for none.
        withdrawn: which part of the tokens of the shares that trained the last release their sites have taken back since, 0 to 1.
        approver: who accepts a drop; None for nobody.

    Returns:
        what it lets through although it finds less; None where nothing is lower.

    Raises:
        DropError: something is lower, or was not compared, and nobody accepts it.
        WorkspaceError: the record of the training is damaged.
    """
    drops, compared = read_drops(head)
    uncompared = last is not None and compared != last
    ours = tuple(drop for drop in drops if drop.other is not Other.LAST or not uncompared)
    if not ours and not uncompared:
        return None
    if approver:
        return Passed(Reason.APPROVED, approver, ours, uncompared)
    if not uncompared and all(_follows(drop, withdrawn) for drop in ours):
        return Passed(Reason.WITHDRAWAL, "", ours, withdrawn=withdrawn)
    if uncompared and _is_unfair(head, last):
        raise DropError(
            "expected a head that was compared with the last release, got one that can't be: the head of that release was trained with "
            "--no-hold-out, and has learned from what is held out; look at the scores, and accept it with --accept-drop --approver NAME"
        )
    raise DropError(_describe_refusal(ours, uncompared, withdrawn))


def _is_unfair(head: Path, last: str | None) -> bool:
    """Whether the last release could not be compared with, by the record of a head."""
    compared = read_record(head).get("compared") or {}
    return compared.get("digest") == last and compared.get("unfair") is True


def _follows(drop: Drop, withdrawn: float) -> bool:
    """Whether a drop is no greater than what was taken back; what is no number is not, nor are false alarms."""
    excused = drop.category != FALSE_ALARMS and drop.other is Other.LAST
    return excused and 0 < drop.before - drop.recall <= withdrawn * drop.before


def _describe_refusal(drops: tuple[Drop, ...], uncompared: bool, withdrawn: float) -> str:
    if uncompared:
        return (
            "expected a head that was compared with the last release, got one that was not; run `aggregator train-head`, "
            "which holds a tenth out, or accept it with --accept-drop --approver NAME"
        )
    more = f", and {len(drops) - _NAMED} more" if len(drops) > _NAMED else ""
    false = any(drop.category == FALSE_ALARMS for drop in drops)
    plain, worse = (" and hides no more that is no PHI", "what is worse") if false else ("", "a lower recall")
    gone = f" (that sites took back {withdrawn:.1%} of the shared tokens does not account for it)" if withdrawn else ""
    advice = "see `aggregator alarms list`, train without the site that stands out"
    if any(drop.other is Other.TEACHER for drop in drops):
        advice = "distil public text that is written as the notes are, or train without --distil"
    return (
        f"expected a head that finds as much as before{plain}, got {worse}: {'; '.join(map(str, drops[:_NAMED]))}{more}{gone}; {advice}, "
        "or accept it with --accept-drop --approver NAME"
    )


def describe_no_drop(head: Path) -> str:
    """What is known of a head of which nothing is lower, in a line: what was not measured is told as that, and not as found.

    Args:
        head: its folder.

    Raises:
        WorkspaceError: the record of the training is damaged.
    """
    against, missing = _measured(head)
    found = "the head finds no less than " + ", and no less than ".join(against) if against else ""
    return "; ".join([found] * bool(found) + _not_measured(missing))


def describe_unmeasured(head: Path, *, uncompared: bool) -> str:
    """What was not measured of a head of which something is lower, in a line; "" for nothing.

    Args:
        head: its folder.
        uncompared: whether it was not compared with the last release, whatever else it was compared with.

    Raises:
        WorkspaceError: the record of the training is damaged.
    """
    _, missing = _measured(head)
    if uncompared:
        missing = ["what it finds against the last release", *(one for one in missing if one != _AGAINST)]
    return "".join(_not_measured(missing))


def _measured(head: Path) -> tuple[list[str], list[str]]:
    """With what a head was compared, and with what it was not."""
    record = read_record(head)
    with _damaged():
        compared = record.get("compared") or {}
        sites = (record.get("influence") or {}).get("sites", [])
        seen = [str(one["site"]) for one in sites if one["changes"]]
        unseen = [str(one["site"]) for one in sites if not one["changes"]]
        against = [f"release {compared['release']}"] if compared.get("changes") else []
        own = trained_with_hospitals(record)
        distilled = record.get("distilled")
        taught = distilled is not None and bool(distilled["changes"])
    missing = [] if against else [_AGAINST]
    if taught:
        against.append(_TEACHER)
    elif distilled is not None:
        missing.append(f"what it finds against {_TEACHER}")
    if seen:
        against.append("without " + (" or ".join(seen) if unseen else "any of the sites"))
    if own or not seen:
        missing.append(_EACH)
    elif unseen:
        missing.append(f"what {' and '.join(unseen)} does to the others")
    if own and against:
        against[-1] += f" ({OWN_HELD_OUT})"
    return against, missing


def _not_measured(missing: list[str]) -> list[str]:
    return [f"NOT MEASURED: {', '.join(missing)}"] if missing else []


def read_drops(head: Path) -> tuple[list[Drop], str | None]:
    """What the record of a head says is lower, and the digest of the release that it was compared with.

    Raises:
        WorkspaceError: the record is damaged.
    """
    record = read_record(head)
    with _damaged():
        compared = record.get("compared") or {}
        changes = compared.get("changes", [])
        drops = _worse(changes, Other.LAST, f"release {compared.get('release')}")
        for one in (record.get("influence") or {}).get("sites", []):
            drops += _worse(one["changes"], Other.WITHOUT, f"the pool without {one['site']}")
        drops += _worse((record.get("distilled") or {"changes": []})["changes"], Other.TEACHER, _TEACHER)
        digest = compared.get("digest")
        # Among no figures nothing is lower, and nothing was compared.
        return drops, None if digest is None or not changes else str(digest)


def read_record(head: Path) -> dict[str, Any]:
    """The record of the training of the head in a folder.

    Raises:
        WorkspaceError: it is damaged.
    """
    with _damaged():
        record = json.loads(read_text(head / RECORD))
        if not isinstance(record, dict):
            raise TypeError
        return record


@contextmanager
def _damaged() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WorkspaceError(
            f"head/{RECORD}: expected the record of a training; run `aggregator train-head` again"
        ) from error


def _worse(changes: list[dict[str, Any]], other: Other, against: str) -> list[Drop]:
    return [
        Drop(str(one["category"]), other, against, float(one["recall"]), float(one["before"]), float(one["high"]))
        for one in changes
        if is_worse(str(one["category"]), float(one["low"]), float(one["high"]))
    ]
