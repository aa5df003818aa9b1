"""Audits that are not what a hospital asks for, and dates that are not today's."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

from bench.attack.audit_record import passing_findings
from bench.attack.release import Draft, Forgery, Lie, forged
from shared.privacy.audit_record import RECORD

_YEARS = datetime.timedelta(days=800)


def _audited(**changed: Any) -> Forgery:
    """Some fields of the audit are otherwise."""

    def apply(draft: Draft) -> None:
        draft.audit = changed

    return apply


def leave_out_the_audit(draft: Draft) -> None:
    """No audit."""
    draft.audit = None


def _as_text(text: str) -> Forgery:
    """The record of the audit is this text."""

    def apply(draft: Draft) -> None:
        draft.audit = None
        (draft.folder / RECORD).write_text(text)

    return apply


def _failing() -> list[dict[str, Any]]:
    """Findings of a white-box attack that won."""
    return [one | {"value": 0.99, "interval": (0.98, 1.0)} for one in passing_findings()]


def _made(age: datetime.timedelta) -> str:
    return (datetime.date.today() - age).isoformat()


def _created(age: datetime.timedelta) -> Forgery:
    """The release is of another day."""

    def apply(draft: Draft) -> None:
        draft.stated["created"] = _made(age)

    return apply


_NOT_A_NUMBER = json.dumps({"format": 2, "findings": [{"value": float("nan")}]})

LIES: Mapping[str, Lie] = {
    "no audit": forged(leave_out_the_audit),
    "the audit of another representer": forged(_audited(representer="ab" * 32)),
    "an audit of 800 days ago": forged(_audited(made=_made(_YEARS))),
    "an audit of a day to come": forged(_audited(made=_made(-_YEARS))),
    "an audit of no stated day": forged(_audited(made=None)),
    "a quick audit": forged(_audited(preset="quick")),
    "an audit of an unknown kind": forged(_audited(preset="fullest")),
    "an audit without findings": forged(_audited(findings=[])),
    "an audit that left one attack out": forged(
        _audited(findings=[one for one in passing_findings() if one["attack"] != "linkage"])
    ),
    "an audit whose attacks won, with its own limits and verdict": forged(
        _audited(findings=_failing(), passed=True, verdicts=[{"passed": True}], policy={"ours": True})
    ),
    "an audit of no trials": forged(_audited(findings=[one | {"trials": 0} for one in passing_findings()])),
    "an audit with a finding that is no number": forged(_as_text(_NOT_A_NUMBER)),
    "an audit of JSON without an end": forged(_as_text("[" * 200_000)),
    "a release of 800 days ago": forged(_created(_YEARS)),
    "a release of a day to come": forged(_created(-_YEARS)),
}
