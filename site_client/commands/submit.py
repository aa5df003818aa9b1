"""`site-client submit` and `receipts`: a share leaves, and the provider's word about it returns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import examples, json_option, report
from command_line.progress import progress_bar
from foundation.errors import DeidError
from site_client.commands.approval import accept_option, approve, approver_option, read_acceptance
from site_client.commands.keys import tell, warn_of_expiry
from site_client.commands.options import ca_option, existing_file, folder_option, proxy_option
from site_client.errors import RejectedError

if TYPE_CHECKING:
    from protocols.share.receipt import Receipt
    from site_client.sharing.sifting.decisions import Decision
    from site_client.workspace import Workspace

_WORDS = {
    "accepted": "accepted: it counts from the next training on",
    "quarantined": "set aside: a person at the provider looks at it; the same `submit` later tells what was decided",
    "withdrawn": "withdrawn",
}


@click.command(
    epilog=examples(
        "site-client submit share.parquet",
        "site-client submit share.parquet --server https://deid.example.org --ca ca.pem --proxy http://proxy:3128",
        "site-client submit share.parquet --to-folder /media/stick",
    )
)
@click.argument("share", type=existing_file)
@click.option(
    "--to-folder",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the sealed share for a stick (default: send it to the provider's server).",
)
@click.option("--server", metavar="URL", help="The provider's server (default: the one that the provider states).")
@ca_option
@proxy_option
@approver_option
@accept_option
@folder_option
@json_option
def submit(
    share: Path,
    folder: Path | None,
    server: str | None,
    ca: Path | None,
    proxy: str | None,
    approver: str | None,
    accepted: bool,
    root: Path,
    as_json: bool,
) -> None:
    """Hand a share over, sealed. Goes on where an earlier attempt was cut off."""
    from site_client import workspace
    from site_client.exchange.messages import connection_of
    from site_client.exchange.submit import require_policy, submit_to_folder, submit_to_server
    from site_client.exchange.transport import Connection

    if folder is not None and (server, ca, proxy) != (None, None, None):
        raise click.UsageError("--to-folder: expected no --server, --ca or --proxy beside it; give one way.")
    opened = workspace.open_workspace(root)
    warn_of_expiry(opened)
    require_policy(opened, share, read_acceptance(accepted, approver))
    if folder is not None:
        approve(opened, share, approver)
        bundle = submit_to_folder(opened, share, folder, None)
        lines = [f"{bundle} is ready for the provider", "later: site-client receipts FOLDER"]
        report({"bundle": str(bundle)}, lines, as_json=as_json)
        return
    way = Connection(server, ca, proxy) if server is not None else connection_of(opened, ca, proxy)
    approve(opened, share, approver)
    with progress_bar(quiet=as_json) as bar:
        receipt = submit_to_server(
            opened, share, way, None, progress=lambda arrived, size: bar("bytes sent", arrived, size), tell=tell
        )
    _report(opened, [receipt], as_json=as_json)


@click.command(epilog=examples("site-client receipts /media/stick"))
@click.argument("folder", type=click.Path(exists=True, path_type=Path, file_okay=False))
@folder_option
@json_option
def receipts(folder: Path, root: Path, as_json: bool) -> None:
    """Take the provider's receipts for this site from FOLDER.

    Ends with the code of the first that can't be taken; the others are taken, and told, all the same.
    """
    from site_client import workspace
    from site_client.exchange.receipts import take_receipts

    found: list[Receipt] = []
    opened = workspace.open_workspace(root)
    try:
        take_receipts(opened, folder, found.append)
    except DeidError:
        if found or as_json:
            _tell(opened, found, as_json=as_json)
        raise
    _report(opened, found, as_json=as_json)


def _report(opened: Workspace, found: list[Receipt], *, as_json: bool) -> None:
    from protocols.share.receipt import ReceiptState

    stand = _tell(opened, found, as_json=as_json)
    rejected = [one for one in stand if one.state == ReceiptState.REJECTED]
    if rejected:
        numbers = ", ".join(f"{one.sequence} ({one.reason_code})" for one in rejected)
        raise RejectedError(f"share {numbers}: expected it to be taken, the provider refuses it; ask the provider why")


def _tell(opened: Workspace, found: list[Receipt], *, as_json: bool) -> list[Receipt]:
    """Prints all of them, and gives back those that stand."""
    from site_client.exchange.receipts import superseded_by

    over = [superseded_by(opened, one) for one in found]
    rows = [
        {
            "sequence": one.sequence,
            "state": one.state,
            "reason_code": one.reason_code,
            "log_head": one.log_head,
            "superseded_by": None if newer is None else newer.state,
        }
        for one, newer in zip(found, over, strict=True)
    ]
    lines = [f"share {one.sequence}: {_words(one, newer)}" for one, newer in zip(found, over, strict=True)]
    report({"receipts": rows}, lines, as_json=as_json)
    return [one for one, newer in zip(found, over, strict=True) if newer is None]


def _words(receipt: Receipt, newer: Decision | None) -> str:
    said = _WORDS.get(receipt.state, f"refused: {receipt.reason_code}")
    if newer is None:
        return said
    return f"{said}, on {receipt.day}; this changes nothing: the share stays {newer.state}, as a receipt says that was taken before"
