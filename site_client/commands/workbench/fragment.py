"""`site-client fragment` and `approve-fragments`: shuffled phrases instead of whole text, and who lets them leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Computation, examples, json_option, report
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from foundation.printable import as_typed
from site_client.commands.keys import warn_of_expiry
from site_client.commands.options import LEAST_NOTES, existing_file, existing_folder, existing_path, folder_option

if TYPE_CHECKING:
    from site_client.fragments.fragment import Made

TEXTBLOB, STANZA = "textblob", "stanza"


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client fragment notes/ --out phrases.fragments",
        "site-client fragment notes.jsonl --patients whose.csv --leave-out ours.txt --out phrases.fragments",
        "site-client fragment notes/ --parser stanza --stanza-model stanza_resources/ --out phrases.fragments",
    ),
)
@click.argument("notes", type=existing_path)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The draft; another draft is replaced.",
)
@click.option(
    "--least-notes",
    type=click.IntRange(LEAST_NOTES),
    default=LEAST_NOTES,
    show_default=True,
    help="Patients, or notes, that a phrase must stand in.",
)
@click.option(
    "--patients",
    type=existing_file,
    help="A CSV table with the columns note and patient: notes of one patient count once.",
)
@click.option("--leave-out", type=existing_file, help="Words, and phrases of at most 4, that stay here, one a line.")
@click.option(
    "--parser",
    type=click.Choice([TEXTBLOB, STANZA]),
    default=TEXTBLOB,
    show_default=True,
    help="What finds phrases; stanza is slower, and needs the extra [stanza] and a model of yours.",
)
@click.option(
    "--stanza-model",
    type=existing_folder,
    help="The folder of an English model of Stanza with a constituency parser; nothing is fetched.",
)
@folder_option
@json_option
@notes_options
def fragment(
    notes: Path,
    out: Path,
    least_notes: int,
    patients: Path | None,
    leave_out: Path | None,
    parser: str,
    stanza_model: Path | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """Cut notes into short phrases that many of them have, shuffled. A draft of text, which the usual policy forbids."""
    if (parser == STANZA) != (stanza_model is not None):
        raise click.UsageError(
            f"expected --parser {STANZA} and --stanza-model together, got one of them; give both or neither"
        )
    from command_line.notes import Notes
    from site_client import workspace
    from site_client.fragments.fragment import Choice, make_fragments
    from site_client.fragments.words import LeftOut, read_left_out
    from site_client.patients import read_patients

    opened = workspace.open_workspace(root)
    warn_of_expiry(opened)
    choice = Choice(
        least_notes,
        None if patients is None else read_patients(patients),
        LeftOut() if leave_out is None else read_left_out(leave_out),
        stanza_model,
    )
    read = Notes(notes, NotesOptions.of(reading).apart_from(notes=notes, out=out))
    with progress_bar(quiet=as_json) as bar:
        made = make_fragments(opened, read, out, choice, bar)
    lines = [*read.lines(), *_lines(made, out, by_patient=patients is not None)]
    result = {
        "fragments": str(out),
        "quarantined": read.quarantined,
        **vars(made.tally),
        "manifest": made.manifest.to_json(),
    }
    report(result, lines, as_json=as_json)


@click.command(
    "approve-fragments",
    epilog=examples(
        'site-client approve-fragments phrases.fragments --approver "Dr M. Ünal" --digest 5f1c09e7a3b2d846'
    ),
)
@click.argument("file", type=existing_file)
@click.option(
    "--approver", required=True, metavar="NAME", help="Who approves that this text leaves; recorded and signed."
)
@click.option("--digest", required=True, metavar="HEX", help="Which draft that person has read, as `inspect` shows it.")
@folder_option
@json_option
def approve_fragments(file: Path, approver: str, digest: str, root: Path, as_json: bool) -> None:
    """Sign the draft of fragments that was read, by name. From then on it counts as gone."""
    from site_client import workspace
    from site_client.fragments.approving import approve_fragments as approve

    opened = workspace.open_workspace(root)
    warn_of_expiry(opened)
    done = approve(opened, file, approver, digest)
    said = (
        f"fragments {done.manifest.number} had been approved before"
        if done.before
        else f"fragments {done.manifest.number} are approved, and {file} is signed"
    )
    lines = [
        f"{said}: text of {done.manifest.lines} lines may leave, by a way of your own",
        "what has left as text can't be taken back; none of these phrases, and nothing of these notes, leaves as fragments again",
    ]
    report({"approved": done.manifest.to_json(), "before": done.before}, lines, as_json=as_json)


def show_fragments(
    root: Path, file: Path, notes: Path | None, page: Path | None, options: NotesOptions, *, as_json: bool
) -> None:
    """`site-client inspect` for a file of fragments.

    Args:
        root: the workspace.
        file: the fragments.
        notes: that they were made from; None to count nothing.
        page: where to write them as a page; None for none.
        options: how to read the notes.
        as_json: whether the result is for programs.
    """
    from command_line.notes import Notes
    from site_client import workspace
    from site_client.fragments.inspecting import inspect_fragments, write_fragments_page

    opened = workspace.open_workspace(root)
    read = None if notes is None else Notes(notes, options)
    found = inspect_fragments(opened, file, read)
    lines = [*([] if read is None else read.lines()), *(found.lines() if page is None else found.summary())]
    if page is not None:
        lines.append(f"page: {write_fragments_page(found, page)}")
    report(found.as_json(), lines, as_json=as_json)


def _lines(made: Made, out: Path, *, by_patient: bool) -> list[str]:
    from site_client.fragments.sifting import name_files

    tally, manifest, typed = made.tally, made.manifest, as_typed(out)
    left = {
        f"{tally.gone} of which fragments have left before": tally.gone,
        f"{tally.returned} of patients of whom fragments have left before, who do not count as new": tally.returned,
        f"{tally.foreign} in another language": tally.foreign,
    }
    out_lines = [one for one, count in left.items() if count]
    unnamed = by_patient and made.unnamed
    counted = "patients" if by_patient else "notes that are no copies (--patients counts patients)"
    earlier = [f"{tally.earlier} phrases have left before and do not leave again"] if tally.earlier else []
    return [
        f"draft {manifest.number}: {manifest.lines} lines of text in {out}, of {tally.phrases} phrases that at least {manifest.least_notes} of "
        f"{tally.owners} {counted} have",
        *([f"left out: {'; '.join(out_lines)} (notes)"] if out_lines else []),
        *(
            [f"NOBODY KNOWS whose notes {name_files(made.unnamed)} held, cut without --patients: they may count as new"]
            if unnamed
            else []
        ),
        *earlier,
        *([f"{tally.left_out} phrases hold a line of --leave-out and stay here"] if tally.left_out else []),
        *([f"NO phrase that would leave holds --leave-out line {_numbers(tally.idle)}"] if tally.idle else []),
        f"it is TEXT: read all of it with `site-client inspect {typed}`; nothing leaves before `site-client approve-fragments {typed} --approver NAME --digest HEX`, "
        "with the digest that it shows",
    ]


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
