"""`aggregator publish`, `release`, `renew`, `announce` and `keys`: the release repository and who signs it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregator.commands.options import HOLDERS, MAX_OVERLAP_DAYS, OVERLAP_DAYS, PURPOSES, ROLES, folder_option
from command_line.commands import Computation, Listing, examples, json_option, report

if TYPE_CHECKING:
    from aggregator.publishing.releases import Publishing, Release
    from aggregator.workspace import Workspace

offline_option = click.option(
    "--offline-keys",
    "offline",
    multiple=True,
    type=click.Path(exists=True, path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder with offline keys, such as a stick; several are possible (default: those in the workspace).",
)
server_option = click.option(
    "--server", metavar="URL", help="https address of your server, for sites to know; '' for none (default: as before)."
)


def publishing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of everything that publishes a release."""
    for option in (
        click.option("--notes", default="", help="A word to the sites, kept in the release."),
        server_option,
        click.option(
            "--licence",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Markdown file with the licence of the release (default: none is stated).",
        ),
        click.option(
            "--embeddings-url",
            metavar="URL",
            help="Public https address of embeddings.safetensors: the release then names it and its digest instead of carrying it.",
        ),
        click.option(
            "--with-failed-audit",
            is_flag=True,
            help="Publish what has not passed its audit, of a construction that nothing proves; the model card says what failed.",
        ),
        offline_option,
    ):
        command = option(command)
    return command


@click.command(
    cls=Computation,
    epilog=examples("aggregator publish", "aggregator publish --offline-keys /media/a --offline-keys /media/b"),
)
@publishing_options
@folder_option
@json_option
def publish(root: Path, as_json: bool, **options: Any) -> None:
    """Sign and publish the frozen representer, which must have passed an audit."""
    from aggregator import workspace
    from aggregator.auditing import audit
    from aggregator.publishing import releases

    opened = workspace.open_workspace(root)
    workspace.require(opened.representer, "aggregator train-repr")
    audited = audit.require_passed(opened, with_failed=options["with_failed_audit"])
    _report(opened, releases.publish_representer(opened, _publishing(options)), audited, as_json)


@click.command(cls=Computation, epilog=examples("aggregator release", "aggregator release --licence licence.md"))
@click.option(
    "--accept-drop",
    is_flag=True,
    help="Release a head that finds less than the last one, than it would without one of the sites, or than the head that taught it.",
)
@click.option("--approver", metavar="NAME", help="Who has decided that; it stands in the log and in the model card.")
@click.option(
    "--head",
    metavar="DIGEST",
    default="",
    help="Only the head with these first digits, as `refresh` has proposed it (default: the one that is here).",
)
@publishing_options
@folder_option
@json_option
def release(root: Path, as_json: bool, accept_drop: bool, approver: str | None, head: str, **options: Any) -> None:
    """Sign and publish representer and head together, audited and finding no less than before."""
    from aggregator import workspace
    from aggregator.auditing import audit
    from aggregator.publishing import releases
    from aggregator.publishing.head_record import describe_needs
    from aggregator.publishing.quality_gate import read_record

    if accept_drop != (approver is not None):
        raise click.UsageError(
            "expected --accept-drop and --approver NAME together, got one of them; give both or none"
        )
    opened = workspace.open_workspace(root)
    workspace.require(opened.head, "aggregator train-head")
    audited = audit.require_passed(opened, with_failed=options["with_failed_audit"])
    how = replace(_publishing(options), approver=approver, head=head)
    _report(opened, releases.publish_pipeline(opened, how), audited, as_json, describe_needs(read_record(opened.head)))


@click.command(epilog=examples("aggregator renew", "aggregator renew --offline-keys /media/a --offline-keys /media/b"))
@offline_option
@folder_option
@json_option
def renew(offline: tuple[Path, ...], root: Path, as_json: bool) -> None:
    """Sign the repository anew before it expires; what the offline keys sign, where they are at hand."""
    from aggregator import workspace
    from aggregator.publishing import releases

    opened = workspace.open_workspace(root)
    expires = releases.renew(opened, offline)
    opened.remove_ended_keys()
    report(
        {"expires": {name: _text(moment) for name, moment in expires.items()}}, _expiry_lines(expires), as_json=as_json
    )


