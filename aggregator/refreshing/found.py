"""What a monthly round has found, for people and for programs; no text of a note is in it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aggregator.publishing.head_record import describe_needs
from aggregator.publishing.proposal import Proposal, Verdict
from aggregator.refreshing.arrivals import Arrivals
from aggregator.refreshing.kept import KeptRound
from aggregator.registry.times import as_text
from foundation.errors import DeidError
from foundation.printable import escape_unprintable

_DIGITS = 12


@dataclass
class Found:
    """What a round has found so far; whatever ends it, this is told.

    Args:
        round: as it is kept.
        went_on: whether it was cut before.
        arrivals: what came; None before that is known.
        head: digest of the head; "" before there is one.
        trained: whether it was trained in this round.
        record: of its training.
        verdict: of the gates, a `Verdict`, "audit" or "nothing new"; "" before they were asked.
        says: what they found, a line each.
        proposal: what waits for a person; None for nothing.
        expires: until when the metadata of the releases last.
        failure: with whose code the command ends; None for 0.
    """

    round: KeptRound
    went_on: bool
    arrivals: Arrivals | None = None
    head: str = ""
    trained: bool = False
    record: dict[str, Any] = field(default_factory=dict)
    verdict: str = ""
    says: tuple[str, ...] = ()
    proposal: Proposal | None = None
    expires: dict[str, datetime.datetime] = field(default_factory=dict)
    failure: DeidError | None = None

    @property
    def standing_out(self) -> dict[str, list[str]]:
        """The sites that a person should look at, and why."""
        return dict((self.record.get("influence") or {}).get("standing_out") or {})

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "round": self.round.number,
            "begun": self.round.begun,
            "ended": self.round.ended or None,
            "went_on": self.went_on,
            "files": {path: {"line": one.line, "refused": one.refused} for path, one in self.round.files.items()},
            "shares": None if self.arrivals is None else self.arrivals.as_json(),
            "head": self.head or None,
            "trained": self.trained,
            "pool": {name: self.record.get(name) for name in ("sentences", "tokens", "undersampling", "left_out")},
            "standing_out": self.standing_out,
            "gate": {"verdict": self.verdict or None, "says": list(self.says)},
            "proposal": None if self.proposal is None else self.proposal.as_json(),
            "expires": {name: as_text(moment) for name, moment in self.expires.items()},
        }

    def lines(self) -> list[str]:
        """For people."""
        again = ", which was cut and went on" if self.went_on else ""
        lines = [f"round {self.round.number}, begun {self.round.begun}{again}"]
        brought = [(escape_unprintable(Path(path).name), one) for path, one in self.round.files.items()]
        lines += [f"brought: {name}: {one.line}" for name, one in brought if one.refused]
        if self.arrivals is not None:
            lines += self.arrivals.lines()
        if self.head:
            what = "trained" if self.trained else "as an earlier round left it, nothing that decides it has changed"
            lines.append(
                f"head {self.head[:_DIGITS]}: {what}; {self.record.get('sentences')} sentences, {self.record.get('tokens')} tokens in a pass"
            )
        lines += describe_needs(self.record)
        lines += [f"{site} STANDS OUT: {reason}" for site, said in self.standing_out.items() for reason in said]
        lines += [f"gate: {line}" for line in self.says]
        if self.expires:
            lines.append(f"dates of the releases renewed; the first ends on {min(self.expires.values()):%Y-%m-%d}")
        if self.proposal is not None:
            condition = " if they accept that" if self.proposal.verdict is Verdict.DROP else ""
            lines += [f"nothing is released by itself; the approver types{condition}:", f"  {self.proposal.command}"]
        return lines
