"""`site-client vault`: who was what, for whoever may know."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import examples, json_option, report
from shared.errors import ConfigurationError
from site_client.commands.options import existing_file, folder_option
from site_client.commands.workbench.hiding_options import new_file, passphrase_key

if TYPE_CHECKING:
    from site_client.deid.choices.vault import Remembered


@click.command(
    epilog=examples(
        "site-client vault who-was-what.vault --note n-0017",
        "site-client vault who-was-what.vault --passphrase passphrase.txt --out who-was-what.jsonl",
    )
)
@click.argument("file", type=existing_file)
@click.option("--note", help="The id of one note (default: all).")
@click.option("--passphrase", type=existing_file, help="A file with the passphrase, where the vault is under one.")
@click.option("--out", type=new_file, help="Write what it holds into this file, for you alone.")
@folder_option
@json_option
def vault(file: Path, note: str | None, passphrase: Path | None, out: Path | None, root: Path, as_json: bool) -> None:
    """Open what `deid --vault` wrote: what stood in the place of every surrogate. The words are shown on a terminal only, or written with --out."""
    from foundation.files import write_text
    from site_client import workspace
    from site_client.deid.choices.vault import VaultKey, open_vault, require_protection
    from site_client.surrogates_secret import kept_secret

    opened = workspace.open_workspace(root)
    # Before any secret is asked for: another one opens nothing.
    require_protection(file, passphrase=passphrase is not None)
    if passphrase is None:
        key = VaultKey(kept_secret(opened.surrogates_key), is_passphrase=False)
    else:
        key = passphrase_key(passphrase)
    found = open_vault(file, key, note)
    if note is not None and not found:
        raise ConfigurationError(
            f"{file.name}: expected the id of a note that is in this vault, got another; leave --note out to see all"
        )
    spans = sum(len(one.replaced) for one in found)
    lines = [f"{len(found)} notes, {spans} replacements"]
    # What is no screen may be a log.
    if out is not None:
        if out.exists():
            raise ConfigurationError(f"{out.name}: expected a new file, found one; choose another name")
        write_text(out, "".join(json.dumps(_as_json(one), ensure_ascii=False) + "\n" for one in found))
        lines.append(f"with their words in {out}: it holds PHI, and stays in this house")
    elif sys.stdout.isatty():
        lines = [*(line for one in found for line in _lines(one)), *lines]
    else:
        lines.append("the words are shown on a terminal only; --out FILE writes them into a file for you alone")
    report(
        {"notes": len(found), "replacements": spans, "out": None if out is None else str(out)}, lines, as_json=as_json
    )


def _lines(remembered: Remembered) -> list[str]:
    spans = (
        f"  {one.start}-{one.end}  {one.category:10}  {' '.join(one.written.split())}  was  {' '.join(one.original.split())}"
        for one in remembered.replaced
    )
    return [remembered.note, *spans]


def _as_json(remembered: Remembered) -> dict[str, object]:
    return {
        "note": remembered.note,
        "replaced": [
            {
                "start": one.start,
                "end": one.end,
                "category": one.category,
                "original": one.original,
                "written": one.written,
            }
            for one in remembered.replaced
        ],
    }