@click.command(epilog=examples("aggregator announce --server https://deid.example.org"))
@server_option
@offline_option
@folder_option
@json_option
def announce(server: str | None, offline: tuple[Path, ...], root: Path, as_json: bool) -> None:
    """Tell the sites your keys and the address of your server, without a release."""
    from aggregator import workspace
    from aggregator.publishing import releases

    record = releases.announce(workspace.open_workspace(root), server, offline)
    lines = [
        f"signing key {record.signing_key.key_id}",
        f"recipient {record.recipient.key_id}",
        f"server {record.server or '-'}",
    ]
    report(dict(record.to_json()), [*lines, f"valid until {record.valid_until}"], as_json=as_json)


@click.group(cls=Listing)
def keys() -> None:
    """Your own keys, those of the release repository, and the passphrase that they lie under."""


@keys.command("list", epilog=examples("aggregator keys list"))
@offline_option
@folder_option
@json_option
def keys_list(offline: tuple[Path, ...], root: Path, as_json: bool) -> None:
    """Who may sign what, which of the private keys are here, and when what they signed expires."""
    from aggregator import workspace

    opened = workspace.open_workspace(root)
    repository = opened.repository(offline)
    trusted, expires = repository.root(), repository.expiries()
    rows = []
    for role in ROLES:
        here = {one.public.keyid: str(one.path) for one in repository.keys.find_keys(role)}
        for keyid in trusted.roles[role].keyids:
            rows.append(
                {"role": role, "key": keyid, "threshold": trusted.roles[role].threshold, "file": here.get(keyid)}
            )
    lines = [f"fingerprint {repository.fingerprint.key_id}", f"spoken      {repository.fingerprint.spoken}"]
    lines += [f"{row['role']:10} {str(row['key'])[:8]}  {row['file'] or 'not here'}" for row in rows]
    own = _own_rows(opened)
    lines += [f"{row['purpose']:10} {row['key']}  {row['state']}" for row in own]
    result = {"keys": rows, "own": own, "expires": {name: _text(moment) for name, moment in expires.items()}}
    report(result, [*lines, *_expiry_lines(expires)], as_json=as_json)


def _own_rows(opened: Workspace) -> list[dict[str, str]]:
    """The provider's own keys, the newest first."""
    ids = {"signing": opened.signing_keys()[0].key_id, "encryption": opened.recipient().public_key.key_id}
    rows = [{"purpose": purpose, "key": key_id, "state": "announced"} for purpose, key_id in ids.items()]
    for key in reversed(opened.provider_keys().earlier):
        state = f"used until {key.used_until}, counts until {key.counts_until}"
        rows.append({"purpose": key.purpose, "key": key.key_id, "state": state})
    return rows


@keys.command(
    "rotate",
    epilog=examples(
        "aggregator keys rotate signing",
        "aggregator keys rotate encryption --overlap 0",
        "aggregator keys rotate --role timestamp",
    ),
)
@click.argument("purpose", required=False, type=click.Choice(PURPOSES))
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(ROLES), help="Keys of the releases instead; repeatable."
)
@click.option(
    "--overlap",
    "overlap_days",
    default=OVERLAP_DAYS,
    show_default=True,
    type=click.IntRange(0, MAX_OVERLAP_DAYS),
    metavar="DAYS",
    help="How long the key before is used on, for sites that have not pulled yet; 0 for one that was lost or stolen.",
)
@offline_option
@folder_option
@json_option
def keys_rotate(
    purpose: str | None,
    roles: tuple[str, ...],
    overlap_days: int,
    offline: tuple[Path, ...],
    root: Path,
    as_json: bool,
) -> None:
    """A new key in the place of your own for signing or encryption, or new keys of roles of the releases. Sites learn them at their next pull."""
    from aggregator import workspace

    if (purpose is None) == (not roles):
        raise click.UsageError("expected `signing`, `encryption` or --role, and one of them; give it")
    opened = workspace.open_workspace(root)
    if purpose is not None:
        _rotate_own(opened, purpose, overlap_days, offline, as_json)
    else:
        _rotate_roles(opened, roles, offline, as_json)


