"""The releases with their audits, what stands between the head and the next one, and privacy against worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from aggregator.dashboard.blocks import (
    ROWS,
    Block,
    Cell,
    Facts,
    Field,
    Form,
    Mark,
    Notice,
    Notices,
    Page,
    Plot,
    Table,
    Words,
    pager,
)
from aggregator.dashboard.pages.marks import moment, ratio
from aggregator.dashboard.pages.reading import Reading, Record
from aggregator.enrolled.share_counts import trained_counts
from aggregator.errors import RequestError
from aggregator.publishing.outlook import HeadOutlook, foresee
from aggregator.registry.states import AccountRole
from aggregator.registry.tables import ReleaseRow
from foundation.errors import DeidError
from protocols.release.verification import MANIFEST_NAME
from shared.pipeline.operating_points import DEFAULT
from shared.privacy.audit_record import RECORD as AUDIT
from shared.report import light

_POINTS = "operating_points.json"
_NOTES = Field("notes", "A word to the hospitals", optional=True, hint="kept in the release")


def releases(reading: Reading) -> Page:
    """All of them, the newest first."""
    with reading.workspace.registry().reading() as session:
        total = session.scalar(select(func.count()).select_from(ReleaseRow)) or 0
        query = select(ReleaseRow).order_by(ReleaseRow.sequence.desc())
        found = list(session.scalars(query.offset((reading.page - 1) * ROWS).limit(ROWS)))
    trained = trained_counts(reading.workspace)
    audits = {row.name: reading.released(row.digest, row.name, AUDIT) for row in found}
    out = reading.workspace.repository().release_names()
    rows = [
        (
            Cell(row.name, f"/releases/{row.name}"),
            _published(row, out),
            _verdict(audits[row.name]) if row.name in out else "",
            str(trained.get(row.name, 0)) if row.kind == "pipeline" else "no head",
        )
        for row in found
    ]
    head = ("release", "published", "audit", "shares that trained it")
    blocks: list[Block] = [
        Table("Releases", head, rows, pager(reading.page, len(found), total, "/releases"), "nothing is published yet"),
        *_privacy_against_worth(reading, found, audits),
        *_adversaries(reading.representer_record()),
        _next(reading),
        Form(
            "Publish the representer",
            "publish",
            (_NOTES,),
            "Publish",
            AccountRole.APPROVER,
            "As `aggregator publish`: it must have passed its audit.",
            grave=True,
        ),
        Form(
            "Release the pipeline",
            "release",
            (
                _NOTES,
                Field(
                    "accept_drop",
                    "Release it although it finds less",
                    "tick",
                    optional=True,
                    hint="your name stands in the log and in the model card",
                ),
            ),
            "Release",
            AccountRole.APPROVER,
            "As `aggregator release`: representer and head together, audited and finding no less than before.",
            grave=True,
        ),
    ]
    return Page("Releases", blocks)


def release(reading: Reading) -> Page:
    """One of them."""
    name = reading.path["name"]
    with reading.workspace.registry().reading() as session:
        row = session.scalar(select(ReleaseRow).where(ReleaseRow.name == name))
    if row is None:
        raise RequestError("expected the name of a release, got another", status=404)
    manifest = reading.released(row.digest, name, MANIFEST_NAME)
    audit = reading.released(row.digest, name, AUDIT)
    points = reading.released(row.digest, name, _POINTS)
    software = ", ".join(f"{one} {version}" for one, version in sorted((manifest.get("software") or {}).items()))
    pairs: list[tuple[str, Cell | str]] = [
        ("kind", row.kind),
        ("published", _published(row, reading.workspace.repository().release_names())),
        ("digest", Cell(row.digest, code=True)),
        ("shares that trained it", str(trained_counts(reading.workspace).get(name, 0))),
        ("made with", software or "not stated"),
        ("notes", str(manifest.get("notes") or "none")),
    ]
    return Page(name, [Facts("", pairs), *_promises(points), *_audit(audit)], up=("Releases", "/releases"))


def _audit(audit: Record) -> list[Block]:
    if not audit:
        return [Words("Its audit", ("It carries none.",))]
    rows = [
        (
            str(one.get("attack", "")),
            str(one.get("measure", "")),
            Cell("skipped") if one.get("skipped") else _kept(one.get("passed")),
            str(one.get("why", "")),
        )
        for one in audit.get("verdicts", [])
    ]
    caveats = [str(one) for one in audit.get("caveats", [])]
    said = f"{audit.get('preset', '')} audit of {audit.get('made', '')}. {' '.join(caveats)}".strip()
    table = Table(
        f"Its audit: {_verdict(audit).text}", ("attack", "measure", "limit", "why it matters"), rows, said=said
    )
    return [table]


def _promises(points: Record) -> list[Block]:
    rows = [
        (f"{one['target']:g}", ratio(one["hidden"]), ratio(one["precision"]), ratio(one["least"]))
        for one in points.get("points", [])
    ]
    if not rows:
        return []
    said = f"Median of {points.get('hospitals')} hospitals, each left out in turn."
    head = ("asked for", "PHI hidden whole", "of what is hidden is PHI", "at the worst hospital")
    return [Table("What a hospital that nobody has seen is promised", head, rows, said=said)]


def _privacy_against_worth(reading: Reading, found: list[ReleaseRow], audits: Mapping[str, Record]) -> list[Block]:
    """One point for each release with a head whose audit and promise are recorded."""
    rows: list[tuple[str, float, float]] = []
    for row in found:
        points = reading.released(row.digest, row.name, _POINTS).get("points") or []
        gain = _gain(audits[row.name])
        if points and gain is not None:
            default = next((one for one in points if one["target"] >= DEFAULT), points[-1])
            rows.append((row.name, gain, float(default["hidden"])))
    if not rows:
        return []
    drawn = light.lines(
        "Privacy against worth, a point for each release",
        {"releases": [(gain, hidden) for _, gain, hidden in rows]},
        light.Axis(
            "more often right than without the share",
            low=0.0,
            high=max(0.05, *(gain for _, gain, _ in rows)),
            percent=True,
        ),
        light.Axis(
            "PHI hidden whole at an unseen hospital",
            low=min(0.5, *(hidden for _, _, hidden in rows)),
            high=1.0,
            percent=True,
        ),
        joined=False,
    )
    table = Table(
        "By release",
        ("release", "best attacker gains", "PHI hidden whole"),
        [(Cell(name, f"/releases/{name}"), ratio(gain), ratio(hidden)) for name, gain, hidden in rows],
    )
    said = (
        "To the left an attacker gains less from a share, of all attacks of the audit the one that gains most; further up an unseen "
        f"hospital hides more, asked for {DEFAULT:.0%}."
    )
    return [Plot("Privacy against worth", drawn, table, said)]


def _gain(audit: Record) -> float | None:
    """How much more often the best attacker is right with the share than without it; None where no attack says so."""
    gains = [
        one["value"] - one["baseline"]
        for one in audit.get("findings", [])
        if not one.get("unit")
        and one.get("trials")
        and one.get("baseline") is not None
        and ", positive control" not in one["attack"]
    ]
    return max(0.0, *gains) if gains else None


def _adversaries(record: Record) -> list[Block]:
    """How often the adversaries in training were right, epoch by epoch, where the construction has any."""
    told: Any = record.get("record")
    accuracy = told.get("adversary_accuracy") if isinstance(told, dict) else None
    if not accuracy:
        return []
    points = [(float(number), float(value)) for number, value in enumerate(accuracy, start=1)]
    drawn = light.lines(
        "Accuracy of the adversaries over the training of the representer",
        {"adversaries": points, "chance": [(1.0, 0.5), (float(len(points)), 0.5)]},
        light.Axis("epoch"),
        light.Axis("decisions that are right", low=min(0.4, *(value for _, value in points)), high=1.0, percent=True),
        marks=False,
    )
    rows = [(f"{number:g}", ratio(value)) for number, value in points[-ROWS:]]
    said = "They train against the representer; what they find out it leaves out. Fresh ones, which the audit trains, are the judges."
    table = Table("By epoch", ("epoch", "decisions that are right"), rows)
    return [Plot("Adversaries while the representer was trained", drawn, table, said)]


def _next(reading: Reading) -> Notices:
    """What stands between the workspace and the next release: what the gates of `release` say now, without opening a key."""
    try:
        seen = foresee(reading.workspace, reading.representer())
    except DeidError as error:
        notices = [Notice(str(error), Mark.BAD)]
    else:
        notices = [Notice(str(error), Mark.BAD) for error in seen.refusals]
        notices += [Notice(f"the audit: {one}") for one in (seen.audit.caveats if seen.audit else ())]
        notices += _of_head(seen.head) if seen.head else ()
    return Notices("Before the next release", notices, "nothing that is recorded stands against it")


def _of_head(head: HeadOutlook) -> list[Notice]:
    notices = [
        Notice(one, Mark.WARN if head.drop is None else Mark.BAD, "/influence", "influence") for one in head.lower
    ]
    if "NOT MEASURED" in head.measured:
        notices.append(Notice(head.measured))
    if head.released is not None:
        notices.append(
            Notice(f"this head is out already as {head.released}", href=f"/releases/{head.released}", link="see")
        )
    return notices


def _published(row: ReleaseRow, out: Sequence[str]) -> Cell | str:
    """When it was published. One that is registered and not in the repository is being published now, or was killed while it was."""
    at = moment(row.published_at)
    return at if row.name in out else Cell(f"begun {at}, not out", mark=Mark.WARN)


def _verdict(audit: Record) -> Cell:
    if not audit:
        return Cell("none")
    failed = [str(one.get("attack")) for one in audit.get("verdicts", []) if one.get("passed") is not True]
    if audit.get("passed") is True and not failed:
        said, caveats = f"{audit.get('preset', '')} audit passed", audit.get("caveats")
        # No list of caveats is not an empty one.
        return Cell(said, mark=Mark.GOOD) if caveats == [] else Cell(f"{said}, {_counted(caveats)}", mark=Mark.WARN)
    return Cell(f"failed: {', '.join(dict.fromkeys(failed)) or 'by its verdict'}", mark=Mark.BAD)


def _counted(caveats: object) -> str:
    count = len(caveats) if isinstance(caveats, list) else 0
    return f"with {count} caveat{'' if count == 1 else 's'}" if count else "with caveats that are not known"


def _kept(passed: object) -> Cell:
    return Cell("kept", mark=Mark.GOOD) if passed is True else Cell("broken", mark=Mark.BAD)
