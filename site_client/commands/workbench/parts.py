"""`--part` of `site-client deid`, and `site-client deid-merge`: notes that several programs de-identify between them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Computation, examples, json_option, report
from command_line.progress import progress_bar
from foundation.reading import file_sha256
from shared.corpus.parts import Part
from shared.errors import ConfigurationError
from shared.labels import scheme_names

if TYPE_CHECKING:
    from command_line.notes import Notes
    from site_client.deid.deidentify import Deidentified


def _parse(context: click.Context, parameter: click.Parameter, value: str | None) -> Part | None:
    try:
        return None if value is None else Part.parse(value)
    except ConfigurationError as error:
        raise click.BadParameter(str(error)) from error


part_option = click.option(
    "--part",
    metavar="I/N",
    callback=_parse,
    help="Only every N-th note, from the I-th on, so that N runs read each note once between them, on one machine or on many; "
    "`site-client deid-merge` lays them together.",
)


def write_part(
    out: Path, part: Part, run: Mapping[str, str], read: Notes, done: Deidentified, given: Mapping[str, Any]
) -> None:
    """Let a part say what it is, once its notes are written.

    Args:
        out: its folder.
        part: which one.
        run: what all parts have in common, but for the notes.
        read: the notes.
        done: what was written.
        given: the options by which they were read.

    Raises:
        StorageError: no room, no permission.
    """
    from site_client.deid.parts.receipt import PartReceipt, digest_files

    corpus, column = read.corpus, str(given["text_column"])
    listed = "".join(f"{size} {len(name)} {name}\n" for name, size in corpus.listing)
    notes = {
        "files": hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest(),
        "order of notes": corpus.order,
        "--format": corpus.format,
        "--text-column": column,
        "--encoding": str(given["encoding"]),
        "--labels": _told(given["labels"]),
    }
    rewritten = corpus.format if done.rewritten else ""
    files, digest = digest_files(out)
    counts = (corpus.seen, done.documents, corpus.set_aside, done.spans)
    PartReceipt(part.number, part.of, {**run, **notes}, *counts, rewritten, column, files, digest).write(out)


def _told(labels: str | None) -> str:
    """Which labels the notes have: a scheme by its name, a file by its digest."""
    if labels is None or labels in scheme_names():
        return labels or ""
    return file_sha256(Path(labels))


@click.command(
    "deid-merge", cls=Computation, epilog=examples("site-client deid-merge safe-1/ safe-2/ safe-3/ --out safe/")
)
@click.argument(
    "parts",
    metavar="PART...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path, file_okay=False),
)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="A new folder.")
@json_option
def merge(parts: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Lay together what `site-client deid NOTES --part I/N` has written; nothing missing, nothing twice, or nothing at all."""
    from site_client.deid.parts.merging import merge_parts

    with progress_bar(quiet=as_json) as bar:
        done = merge_parts(parts, out, bar)
    lines = [
        f"{done.parts} parts, {done.documents} documents in {out}, {sum(done.spans.values())} spans: "
        + (", ".join(f"{name} {count}" for name, count in sorted(done.spans.items())) or "none"),
        *([f"{done.set_aside} notes are in the quarantines of the parts, and not here"] if done.set_aside else []),
    ]
    result = {
        "parts": done.parts,
        "documents": done.documents,
        "set_aside": done.set_aside,
        "spans": dict(done.spans),
    }
    report(result, lines, as_json=as_json)
