"""`site-client vault`: who was what, for whoever may know."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import examples, json_option, report
from foundation.printable import escape_unprintable
from shared.errors import ConfigurationError
from site_client.commands.options import existing_file, folder_option
from site_client.commands.workbench.hiding_options import new_file, passphrase_key

if TYPE_CHECKING:
    from site_client.deid.choices.opened_vault import Opened, Remembered


@click.command(
    epilog=examples(
        "site-client vault who-was-what.vault --note n-0017",
        "site-client vault who-was-what.vault --note n-0017 --text safe/n-0017.txt",
        "site-client vault who-was-what.vault --passphrase passphrase.txt --out who-was-what.jsonl",
    )
)
@click.argument("file", type=existing_file)
@click.option("--note", help="The id of one note (default: all).")
@click.option(
    "--text",
    type=existing_file,
    help="A file with that note as it is de-identified: nothing is shown unless the run of this vault wrote it. Ids come again in other runs.",
)
@click.option("--passphrase", type=existing_file, help="A file with the passphrase, where the vault is under one.")
@click.option("--out", type=new_file, help="Write what it holds into this file, for you alone.")
@folder_option
@json_option
def vault(
    file: Path,
    note: str | None,
    text: Path | None,
    passphrase: Path | None,
    out: Path | None,
    root: Path,
    as_json: bool,
) -> None:
    """Open what `deid --vault` wrote: what stood in the place of every surrogate. The words are shown on a terminal only, or written with --out."""
    from foundation.files import write_text
    from foundation.reading import read_text
    from site_client import workspace
    from site_client.deid.choices.opened_vault import open_vault, require_protection
    from site_client.deid.choices.vault import VaultKey
    from site_client.surrogates_secret import kept_secret

    if text is not None and note is None:
        raise ConfigurationError("--text: expected --note beside it, got none; give the id of the note")
    opened = workspace.open_workspace(root)
    # Before any secret is asked for: another one opens nothing.
    require_protection(file, passphrase=passphrase is not None)
    if passphrase is None:
        key = VaultKey(kept_secret(opened.surrogates_key), is_passphrase=False)
    else:
        key = passphrase_key(passphrase)
    held = open_vault(file, key, note)
    if note is not None and not held.notes:
        raise ConfigurationError(
            f"{file.name}: expected the id of a note that is in this vault, got another; leave --note out to see all"
        )
    if text is not None:
        held = held.only(read_text(text).removeprefix("\ufeff"), file.name)
    found = held.notes
    spans = sum(len(one.replaced) for one in found)
    lines = [f"{len(found)} notes, {spans} replacements", *_run_lines(held, note, checked=text is not None)]
    # What is no screen may be a log.
    if out is not None:
        if out.exists():
            raise ConfigurationError(f"{out.name}: expected a new file, found one; choose another name")
        write_text(out, "".join(json.dumps(_as_json(one, held), ensure_ascii=False) + "\n" for one in found))
        lines.append(f"with their words in {out}: it holds PHI, and stays in this house")
    elif sys.stdout.isatty():
        lines = [*(line for one in found for line in _lines(one)), *lines]
    else:
        lines.append("the words are shown on a terminal only; --out FILE writes them into a file for you alone")
    result = {
        "notes": len(found),
        "replacements": spans,
        "day": _day(held),
        "of_this_run": True if text is not None else None,
        "out": None if out is None else str(out),
    }
    report(result, lines, as_json=as_json)


def _run_lines(held: Opened, note: str | None, *, checked: bool) -> list[str]:
    """Of which run the vault is, and whether the note that is asked for is known to be of it."""
    if held.day is None:
        return [
            "an earlier version wrote this vault: it knows neither its day nor its texts, and can't tell a note of another run"
        ]
    lines = [f"of the run that began on {held.day}, and of no other"]
    if checked:
        lines.append("the text is the one that this run wrote")
    elif note is not None:
        lines.append("a note of another run may have this id; --text FILE, with the note as you have it, tells")
    return lines


def _day(held: Opened) -> str | None:
    return None if held.day is None else str(held.day)


def _lines(remembered: Remembered) -> list[str]:
    spans = (
        f"  {one.start}-{one.end}  {one.category:10}  {' '.join(one.written.split())}  was  {' '.join(one.original.split())}"
        for one in remembered.replaced
    )
    # Words of a note may be commands of the terminal.
    return [escape_unprintable(line) for line in (remembered.note, *spans)]


def _as_json(remembered: Remembered, held: Opened) -> dict[str, object]:
    return {
        "note": remembered.note,
        "day": _day(held),
        "sha256": remembered.digest,
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
