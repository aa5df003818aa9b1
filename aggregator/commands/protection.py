"""`aggregator keys protect` and `unprotect`: the passphrase of the private keys."""

from __future__ import annotations

from pathlib import Path

import click

from aggregator.commands.options import existing_file, folder_option
from aggregator.commands.releases import offline_option
from command_line.commands import examples, json_option, report


@click.command(
    "protect", epilog=examples("aggregator keys protect", "aggregator keys protect --offline-keys /media/stick-1")
)
@click.option(
    "--new-passphrase-file",
    "file",
    type=existing_file,
    help="File that holds the new passphrase (default: it is asked for; where no key is under one, DEID_COMMONS_PASSPHRASE_FILE).",
)
@offline_option
@folder_option
@json_option
def keys_protect(file: Path | None, offline: tuple[Path, ...], root: Path, as_json: bool) -> None:
    """Put the private keys of the workspace, or those on sticks, under a passphrase, or under another one."""
    from command_line.passphrase import protect_keys

    done = protect_keys(_folders(root, offline), file)
    lines = [
        f"{len(done)} keys are under the passphrase",
        "without it they are lost; what lay in clear may still be found on the disk and in backups",
    ]
    report({"protected": [str(path) for path in done]}, lines, as_json=as_json)


@click.command("unprotect", epilog=examples("aggregator keys unprotect"))
@offline_option
@folder_option
@json_option
def keys_unprotect(offline: tuple[Path, ...], root: Path, as_json: bool) -> None:
    """Take the passphrase from the private keys of the workspace, or from those on sticks."""
    from command_line.passphrase import unprotect_keys

    done = unprotect_keys(_folders(root, offline))
    report({"unprotected": [str(path) for path in done]}, [f"{len(done)} keys lie in clear"], as_json=as_json)


def _folders(root: Path, offline: tuple[Path, ...]) -> tuple[Path, ...]:
    """Where the keys lie; of a stick that is named, its keys alone."""
    from aggregator import workspace

    opened = workspace.open_workspace(root)
    return offline or (opened.keys, opened.keys / "online", opened.offline_keys)
