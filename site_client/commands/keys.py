"""`site-client enrol` and `site-client keys ...`: the site's signing keys."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import Listing, examples, json_option, report, say, warn
from command_line.written_file import WrittenFile
from site_client.commands.options import (
    MAX_OVERLAP_DAYS,
    OVERLAP_DAYS,
    ca_option,
    existing_file,
    folder_option,
    proxy_option,
)

if TYPE_CHECKING:
    from site_client.workspace import Workspace


@click.command(
    epilog=examples(
        "site-client enrol --out st-anne.request.json", "site-client enrol --new-key --out st-anne.request.json"
    )
)
@click.option(
    "--out", required=True, type=WrittenFile("a request", b'{"request":'), help="The request to send to the provider."
)
@click.option("--contact", default="", help="Whom the provider may ask, one line.")
@click.option(
    "--new-key",
    is_flag=True,
    help="Join again, where the key has ended, is lost or was stolen: a new one signs from now on, and the old one never more.",
)
@folder_option
@json_option
def enrol(out: Path, contact: str, new_key: bool, root: Path, as_json: bool) -> None:
    """Write the request with which this site joins."""
    from site_client import keys as site_keys
    from site_client import workspace

    opened = workspace.open_workspace(root)
    request = site_keys.request_enrolment(opened, out, contact, datetime.date.today(), new_key=new_key)
    again = (
        "the old key signs no more; if it still counts at the provider, have it revoked: until then no other is taken"
    )
    lines = [
        *([again] if new_key else []),
        f"request in {out}: send it to the provider by any way",
        f"fingerprint {request.fingerprint}",
        f"spoken      {request.spoken}",
        "tell the provider one of the two over a channel that both of you trust",
        f"the key is valid until {request.valid_until}",
    ]
    report(
        {
            "request": str(out),
            "fingerprint": request.fingerprint,
            "spoken": request.spoken,
            "valid_until": request.valid_until.isoformat(),
        },
        lines,
        as_json=as_json,
    )


@click.group(cls=Listing)
def keys() -> None:
    """The signing keys of this site."""


@keys.command("show", epilog=examples("site-client keys show"))
@folder_option
@json_option
def keys_show(root: Path, as_json: bool) -> None:
    """All keys, which of them signs, and what expires soon."""
    from site_client import keys as site_keys
    from site_client import workspace

    opened = workspace.open_workspace(root)
    rows = [
        {
            "fingerprint": key.key_id,
            "spoken": key.public_key.spoken,
            "state": key.state,
            "valid_until": str(key.valid_until),
        }
        for key in opened.keys
    ]
    warnings = site_keys.expiry_lines(opened, datetime.date.today())
    lines = [f"{row['fingerprint']}  {row['state']:8} until {row['valid_until']}" for row in rows]
    report({"keys": rows, "warnings": warnings}, [*lines, *(f"warning: {line}" for line in warnings)], as_json=as_json)


@keys.command(
    "rotate", epilog=examples("site-client keys rotate", "site-client keys rotate --out st-anne.rotation.json")
)
@click.option(
    "--out",
    type=WrittenFile("a rotation", b'{"new_signature":'),
    help="Write the rotation for a stick (default: send it to the provider's server).",
)
@click.option(
    "--overlap-days",
    default=OVERLAP_DAYS,
    show_default=True,
    type=click.IntRange(0, MAX_OVERLAP_DAYS),
    help="How long the old key stays valid, for shares that are on their way.",
)
@ca_option
@proxy_option
@folder_option
@json_option
def keys_rotate(
    out: Path | None, overlap_days: int, ca: Path | None, proxy: str | None, root: Path, as_json: bool
) -> None:
    """Make a new key, which signs as soon as the provider has accepted it. No fingerprint has to be compared."""
    from foundation.files import write_bytes
    from site_client import keys as site_keys
    from site_client import workspace
    from site_client.exchange.messages import connection_of, post

    if out is not None and (ca, proxy) != (None, None):
        raise click.UsageError("--out: expected no --ca or --proxy beside it; give one way.")
    opened = workspace.open_workspace(root)
    way = None if out is not None else connection_of(opened, ca, proxy)
    opened, data = site_keys.rotation(opened, datetime.date.today(), overlap_days)
    if out is None:
        assert way is not None
        _accepted(opened, post(opened, "/v1/rotations", data, way, tell), as_json=as_json)
        return
    write_bytes(out, data)
    lines = [
        f"rotation in {out}: send it to the provider by any way",
        "the old key goes on signing until `site-client keys accept` has the provider's answer",
    ]
    report({"rotation": str(out), "fingerprint": opened.keys[-1].key_id}, lines, as_json=as_json)


@keys.command("accept", epilog=examples("site-client keys accept st-anne.rotation.accepted.json"))
@click.argument("acceptance", type=existing_file)
@folder_option
@json_option
def keys_accept(acceptance: Path, root: Path, as_json: bool) -> None:
    """Sign with the new key from now on, since the provider has accepted it."""
    from protocols.bounded_reading import read_bounded
    from protocols.keys.rotation import MAX_ROTATION_BYTES
    from site_client import workspace

    _accepted(workspace.open_workspace(root), read_bounded(acceptance, MAX_ROTATION_BYTES), as_json=as_json)


@keys.command("protect", epilog=examples("site-client keys protect"))
@click.option(
    "--new-passphrase-file",
    "file",
    type=existing_file,
    help="File that holds the new passphrase (default: it is asked for; where no key is under one, DEID_COMMONS_PASSPHRASE_FILE).",
)
@folder_option
@json_option
def keys_protect(file: Path | None, root: Path, as_json: bool) -> None:
    """Put the private keys under a passphrase, or under another one."""
    from command_line.passphrase import protect_keys
    from site_client import workspace

    done = protect_keys((workspace.open_workspace(root).keys_folder,), file)
    lines = [
        f"{len(done)} keys are under the passphrase",
        "without it they are lost; what lay in clear may still be found on the disk and in backups",
    ]
    report({"protected": [str(path) for path in done]}, lines, as_json=as_json)


@keys.command("unprotect", epilog=examples("site-client keys unprotect"))
@folder_option
@json_option
def keys_unprotect(root: Path, as_json: bool) -> None:
    """Take the passphrase from the private keys."""
    from command_line.passphrase import unprotect_keys
    from site_client import workspace

    done = unprotect_keys((workspace.open_workspace(root).keys_folder,))
    report({"unprotected": [str(path) for path in done]}, [f"{len(done)} keys lie in clear"], as_json=as_json)


def _accepted(opened: Workspace, acceptance: bytes, *, as_json: bool) -> None:
    from site_client import keys as site_keys

    _, accepted = site_keys.take_into_use(opened, acceptance)
    report(
        {"fingerprint": accepted.new_key.key_id, "valid_until": str(accepted.valid_until)},
        [f"{accepted.new_key.key_id} signs from now on, until {accepted.valid_until}"],
        as_json=as_json,
    )


def warn_of_expiry(opened: Workspace) -> None:
    """One line on standard error for each key that expires soon."""
    from site_client import keys as site_keys

    for line in site_keys.expiry_lines(opened, datetime.date.today()):
        warn(line)


def tell(line: str) -> None:
    """A line for the person in front of the machine."""
    say(f"note: {line}", err=True)
