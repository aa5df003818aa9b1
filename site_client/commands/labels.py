"""`site-client labels`, `lists` and `check`: what is labelled in the hospital's own notes, and what may be PHI and is not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from command_line.commands import Computation, examples, json_option, report
from command_line.notes_options import ENCODINGS, NotesOptions, notes_options
from command_line.written_file import NewFile, WrittenFile
from foundation.printable import as_typed
from foundation.reading import real_path
from shared.errors import ConfigurationError
from site_client.commands.options import LISTS, existing_file, existing_path, folder_option, lists_option

_file = click.Path(path_type=Path, dir_okay=False)
# As `site_client.checking.listing` writes it.
_list_file = WrittenFile("a list of this command", b'{\n "format": 1,\n "suspicions": [')


@click.command(
    epilog=examples("site-client labels labelled-notes/", "site-client labels labelled-notes/ --out our-labels.toml")
)
@click.argument("notes", type=existing_path)
@click.option("--out", type=_file, help="Also write them as a file for --labels, to complete.")
@folder_option
@json_option
@notes_options
def labels(notes: Path, out: Path | None, root: Path, as_json: bool, **reading: Any) -> None:
    """List the labels of notes, and what each is called in the release."""
    from command_line.notes import Notes
    from foundation.files import write_text
    from shared.labels import load_scheme_file
    from site_client import workspace
    from site_client.checking.label_map import find_labels, label_map

    if out is not None and out.exists():
        raise ConfigurationError(
            f"{out}: expected a new file, found one, which somebody may have completed; name another"
        )
    options = NotesOptions.of(reading).apart_from(notes=notes, out=out)
    if options.labels is not None:
        raise ConfigurationError(
            "--labels: expected none, for labels are listed as the notes have them, got a map; leave it out, and give the map to `check`, which names "
            "every label that it lacks"
        )
    scheme = load_scheme_file(workspace.open_workspace(root).release().folder)
    read = Notes(notes, options)
    found = find_labels(read.to_evaluate(), scheme)
    open_ones = [one.name for one in found if one.category is None]
    lines = [
        *read.lines(),
        *(f"{one.count:7} {one.name} -> {_called(one.category)}" for one in found),
        f"{len(found)} labels, {len(open_ones)} of which nobody knows: "
        + ("map them by a file for --labels" if open_ones else "none is left to map"),
    ]
    if out is not None:
        # People write names into that field, too.
        write_text(out, label_map(found, scheme))
        lines.append(
            f"{out}: complete it, then give it to `encode`, `check`, `inspect` and `evaluate` by --labels {as_typed(out)}"
        )
    rows = [{"label": one.name, "count": one.count, "category": one.category} for one in found]
    report({"labels": rows, "unknown": open_ones, "quarantined": read.quarantined}, lines, as_json=as_json)


def _called(category: str | None) -> str:
    return "?" if category is None else category or "hidden; the release has no label for it"


@click.command(
    epilog=examples(
        "site-client lists --people first-names.csv --people surnames.csv --places towns.txt --streets streets.csv",
        "site-client lists --streets strassen.csv --column name_lang --encoding windows-1252",
        "site-client lists",
        "site-client lists --remove streets",
    )
)
@click.option("--people", type=existing_file, multiple=True, help="Given names, surnames; repeat it for several files.")
@click.option("--places", type=existing_file, multiple=True, help="Towns, villages, regions.")
@click.option("--streets", type=existing_file, multiple=True, help="Streets, with what they are called or without.")
@click.option("--remove", type=click.Choice(LISTS), multiple=True, help="Take a list out.")
@click.option(
    "--column",
    help="Where the names stand in a table, by its first line (default: columns that are called what names are, else the first that has words).",
)
@click.option(
    "--encoding",
    type=click.Choice(ENCODINGS),
    default=ENCODINGS[0],
    show_default=True,
    help="What files are in that are no UTF-8.",
)
@folder_option
@json_option
def lists(
    people: tuple[Path, ...],
    places: tuple[Path, ...],
    streets: tuple[Path, ...],
    remove: tuple[str, ...],
    column: str | None,
    encoding: str,
    root: Path,
    as_json: bool,
) -> None:
    """Give the names of your country's people, places and streets, which `check`, `encode`, `review` and `federate` then look for, too; or show what was given.

    A file is a text with a name a line, or a table. It takes the place of what was given before of its kind.
    """
    from site_client import workspace
    from site_client.checking.given_lists import change_lists, given_names
    from site_client.checking.name_files import read_name_file

    files = {kind: paths for kind, paths in zip(LISTS, (people, places, streets), strict=True) if paths}
    if both := sorted(files.keys() & set(remove)):
        raise ConfigurationError(f"--remove: expected a list that is not given beside it, got {both[0]}; give one")
    if column is not None and not files:
        raise ConfigurationError(
            "--column: expected a file beside it, got none; give one by --people, --places or --streets"
        )
    if encoding != ENCODINGS[0] and not files:
        raise ConfigurationError(
            "--encoding: expected a file beside it, got none; give one by --people, --places or --streets"
        )
    opened = workspace.open_workspace(root)
    read = [(kind, path, read_name_file(path, kind, encoding, column)) for kind in files for path in files[kind]]
    if read or remove:
        names = {kind: [name for one, _, file in read if one == kind for name in file.names] for kind in files}
        before, now = change_lists(opened, names, remove)
    else:
        before = now = given_names(opened)
    lines = [
        f"{path.name}: {len(file.names)} names" + ("" if file.column is None else f" in its column {file.column}")
        for _, path, file in read
    ]
    lines += [
        f"{kind}: in the place of {before.counts()[kind]} names that were given before"
        for kind in files
        if before.counts()[kind]
    ]
    lines.append(_counted(now.counts()))
    lines.append(
        "looked for beside the lists that come with the program; no command sends them"
        if now
        else "no lists were given: names of Spain and the USA, which come with the program, are looked for alone"
    )
    report(
        {
            "lists": now.counts(),
            "files": [
                {"file": str(path), "kind": kind, "names": len(file.names), "column": file.column}
                for kind, path, file in read
            ],
        },
        lines,
        as_json=as_json,
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in counts.items())


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client check labelled-notes/",
        "site-client check labelled-notes/ --least 0.5 --out to-look-at.json",
        "site-client check labelled-notes/ --corrected with-suspicions.jsonl",
    ),
)
@click.argument("notes", type=existing_path)
@click.option("--least", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="List what is as probable.")
@click.option("--out", type=_list_file, help="Also write the list, with its words, into a JSON file for you alone.")
@click.option(
    "--corrected", type=NewFile(), help="Also write the notes, what is listed among their labels, as JSONL to correct."
)
@lists_option
@folder_option
@json_option
@notes_options
def check(
    notes: Path,
    least: float,
    out: Path | None,
    corrected: Path | None,
    config: Path | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """List what may be PHI in labelled notes and has no label, the surest first: found by the pipeline, patterns and lists of names."""
    from command_line.notes import Notes
    from shared.constructions.registry import load_construction
    from shared.labels import load_scheme_file
    from shared.pipeline.forgotten.checker import HIDE_ABOVE
    from site_client import workspace
    from site_client.checking.checker import make_checker
    from site_client.checking.listing import count_by_category, list_suspicions, write_corrected, write_suspicions
    from site_client.deid.choices.config import read_always_hidden

    if out is not None and corrected is not None and real_path(out) == real_path(corrected):
        raise ConfigurationError("--corrected: expected another file than --out, got the same; name another")
    opened = workspace.open_workspace(root)
    scheme = load_scheme_file(opened.release().folder)
    options = NotesOptions.of(reading).apart_from(notes=notes, out=out, corrected=corrected)
    read = Notes(notes, options, scheme, to_share=True)
    own = None if config is None else read_always_hidden(config, scheme)
    checker = make_checker(opened, scheme, own)
    for_a_share = list(checker.check(read))
    # A release that replaces no PHI shares these words like all others.
    hides = load_construction(opened.release().folder).replaces_phi
    above = sum(hides and one.certainty >= HIDE_ABOVE for note in for_a_share for one in note.suspicions)
    checked = list(checker.read_labelled(for_a_share))
    listed = list_suspicions(checked, least)
    words = sys.stdout.isatty()
    lines = [*read.lines(), *(one.line(words=words) for one in listed)]
    if listed and not words:
        lines.append("the words are shown on a terminal only; --out FILE writes them into a file for you alone")
    counts = ", ".join(f"{name} {count}" for name, count in count_by_category(listed).items()) or "none"
    lines.append(f"{len(listed)} stretches of text in {len(checked)} notes may be PHI that nobody labelled: {counts}")
    if any(checker.given.values()):
        lines.append(f"the hospital's own lists looked, too: {_counted(checker.given)}")
    if opened.pipeline is None:
        lines.append("looked for by patterns and lists of names alone: no pipeline runs here yet")
    if out is not None:
        write_suspicions(listed, out)
        lines.append(f"the list with its words: {out}; it stays in this house")
    if corrected is not None:
        added = write_corrected(checked, corrected, least)
        lines.append(
            f"the notes with {added} labels more: {corrected}; remove those that are wrong before you encode them"
        )
    lines.append(
        f"`encode` hides {above}: whatever is at least {HIDE_ABOVE:g} sure without a look at labelled words; it teaches nobody that they are none"
        if hides
        else "`encode` hides none: this release puts nothing in the place of PHI; correct the labels before you encode"
    )
    result = {
        "notes": len(checked),
        "suspicions": [one.as_json(words=False) for one in listed],
        "hidden_by_encode": above,
        "quarantined": read.quarantined,
        "pipeline": opened.pipeline is not None,
        "lists": dict(checker.given),
    }
    report(result, lines, as_json=as_json)
