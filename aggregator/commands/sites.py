"""`aggregator site ...`: the enrolled hospitals and their keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.commands.options import existing_file, folder_option
from command_line.commands import Listing, examples, json_option, report
from command_line.fingerprint_option import FINGERPRINT
from command_line.written_file import WrittenFile

if TYPE_CHECKING:
    from aggregator.enrolled.sites import Site, SiteKey


@click.group(cls=Listing)
def site() -> None:
    """The enrolled hospitals."""


@site.command("add", epilog=examples("aggregator site add st-anne.request.json --fingerprint 1f2e-...-90ab"))
@click.argument("request", type=existing_file)
@click.option(
    "--fingerprint",
    type=FINGERPRINT,
    required=True,
    help="As the site said it over another channel, in digits or spoken.",
)
@folder_option
@json_option
def site_add(request: Path, fingerprint: str, root: Path, as_json: bool) -> None:
    """Enrol a site, or enrol it again with a new key where none of its keys counts any more."""
    from aggregator import workspace
    from aggregator.enrolled import sites

    added = sites.enrol(workspace.open_workspace(root), request, fingerprint)
    report(
        {"site": added.site, "fingerprint": added.fingerprint, "valid_until": added.valid_until.isoformat()},
        [f"{added.site} enrolled, {added.fingerprint}, valid until {added.valid_until}"],
        as_json=as_json,
    )


@site.command("list", epilog=examples("aggregator site list"))
@folder_option
@json_option
def site_list(root: Path, as_json: bool) -> None:
    """All sites with their keys, and which of them expire soon."""
    from aggregator import workspace
    from aggregator.enrolled import sites

    found, day = sites.list_sites(workspace.open_workspace(root)), sites.today()
    lines = [line for one in found for line in _lines(one)]
    for one in found:
        if (last := one.expires(day)) is not None:
            lines.append(f"warning: {one.name} can't send after {last}; ask it to run `site-client keys rotate`")
    rows = [
        {
            "site": one.name,
            "contact": one.contact,
            "revoked": one.revoked,
            "expires": None if (last := one.expires(day)) is None else last.isoformat(),
            "keys": [_key_row(key) for key in one.keys],
        }
        for one in found
    ]
    report({"sites": rows}, lines or ["no sites yet"], as_json=as_json)


@site.command("rotate", epilog=examples("aggregator site rotate st-anne.rotation.json"))
@click.argument("rotation", type=existing_file)
@click.option(
    "--out",
    type=WrittenFile("an acceptance", b'{"acceptance":'),
    help="Where the acceptance goes (default: beside the rotation).",
)
@folder_option
@json_option
def site_rotate(rotation: Path, out: Path | None, root: Path, as_json: bool) -> None:
    """Take a site's new key, which its old one has signed; the old one stays valid for the days that the site asks for."""
    from aggregator import workspace
    from aggregator.enrolled import site_rotation
    from foundation.files import write_bytes
    from protocols.bounded_reading import read_bounded
    from protocols.keys.rotation import MAX_ROTATION_BYTES

    out = out or rotation.with_name(f"{rotation.stem}.accepted.json")
    write_bytes(out, site_rotation.rotate(workspace.open_workspace(root), read_bounded(rotation, MAX_ROTATION_BYTES)))
    report({"acceptance": str(out)}, [f"accepted; send {out} back to the site"], as_json=as_json)


@site.command("revoke", epilog=examples('aggregator site revoke st-anne --reason "key lost"'))
@click.argument("name")
@click.option("--reason", required=True, help="Kept with the site.")
@click.option("--key", "key_id", help="Only this key, by its id, and those that it has vouched for.")
@folder_option
@json_option
def site_revoke(name: str, reason: str, key_id: str | None, root: Path, as_json: bool) -> None:
    """Take no more shares from a site, from now on."""
    from aggregator import workspace
    from aggregator.enrolled import sites

    sites.revoke(workspace.open_workspace(root), name, reason, key_id)
    lines = [f"{key_id or name} revoked; shares accepted before stay in the pool"]
    report({"site": name, "key": key_id}, lines, as_json=as_json)


def _key_row(key: SiteKey) -> dict[str, str]:
    return {
        "fingerprint": key.key_id,
        "state": key.state,
        "valid_from": key.valid_from.isoformat(),
        "valid_until": key.valid_until.isoformat(),
    }


def _lines(one: Site) -> list[str]:
    name = f"{one.name:20} {one.contact}{'  revoked: ' + one.revoked if one.revoked is not None else ''}".rstrip()
    return [name, *(f"  {key.key_id}  {key.state:8} {key.valid_from} to {key.valid_until}" for key in one.keys)]
