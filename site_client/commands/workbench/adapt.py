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
from site_client.errors import AdaptationError, ApprovalError

if TYPE_CHECKING:
    from site_client.workspace import Workspace


def _digest(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """As `adapt` shows it; a mistyped one, or the next option in its place, says nothing about what waits."""
    from site_client.own_head.decided import is_shown_digest

    if given is not None and not is_shown_digest(given):
        raise click.BadParameter("expected a digest of 16 digits or more from 0 to f, as `site-client adapt` shows it.")
    return given


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client adapt corrected.jsonl",
        "site-client adapt --use 5f1c09e7a3b2d846 --approver 'A. Weiss'",
        "site-client adapt --undo --approver 'A. Weiss'",
    ),
)
@click.argument("notes", type=existing_path, required=False)
@click.option(
    "--use",
    metavar="HEX",
    callback=_digest,
    help="Take the head that was adapted last into use; its digest, as shown with its gain, says which one you have seen.",
)
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
    use: str | None,
    undo: bool,
    approver: str | None,
    patients: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Adapt the head of the release to your own corrected notes; what that gains is shown before anybody uses it.

    Nothing leaves. At least 10 notes with PHI, whose labels are complete, as `review --export` writes them; without NOTES it says which head is in use, and what one that waits gains.
    """
    from site_client import workspace

    if (notes is not None) + (use is not None) + undo > 1:
        raise ConfigurationError("expected notes, --use or --undo, got several; give one of them")
    if approver is not None and not (use is not None or undo):
        raise ConfigurationError(
            "--approver: expected --use or --undo beside it, got none; decide once the gain is shown"
        )
    if notes is None and (patients, reading["labels"], reading["quarantine"]) != (None, None, None):
        raise ConfigurationError(
            "--patients, --labels, --quarantine: expected notes beside them, got none; give the notes, or leave them out"
        )
    opened = workspace.open_workspace(root)
    if notes is not None:
        _make(opened, notes, patients, NotesOptions.of(reading), seed, as_json=as_json)
    elif use is not None or undo:
        _decide(opened, approver, use, as_json=as_json)
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
        made, release, head = adapt_to(
            opened, every, whose, AdaptingConfig(seed=seed), lambda words: warn_of_language(every, words), bar
        )
    result = {
        "release": release,
        "head": head or None,
        "gain": made.gain.as_json(),
        "kept_by_the_release": sorted(made.kept),
        "steps": made.steps,
        "points": None if made.points is None else [asdict(one) for one in made.points.points],
        "quarantined": read.quarantined,
    }
    report(result, [*read.lines(), *adapted_lines(made, release, head)], as_json=as_json)


def _decide(opened: Workspace, approver: str | None, use: str | None, *, as_json: bool) -> None:
    from site_client.adapting.lines import used_lines
    from site_client.own_head.decided import give_up, use_waiting

    if not approver:
        raise ApprovalError(
            f"{'--undo' if use is None else '--use'}: expected --approver NAME beside it, got none; give the name"
        )
    if use is None:
        give_up(opened, approver)
        report({"adapted": False}, ["the head of the release is in use"], as_json=as_json)
        return
    own = use_waiting(opened, approver, use)
    report({"adapted": True, "head": own.digest, "gain": dict(own.gain)}, used_lines(own), as_json=as_json)


def _show(opened: Workspace, *, as_json: bool) -> None:
    from site_client.own_head.decided import read_decided
    from site_client.own_head.in_use import in_use

    used, decided = in_use(opened, opened.pipeline_release()), read_decided(opened)
    waits = decided.waiting if decided.waiting != decided.in_use else ""
    gain, shown = _waiting(opened, waits) if waits else (None, [])
    result = used.as_json() | {"waiting": bool(waits), "head": waits or None, "gain": gain}
    report(result, [*(used.lines() or [f"the head of release {used.release} is in use"]), *shown], as_json=as_json)


def _waiting(opened: Workspace, digest: str) -> tuple[dict[str, Any] | None, list[str]]:
    """What a head that waits gains; one whose files have changed is in nobody's way."""
    from site_client.adapting.lines import waiting_lines
    from site_client.own_head.record import read_own_head

    try:
        own = read_own_head(opened, digest)
    except AdaptationError:
        return None, ["an adapted head waits whose files are missing or have changed: it can't be used; adapt again"]
    return dict(own.gain), ["an adapted head waits:", *waiting_lines(own)]
