"""What each hospital does to all others, who stands out, which alarms stand, and what was withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aggregator.dashboard.blocks import ROWS, Block, Cell, Field, Form, Mark, Page, Plot, Table, Words, pager, part
from aggregator.dashboard.pages.marks import moment, ratio
from aggregator.dashboard.pages.reading import Reading
from aggregator.enrolled.alarms import list_alarms
from aggregator.enrolled.share_counts import releases_of, shares_page
from aggregator.publishing.quality_gate import trained_with_hospitals
from aggregator.registry.states import AccountRole, ShareState
from shared.report import light

_ALARMS, _SITES = 20, 15
_TITLE = "With each hospital and without it"


@dataclass(frozen=True)
class _Told:
    """The words for where it was measured.

    Args:
        found: what the columns hold.
        drawn: title of the drawing.
        table: that of the table.
        said: how to read them.
    """

    found: str
    drawn: str
    table: str
    said: str


_AT_THE_OTHERS = _Told(
    "recall of the others",
    "Recall at all other hospitals, with each and without it",
    "Recall at all others, measured",
    "A hospital whose grey dot lies right of the blue one takes something from the others.",
)
# Of those who trained together no note and no share is here: what they do to one another nobody has measured.
_ON_YOUR_OWN = _Told(
    "recall on your own notes",
    "Recall on your own held-out notes, with each hospital and without it",
    "Recall on your own held-out notes, measured",
    "It was measured on your own held-out notes; no hospital's, so nobody knows what one does at another. With a hospital whose grey dot lies right of the blue one less is found in yours.",
)


def influence(reading: Reading) -> Page:
    """Influence of each site by the record of the head; alarms; withdrawals."""
    record = reading.head_record()
    found = record.get("influence")
    blocks: list[Block] = [*_alarms(reading)]
    if found and found.get("sites"):
        told = _ON_YOUR_OWN if trained_with_hospitals(record) else _AT_THE_OTHERS
        blocks.append(_changes(found, told, reading))
    else:
        blocks.append(Words(_TITLE, ("The head in the workspace was trained without measuring it.",)))
    return Page("Influence and withdrawal", [*blocks, _withdrawn(reading)])


def _changes(found: dict[str, Any], told: _Told, reading: Reading) -> Plot | Table:
    """All of them: one whose influence was not measured, as where too little PHI is held out, stands there as that."""
    out = found.get("standing_out") or {}
    sites = [(one["site"], one["changes"][0] if one["changes"] else {}) for one in found["sites"]]
    # Who takes most from the others comes first.
    sites.sort(key=lambda one: (one[0] not in out, one[1]["recall"] - one[1]["before"] if one[1] else 1.0, one[0]))
    shown, pages = part(sites, reading.page, "/influence", _SITES)
    unmeasured = sum(not change for _, change in sites)
    rows = [_row(site, change, "; ".join(out.get(site, ()))) for site, change in sites[shown]]
    head = ("hospital", f"{told.found} with it", "without it", "difference, 95% interval", "stands out")
    if unmeasured == len(sites):
        said = "It was measured of none of the hospitals, as where too little PHI is held out or there are no others."
        return Table(_TITLE, head, rows, pages, said=said)
    drawn = light.dots(
        told.drawn,
        [site for site, _ in sites[shown]],
        {
            "without it": [one.get("before") for _, one in sites[shown]],
            "with it": [one.get("recall") for _, one in sites[shown]],
        },
    )
    said = f"{told.said} An honest one may do that, by a guideline of its own."
    if unmeasured:
        said += f" Not measured: {unmeasured} of {len(sites)} hospitals."
    return Plot(_TITLE, drawn, Table(f"{told.table} {found.get('mode', '')}", head, rows, pages), said)


def _row(site: str, change: dict[str, Any], said: str) -> tuple[Cell | str, ...]:
    between = f"{change['low']:+.1%} to {change['high']:+.1%}" if change else ratio(None)
    stands = Cell(said, mark=Mark.BAD) if said else "as the others" if change else ratio(None)
    return (
        Cell(site, f"/sites/{site}"),
        ratio(change.get("recall")),
        ratio(change.get("before")),
        between,
        stands,
    )


def _alarms(reading: Reading) -> list[Block]:
    standing = list_alarms(reading.workspace)
    rows = [
        (
            str(one.id),
            Cell(one.site, f"/sites/{one.site}"),
            moment(one.at),
            Cell(str(one.kind), mark=Mark.BAD),
            one.detail,
        )
        for one in standing[:_ALARMS]
    ]
    said = f"The first {_ALARMS} of {len(standing)}." if len(standing) > _ALARMS else ""
    head = ("number", "hospital", "since", "kind", "what")
    blocks: list[Block] = [Table("Alarms", head, rows, empty="no alarm stands", said=said, anchor="alarms")]
    if standing:
        fields = (Field("alarm", "Number of the alarm", "number", str(standing[0].id), most=9),)
        said = "Once somebody has looked at it; it stands in the log who."
        blocks.append(
            Form("Acknowledge an alarm", "alarm-acknowledge", fields, "Acknowledge", AccountRole.OPERATOR, said)
        )
    return blocks


def _withdrawn(reading: Reading) -> Table:
    total, found = shares_page(reading.workspace, (ShareState.WITHDRAWN,), None, 0, ROWS)
    trained = releases_of(reading.workspace, found)
    rows = [
        (
            Cell(one.site, f"/sites/{one.site}"),
            Cell(f"share {one.sequence}", f"/shares/{one.id}"),
            moment(one.decided_at),
            ": ".join(filter(None, (one.reason_code, one.reason))),
            Cell(", ".join(trained[one.id]), mark=Mark.WARN) if one.id in trained else "no release",
        )
        for one in found
    ]
    pages = pager(1, len(found), total, "/shares?state=withdrawn")
    head = ("hospital", "share", "withdrawn", "by whom and why", "had trained")
    return Table(
        "Withdrawals",
        head,
        rows,
        pages,
        "nothing was withdrawn",
        "The next head is trained without them; a release that is out stays out.",
    )
