"""`site-client ledger ...`: the signed log of everything that ever left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import Listing, examples, json_option, report
from command_line.digest_option import DIGEST
from site_client.commands.options import folder_option

if TYPE_CHECKING:
    from site_client.ledger import Entry


@click.group(cls=Listing)
def ledger() -> None:
    """Everything that ever left this site, and who approved it."""


@ledger.command("show", epilog=examples("site-client ledger show"))
@folder_option
@json_option
def ledger_show(root: Path, as_json: bool) -> None:
    """All entries, each checked before it is shown."""
    from site_client import ledger as log
    from site_client import workspace

    found = list(log.entries(workspace.open_workspace(root)))
    rows = [
        {"number": one.number, "at": one.at, "event": one.event, "details": dict(one.details), "key": one.key_id}
        for one in found
    ]
    lines = [f"{one.number:5} {one.at} {one.event:22} {_details(one)}" for one in found]
    report({"entries": rows}, lines or ["nothing has left yet"], as_json=as_json)


@ledger.command("verify", epilog=examples("site-client ledger verify", "site-client ledger verify --known 3fa9..."))
@click.option(
    "--known",
    multiple=True,
    type=DIGEST,
    help="Digest of an entry that was noted down earlier; it must still be there.",
)
@folder_option
@json_option
def ledger_verify(known: tuple[str, ...], root: Path, as_json: bool) -> None:
    """Check every entry, its signature and its place. Note the last digest down: with it a cut end is noticed."""
    from site_client import ledger as log
    from site_client import workspace

    found = log.verify(workspace.open_workspace(root), known)
    head = "" if found is None else found.digest
    count = 0 if found is None else found.number
    lines = [f"{count} entries, every one as it was signed", *([f"digest of the last: {head}"] if head else [])]
    report({"entries": count, "last": head}, lines, as_json=as_json)


def _details(entry: Entry) -> str:
    return json.dumps(dict(entry.details), ensure_ascii=False, sort_keys=True)
