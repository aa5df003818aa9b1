"""What became of the lies, as a page and as entries of docs/results/gate.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.attack.outcome import Outcome
from bench.attack.run import Told, describe
from bench.results import Entry

COMMAND = "make attack"
LEAST = 25
_TITLES = {"release": "A provider that lies", "share": "A hospital that lies"}
_DATA = {
    "release": "generated notes of a provider and two hospitals; the default policy",
    "share": "generated notes of a provider and two hospitals; the default construction",
}


def entries(told: Sequence[Told]) -> list[Entry]:
    """What the issue asks for."""
    releases, shares = told
    found = [
        *(_count(one, f"lying {one.who}s tried", len(one.lies), LEAST, ">=") for one in told),
        _count(releases, "lying releases that encode", len(releases.passed), 0, "<=", releases.passed),
        *(_count(one, f"lying {one.who}s that pass unseen", len(one.unseen), 0, "<=", one.unseen) for one in told),
        *(
            _count(one, f"lying {one.who}s that end in a fault of our program", len(one.faults), 0, "<=")
            for one in told
        ),
    ]
    return found + [_left_open(one) for one in (releases, shares)]


def _count(told: Told, measure: str, value: int, target: int, direction: str, named: Sequence[Outcome] = ()) -> Entry:
    note = f"of {len(told.lies)}; each with what refused it in docs/results/attacks.md"
    names = f": {'; '.join(one.lie for one in named)}" if named else ""
    return Entry(
        f"attack: {measure}", value, target, direction, f"{told.who}s", None, 1, _DATA[told.who], COMMAND, note + names
    )


def _left_open(told: Told) -> Entry:
    passed = [one.lie for one in told.known if one.passed]
    return Entry(
        f"attack: {told.who}s that docs/threat-model.md says are not refused, and that are not",
        len(passed),
        None,
        "",
        f"{told.who}s",
        None,
        1,
        _DATA[told.who],
        COMMAND,
        f"of {len(told.known)}, none of them counted above: {'; '.join(passed)}",
    )


def page(told: Sequence[Told]) -> str:
    """docs/results/attacks.md."""
    return "\n".join([*_head(told), *(line for one in told for line in _section(one)), ""])


def _head(told: Sequence[Told]) -> Iterator[str]:
    releases, shares = told
    yield "# Lies, and what refused them"
    yield ""
    yield f"Written by `{COMMAND}`; do not edit. Of {len(releases.lies)} releases that lie {len(releases.passed)} were encoded with, {len(releases.unseen)}"
    yield f"of them without a word; of {len(shares.lies)} shares that lie {len(shares.unseen)} came into the pool unseen."
    yield ""
    yield "Every release is signed with the keys of its provider and carries an audit that states a full pass, unless that is the lie. The hospital has"
    yield "an honest release in use and the default policy; it pulls, encodes and submits as on any day. Every share is signed and sealed by an enrolled"
    yield "hospital with a program of its own. The same way lets an honest release and an honest share pass, or nothing is reported."


def _section(told: Told) -> Iterator[str]:
    step = "step" if told.who == "release" else "decision"
    yield from ("", f"## {_TITLES[told.who]}", "")
    yield f"| lie | {step} | what refused it | code | what was said |"
    yield "|---|---|---|---|---|"
    yield from map(_row, told.lies)
    yield from (
        "",
        f"### Not refused, as [the threat model](../threat-model.md) says: {len(told.known)} {told.who}s",
        "",
    )
    yield from (f"- {one.lie}: {describe(one)}" for one in told.known)


def _row(one: Outcome) -> str:
    refused = one.refused_by or ("PASSED UNSEEN" if one.unseen else "PASSED, and was told")
    cells = (one.lie, one.step, refused, one.code, one.said)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
