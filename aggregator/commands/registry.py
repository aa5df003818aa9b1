"""`aggregator audit-log ...`: the chain of all that happened, checked before any of it is shown."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.commands.options import folder_option
from command_line.commands import Listing, examples, json_option, report
from command_line.digest_option import DIGEST
from command_line.written_file import WrittenFile

if TYPE_CHECKING:
    from aggregator.registry.audit_log import Event


@click.group("audit-log", cls=Listing)
def audit_log_group() -> None:
    """The log of all that happened: it only grows, and each event names the hash of the one before."""


@audit_log_group.command("verify", epilog=examples("aggregator audit-log verify --known 1f2e90ab..."))
@click.option(
    "--known",
    multiple=True,
    metavar="HASH",
    type=DIGEST,
    help="A hash given out earlier, as receipts and earlier runs state it, that must be in the log; several are possible.",
)
@folder_option
@json_option
def verify(known: tuple[str, ...], root: Path, as_json: bool) -> None:
    """Check every link; ends with code 21 at the first that is broken."""
    from aggregator import workspace
    from aggregator.registry import audit_log

    with workspace.open_workspace(root).registry().reading() as session:
        count = audit_log.verify(session, known=known)
        head = audit_log.head(session)
    lines = [
        f"{count} events, every link holds",
        f"head {head}",
        "keep the head elsewhere: later, --known with it shows whether the log was cut off or written anew",
    ]
    report({"events": count, "head": head}, lines, as_json=as_json)


@audit_log_group.command("show", epilog=examples("aggregator audit-log show --last 50"))
@click.option("--last", default=20, show_default=True, type=click.IntRange(1), help="So many events, the newest last.")
@folder_option
@json_option
def show(last: int, root: Path, as_json: bool) -> None:
    """The newest events."""
    from aggregator import workspace
    from aggregator.registry import audit_log

    with workspace.open_workspace(root).registry().reading() as session:
        shown = deque(audit_log.events(session), maxlen=min(last, sys.maxsize))
    report({"events": [event.as_json() for event in shown]}, list(map(_line, shown)) or ["no events"], as_json=as_json)


@audit_log_group.command("export", epilog=examples("aggregator audit-log export log.jsonl"))
@click.argument("file", type=WrittenFile("an export of the audit log", b'{"action":'))
@folder_option
@json_option
def export(file: Path, root: Path, as_json: bool) -> None:
    """Write all events as JSON lines, to keep elsewhere."""
    from aggregator import workspace
    from aggregator.registry import audit_log
    from foundation.files import atomic_file
    from protocols.canonical import canonical_bytes

    count, head = 0, audit_log.START
    with workspace.open_workspace(root).registry().reading() as session, atomic_file(file, private=False) as stream:
        for event in audit_log.events(session):
            stream.write(canonical_bytes(event.as_json()) + b"\n")
            count, head = event.seq, event.hash
    report({"events": count, "head": head}, [f"{count} events in {file}", f"head {head}"], as_json=as_json)


def _line(event: Event) -> str:
    # A site's words may hold characters that command a terminal.
    line = f"{event.seq:6} {event.at} {event.actor:20} {event.action:20} {event.details}"
    return line.encode("ascii", "backslashreplace").decode()
