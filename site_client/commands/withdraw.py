"""`site-client withdraw`: takes a share back."""

from __future__ import annotations

import datetime
from pathlib import Path

import click

from command_line.commands import examples, json_option, report
from site_client.commands.keys import tell
from site_client.commands.options import ca_option, folder_option, proxy_option


@click.command(
    epilog=examples(
        'site-client withdraw 7 --reason "consent withdrawn"',
        "site-client withdraw share.parquet --to-folder /media/stick",
    )
)
@click.argument("share")
@click.option("--reason", default="", help="One line for the provider; no text of a note.")
@click.option(
    "--to-folder",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the message for a stick (default: send it to the provider's server).",
)
@ca_option
@proxy_option
@folder_option
@json_option
def withdraw(
    share: str, reason: str, folder: Path | None, ca: Path | None, proxy: str | None, root: Path, as_json: bool
) -> None:
    """Take SHARE back, by its number or its file: the provider deletes it and trains the next head without it."""
    from site_client import workspace
    from site_client.exchange import withdraw as withdrawals
    from site_client.exchange.messages import connection_of, post

    if folder is not None and (ca, proxy) != (None, None):
        raise click.UsageError("--to-folder: expected no --ca or --proxy beside it; give one way.")
    opened = workspace.open_workspace(root)
    found = withdrawals.find_share(opened, share)
    way = None if folder is not None else connection_of(opened, ca, proxy)
    data = withdrawals.request_withdrawal(opened, found, reason, datetime.date.today())
    if folder is not None:
        path = withdrawals.write_withdrawal(opened, found, data, folder)
        lines = [f"{path} asks the provider to withdraw share {found.sequence}; carry it there"]
        report({"withdrawal": str(path), "sequence": found.sequence}, lines, as_json=as_json)
        return
    assert way is not None
    receipt = withdrawals.confirm_withdrawal(opened, found, post(opened, "/v1/withdrawals", data, way, tell))
    report(
        {"sequence": found.sequence, "state": receipt.state, "log_head": receipt.log_head},
        [f"share {found.sequence} is withdrawn; the provider's signed receipt is in the ledger"],
        as_json=as_json,
    )
