"""The hospitals: the state of their keys, what they sent, and the way in for a new one."""

from __future__ import annotations

import datetime

from aggregator.dashboard.blocks import ROWS, Block, Cell, Facts, Field, Form, Mark, Page, Plot, Table, part
from aggregator.dashboard.pages.marks import ratio, state_cell
from aggregator.dashboard.pages.reading import Reading, address
from aggregator.enrolled.share_counts import count_shares
from aggregator.enrolled.sites import Site, list_sites
from aggregator.errors import RequestError
from aggregator.registry.states import AccountRole, KeyState, ShareState
from aggregator.status.standing import Hospital, read_standing
from protocols.keys.enrolment import MAX_REQUEST_BYTES
from shared.report import light

_REASON = Field("reason", "Why", hint="kept with it and in the audit log; no text of a note")


def sites(reading: Reading) -> Page:
    """All of them, a part at a time."""
    standing = read_standing(reading.workspace, reading.at)
    asked = reading.query.get("name", "")[:64]
    found = [one for one in standing.hospitals if asked in one.site.name]
    shown, pager = part(found, reading.page, address("/sites", name=asked), ROWS)
    head = ("hospital", "keys", "shares accepted", "wait", "alarms", "last share")
    rows = [_row(one, reading.day) for one in found[shown]]
    blocks: list[Block] = [
        Table("Hospitals", head, rows, pager, "no hospitals yet; take one in below"),
        Form(
            "Take a hospital in",
            "site-enrol",
            (
                Field(
                    "request",
                    "Its request",
                    "text",
                    hint="what stands in the file of `site-client enrol`, whole",
                    most=MAX_REQUEST_BYTES,
                ),
                Field(
                    "fingerprint",
                    "Fingerprint",
                    hint="as the hospital read it to you by telephone; never from the request",
                ),
            ),
            "Look at it",
            AccountRole.APPROVER,
            "Call the hospital by a number that you did not find in the request, and let it read its fingerprint to you.",
        ),
    ]
    return Page("Hospitals", blocks)


def site(reading: Reading) -> Page:
    """One of them."""
    name = reading.path["name"]
    found = next((one for one in list_sites(reading.workspace) if one.name == name), None)
    if found is None:
        raise RequestError("expected the name of a hospital, got another", status=404)
    counts = count_shares(reading.workspace).get(name, {})
    shares = Cell(
        ", ".join(f"{counts[state]:,} {state}" for state in ShareState if state in counts) or "none",
        f"/shares?site={name}",
    )
    state = "enrolled" if found.revoked is None else f"revoked: {found.revoked}"
    blocks: list[Block] = [
        Facts("", (("contact", found.contact or "none stated"), ("state", state), ("shares", shares))),
        Table("Keys", ("fingerprint", "state", "from", "until"), _key_rows(found, reading.day), empty="no keys"),
    ]
    blocks += _recall(reading, name)
    if found.revoked is None:
        blocks.append(
            Form(
                "Revoke this hospital",
                "site-revoke",
                (Field("site", kind="hidden", value=name), _REASON),
                "Revoke",
                AccountRole.APPROVER,
                "Nothing of it is taken any more. Shares that were accepted stay in the pool.",
                grave=True,
            )
        )
    return Page(name, blocks, up=("Hospitals", "/sites"))


def _recall(reading: Reading, name: str) -> list[Block]:
    """What the head in the workspace finds there, by kind of PHI."""
    score = next((one for one in reading.head_scores() if one["site"] == name), None)
    if score is None:
        return []
    found = sorted((score.get("categories") or {}).items(), key=lambda one: (one[1][1], one[0]))
    kinds = [("all PHI", (score["phi_tokens"], score["recall"])), *found]
    drawn = light.dots(
        f"Recall of each kind of PHI at {name}", [kind for kind, _ in kinds], {"the pool": [one[1] for _, one in kinds]}
    )
    rows = [(kind, ratio(recall), f"{tokens:,}") for kind, (tokens, recall) in kinds]
    said = f"With your own notes alone: {ratio(score.get('alone_recall'))} of all PHI. Of fewer than 20 tokens nothing is said."
    table = Table("Held-out tenth of its shares", ("kind of PHI", "recall", "tokens held out"), rows)
    return [Plot("What the head in the workspace finds here", drawn, table, said)]


def _row(one: Hospital, day: datetime.date) -> tuple[Cell | str, ...]:
    last = one.last
    said = "none" if last is None else f"{last.sequence} on {last.day}, {last.state}"
    if last is not None and last.release is not None and not last.fits:
        said += f", made with an old release ({last.release})"
    waiting = Cell(
        str(one.quarantined),
        f"/shares?state=quarantined&site={one.site.name}",
        Mark.WARN if one.quarantined else Mark.NONE,
    )
    return (
        Cell(one.site.name, f"/sites/{one.site.name}"),
        _keys(one.site, one.keys_until, day),
        f"{one.accepted:,}",
        waiting if one.quarantined else "0",
        Cell(str(one.alarms), mark=Mark.BAD if one.alarms else Mark.NONE),
        said,
    )


def _keys(one: Site, until: datetime.date | None, day: datetime.date) -> Cell:
    if one.revoked is not None:
        return Cell("revoked", mark=Mark.BAD)
    if until is None:
        return Cell("all have ended", mark=Mark.BAD)
    if one.expires(day) is not None:
        return Cell(f"end soon, on {until}", mark=Mark.WARN)
    return Cell(f"until {until}", mark=Mark.GOOD)


def _key_rows(one: Site, day: datetime.date) -> list[tuple[Cell | str, ...]]:
    rows: list[tuple[Cell | str, ...]] = []
    for key in reversed(one.keys):
        counts = one.revoked is None and key.counts_on(day)
        said = str(key.state) if counts or key.state == KeyState.REVOKED else f"{key.state}, does not count today"
        rows.append(
            (
                Cell(key.key_id, code=True),
                state_cell(said, counts),
                key.valid_from.isoformat(),
                key.valid_until.isoformat(),
            )
        )
    return rows
