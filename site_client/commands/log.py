"""`site-client release-code` and `site-client log ...`: whether other hospitals are shown the same releases."""

from __future__ import annotations

from pathlib import Path

import click

from command_line.commands import Listing, examples, json_option, report
from command_line.fingerprint_option import FINGERPRINT
from command_line.written_file import WrittenFile
from site_client.commands.options import existing_file, folder_option

_WARRANT = ".warrant"


@click.command(
    "release-code",
    epilog=examples(
        "site-client release-code", "site-client release-code --compare babad-bamag-bibaj-bimal-boban-bomar-bubat-bumaz"
    ),
)
@click.option(
    "--compare", "other", type=FINGERPRINT, metavar="CODE", help="The code of another hospital, as it was told or sent."
)
@folder_option
@json_option
def release_code(other: str | None, root: Path, as_json: bool) -> None:
    """A code of the newest release and all before it, to read to another hospital over the telephone.

    Two hospitals that have pulled since the last release have the same one, or the provider shows them different releases.
    """
    from protocols.keys.fingerprint import parse_fingerprint
    from site_client import workspace
    from site_client.errors import ForkError
    from site_client.release_log import code_in_use

    code = code_in_use(workspace.open_workspace(root))
    same = None if other is None else parse_fingerprint(code) == other
    if same is False:
        raise ForkError(
            f"expected the code {code}, got another one; pull at both hospitals and compare again; if the codes still differ, "
            "compare checkpoints: `site-client log export FILE` there, `site-client log compare FILE` here"
        )
    report({"code": code, "same": same}, ["the same" if same else code], as_json=as_json)


@click.group(cls=Listing)
def log() -> None:
    """The provider's public list of releases, as this hospital was shown it."""


@log.command("export", epilog=examples("site-client log export /media/stick/st-anne.checkpoint"))
@click.argument("file", type=WrittenFile("a checkpoint", b"deid-commons/"))
@folder_option
@json_option
def export(file: Path, root: Path, as_json: bool) -> None:
    """Write the provider's signed checkpoint of the last pull into FILE, for another hospital. It tells nothing of this one.

    What shows that it is the provider's, whichever keys others were told, goes into FILE.warrant: give both.
    """
    from foundation.files import write_bytes
    from protocols.log.note import verifier_key
    from site_client import workspace
    from site_client.release_log import origin_of, require_shown

    opened = workspace.open_workspace(root)
    shown, origin = require_shown(opened), origin_of(opened)
    beside = _warrant_beside(file)
    write_bytes(file, shown.note, private=False)
    if shown.warrant:
        write_bytes(beside, shown.warrant, private=False)
    key = verifier_key(origin, opened.pinned_provider().signing_key)
    lines = [
        f"checkpoint of {shown.head.size} releases in {file}",
        f"what shows whose it is, to give with it: {beside}"
        if shown.warrant
        else "nothing is here yet that shows whose it is to a hospital with other keys: pull, and export again",
        f"key for other programs that read such logs: {key}",
    ]
    warrant = str(beside) if shown.warrant else None
    result = {"file": str(file), "warrant": warrant, "key": key, "origin": origin, **shown.head.to_json()}
    report(result, lines, as_json=as_json)


@log.command("compare", epilog=examples("site-client log compare /media/stick/st-anne.checkpoint"))
@click.argument("file", type=existing_file)
@folder_option
@json_option
def compare(file: Path, root: Path, as_json: bool) -> None:
    """Hold the checkpoint of another hospital, FILE, against what this one was shown.

    It is written down: a pull that does not fit it is refused from then on. FILE.warrant is read where it lies beside.
    """
    from protocols.bounded_reading import read_bounded
    from protocols.log.note import MAX_NOTE_BYTES
    from protocols.release.repository import MAX_WARRANT_BYTES
    from site_client import workspace
    from site_client.release_log import Relation, compare_log

    beside = file.with_name(f"{file.name}{_WARRANT}")
    warrant = read_bounded(beside, MAX_WARRANT_BYTES) if beside.exists() else None
    relation, theirs = compare_log(workspace.open_workspace(root), read_bounded(file, MAX_NOTE_BYTES), warrant)
    line = {
        Relation.SAME: f"the same {theirs.size} releases",
        Relation.EARLIER: f"the first {theirs.size} of our releases: the other hospital has not pulled since",
        Relation.LATER: f"{theirs.size} releases, more than were pulled here: the next pull is held against them",
    }[relation]
    report({"relation": relation.name.lower(), **theirs.to_json()}, [line], as_json=as_json)


def _warrant_beside(file: Path) -> Path:
    """Where the warrant goes: no other file is replaced by it."""
    path: Path = WrittenFile("a warrant", b'{"checkpoint":').convert(
        file.with_name(f"{file.name}{_WARRANT}"), None, None
    )
    return path
