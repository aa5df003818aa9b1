"""`site-client adapt`: the head of the release, adapted in-house to corrected notes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from shared.errors import ConfigurationError
from site_client.commands.options import existing_file, existing_path, folder_option
from site_client.errors import ApprovalError

if TYPE_CHECKING:
    from site_client.workspace import Workspace


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client adapt corrected.jsonl",
        "site-client adapt --use --approver 'A. Weiss'",
        "site-client adapt --undo --approver 'A. Weiss'",
    ),
)
@click.argument("notes", type=existing_path, required=False)
@click.option("--use", is_flag=True, help="Take the head that was adapted last into use.")
@click.option("--undo", is_flag=True, help="Go back to the head of the release.")
@click.option("--approver", metavar="NAME", help="Who decides, for --use and --undo; recorded and signed.")
@click.option(
    "--patients",
    type=existing_file,
    help="A CSV table with the columns note and patient: notes of one patient count as one, and are never parted.",
)
@folder_option
@seed_option("the training")
@json_option
@notes_options
def adapt(
    notes: Path | None,
    use: bool,
    undo: bool,
    approver: str | None,
    patients: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Adapt the head of the release to your own corrected notes; what that gains is shown before anybody uses it.

    Nothing leaves. At least 10 notes with PHI, whose labels are complete, as `review --export` writes them; without NOTES it says which head is in use.
    """
    from site_client import workspace

    if (notes is not None) + use + undo > 1:
        raise ConfigurationError("expected notes, --use or --undo, got several; give one of them")
    if approver is not None and not (use or undo):
        raise ConfigurationError(
            "--approver: expected --use or --undo beside it, got none; decide once the gain is shown"
        )
    opened = workspace.open_workspace(root)
    if notes is not None:
        _make(opened, notes, patients, NotesOptions.of(reading), seed, as_json=as_json)
    elif use or undo:
        _decide(opened, approver, use=use, as_json=as_json)
    else:
        _show(opened, as_json=as_json)


def _make(
    opened: Workspace, notes: Path, patients: Path | None, options: NotesOptions, seed: int, *, as_json: bool
) -> None:
    from dataclasses import asdict

    from command_line.notes import Notes, warn_of_language
    from shared.labels import load_scheme_file
    from shared.training.fine_tuning.adapting import AdaptingConfig
    from site_client.adapting.keeping import adapt as adapt_to
    from site_client.adapting.lines import adapted_lines
    from site_client.patients import count_unnamed, read_patients

    scheme = load_scheme_file(opened.pipeline_release().folder)
    whose = {} if patients is None else read_patients(patients)
    read = Notes(notes, options, scheme, to_hide=True, labelled=True)
    every = list(read)
    if patients is not None and (unnamed := count_unnamed(patients, whose, every)):
        warn(f"{unnamed} notes are of no patient that --patients names: each stands for itself")
    with progress_bar(quiet=as_json) as bar:
        bar.begin("loading the pipeline")
        made, release = adapt_to(
            opened, every, whose, AdaptingConfig(seed=seed), lambda words: warn_of_language(every, words), bar
        )
    result = {
        "release": release,
        "gain": made.gain.as_json(),
        "kept_by_the_release": sorted(made.kept),
        "steps": made.steps,
        "points": None if made.points is None else [asdict(one) for one in made.points.points],
        "quarantined": read.quarantined,
    }
    report(result, [*read.lines(), *adapted_lines(made, release)], as_json=as_json)


def _decide(opened: Workspace, approver: str | None, *, use: bool, as_json: bool) -> None:
    from site_client.own_head.decided import give_up, use_waiting

    if not approver:
        raise ApprovalError(
            f"{'--use' if use else '--undo'}: expected --approver NAME beside it, got none; give the name"
        )
    if use:
        own = use_waiting(opened, approver)
        line = f"the head that was adapted from release {own.sequence} is in use; `site-client adapt --undo --approver NAME` goes back"
    else:
        give_up(opened, approver)
        line = "the head of the release is in use"
    report({"adapted": use}, [line], as_json=as_json)


def _show(opened: Workspace, *, as_json: bool) -> None:
    from site_client.own_head.decided import read_decided
    from site_client.own_head.in_use import in_use

    used, decided = in_use(opened, opened.pipeline_release()), read_decided(opened)
    waits = bool(decided.waiting) and decided.waiting != decided.in_use
    lines = used.lines() or [f"the head of release {used.release} is in use"]
    lines += ["an adapted head waits; --use takes it into use"] if waits else []
    report(used.as_json() | {"waiting": waits}, lines, as_json=as_json)