def _rotate_own(opened: Workspace, purpose: str, overlap_days: int, offline: tuple[Path, ...], as_json: bool) -> None:
    from aggregator.provider_keys import Purpose
    from aggregator.publishing.key_rotation import rotate_provider_key

    rotated = rotate_provider_key(opened, Purpose(purpose), overlap_days, offline)
    lines = [f"{rotated.new.key_id} is announced to the sites in the place of {rotated.old.key_id}"]
    if not overlap_days:
        lines.append("the key before has ended: let the sites pull today, since until then they know no other")
    elif purpose == Purpose.SIGNING:
        lines.append(f"the key before signs until {rotated.used_until}, and counts until {rotated.counts_until}")
    else:
        lines.append(f"the key before opens shares until {rotated.counts_until}")
    result = {
        "purpose": purpose,
        "key": rotated.new.key_id,
        "old": rotated.old.key_id,
        "used_until": rotated.used_until.isoformat(),
        "counts_until": rotated.counts_until.isoformat(),
    }
    report(
        result, [*lines, "carry the folder releases/ to the sites, or let them read it where it is"], as_json=as_json
    )


def _rotate_roles(opened: Workspace, roles: tuple[str, ...], offline: tuple[Path, ...], as_json: bool) -> None:
    from aggregator.publishing import releases

    version = releases.rotate(opened, roles, offline)
    lines = [f"root version {version}: new keys for {', '.join(roles)}", *offline_warning(opened)]
    report({"root": version, "roles": list(roles)}, lines, as_json=as_json)


@keys.command("export-offline", epilog=examples("aggregator keys export-offline /media/stick-1 --holder 1"))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--holder", type=click.IntRange(1, HOLDERS), help="Only the keys of this one of three people (default: all)."
)
@folder_option
@json_option
def keys_export(folder: Path, holder: int | None, root: Path, as_json: bool) -> None:
    """Move the offline keys out of the workspace, best to three sticks of three people."""
    from aggregator import workspace
    from aggregator.repository.tuf_keys import export_offline

    opened = workspace.open_workspace(root)
    moved = export_offline(opened.offline_keys, folder, holder, opened.passphrase)
    lines = [f"{len(moved)} keys are in {folder} and no longer in the workspace; a copy in a safe is a good idea"]
    report({"moved": [str(path) for path in moved]}, [*lines, *offline_warning(opened)], as_json=as_json)


def _publishing(options: dict[str, Any]) -> Publishing:
    from aggregator.publishing.releases import Publishing
    from foundation.reading import read_text

    licence = options.pop("licence")
    return Publishing(licence=None if licence is None else read_text(licence), **options)


def _report(
    opened: Workspace, published: Release, audited: list[str], as_json: bool, needs: Sequence[str] = ()
) -> None:
    manifest = published.manifest
    lines = [
        f"release {manifest.sequence}, {manifest.kind}, in {opened.releases}",
        f"digest {published.digest}",
        *(f"audit: {line}" for line in audited),
        *needs,
        "carry the folder releases/ to the sites, or let them read it where it is",
        *offline_warning(opened),
    ]
    result = {
        "sequence": manifest.sequence,
        "kind": manifest.kind,
        "name": published.name,
        "folder": str(opened.releases),
        "digest": published.digest,
        "audit": audited,
    }
    report(result, lines, as_json=as_json)


def offline_warning(opened: Workspace) -> list[str]:
    """Whoever holds the workspace with all keys can sign anything."""
    from aggregator.repository.tuf_keys import OFFLINE_ROLES

    ring = opened.repository().keys
    if not any(ring.find_keys(role) for role in OFFLINE_ROLES):
        return []
    return [
        "the offline keys lie in the workspace: move them with `aggregator keys export-offline` before a site relies on it"
    ]


def _expiry_lines(expires: dict[str, datetime.datetime]) -> list[str]:
    lines = [f"{name:10} valid until {_text(moment)}" for name, moment in expires.items()]
    first = min(expires.values())
    return [*lines, f"run `aggregator renew`, with the offline keys, before {first:%Y-%m-%d}"]


def _text(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
