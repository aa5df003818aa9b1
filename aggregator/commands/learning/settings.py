"""`aggregator search-settings`: which settings of a transformer are best, before the head is trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregator.commands.options import existing_folder, existing_path, folder_option
from command_line.commands import Computation, examples, json_option, report, seed_option
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar

if TYPE_CHECKING:
    from aggregator.training.judging.settings_search import Found

_KEPT = "settings-search.jsonl"


@click.command(
    "search-settings",
    cls=Computation,
    epilog=examples("aggregator search-settings public-notes/ --checkpoint ../camembert --trials 20"),
)
@click.argument("source", metavar="NOTES", type=existing_path)
@click.option(
    "--checkpoint",
    required=True,
    type=existing_folder,
    help="Folder with config.json, tokenizer.json and model.safetensors of a pretrained network.",
)
@click.option("--trials", default=20, show_default=True, type=click.IntRange(1, 1000), help="Settings that are tried.")
@click.option(
    "--most-epochs", default=30, show_default=True, type=click.IntRange(1, 1000), help="Passes of a trial, at most."
)
@click.option(
    "--crf/--no-crf", default=False, show_default=True, help="Whether the tags of a sentence are scored together."
)
@click.option(
    "--kept",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"File that keeps the search; one that was cut goes on by it (default: {_KEPT} in the workspace).",
)
@folder_option
@seed_option("the search")
@json_option
@notes_options
def search_settings(
    source: Path,
    checkpoint: Path,
    trials: int,
    most_epochs: int,
    crf: bool,
    kept: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Search how a transformer is best fine-tuned, on your own labelled notes: epochs, sentences a step, and pieces of a window.

    A fifth of the notes judges and is not learnt from. One that was cut goes on with the same command. It trains once for every trial.
    """
    from aggregator import workspace
    from aggregator.training.judging.settings_search import Search, search
    from aggregator.training.kinds import TaggerOptions
    from command_line.notes import Notes

    target = workspace.open_workspace(root)
    notes = Notes(source, NotesOptions.of(reading), target.scheme, labelled=True)
    asked = Search(TaggerOptions("transformer", checkpoint=checkpoint, crf=crf), trials, most_epochs, seed)
    with progress_bar(quiet=as_json) as bar:
        found = search(asked, list(notes), target.scheme, kept or target.root / _KEPT, bar)
    lines = [*notes.lines(), *_lines(found), _next(found, checkpoint, crf=crf)]
    report(_as_json(found), lines, as_json=as_json)


def _lines(found: Found) -> list[str]:
    learnt, judging = found.notes
    lines = [f"learnt from {learnt} notes, judged by {judging} others; strict F1 of the tagger alone:"]
    for number, one in enumerate(found.tried, 1):
        tried = one.settings
        best = "  best" if one is found.best and one.score else "  given up on the way" if one.given_up else ""
        lines.append(
            f"  trial {number:3}: {tried.epochs:2} epochs, {tried.batch} sentences a step, {tried.window} pieces: {one.score:.4f}{best}"
        )
    return lines


def _next(found: Found, checkpoint: Path, *, crf: bool) -> str:
    if not found.best.score:
        # The first of equals would be taken for the best.
        return "no trial found a whole span, so that none is better than another: give more notes or --most-epochs, or another checkpoint"
    best = found.best.settings
    return (
        f"next: aggregator train-head --tagger transformer --checkpoint {checkpoint} --epochs {best.epochs} --batch {best.batch} "
        # As the trials did, which read all sentences in every pass.
        f"--window {best.window} --undersampling 0" + (" --crf" if crf else "")
    )


def _as_json(found: Found) -> dict[str, object]:
    from dataclasses import asdict

    return {"trials": [asdict(one) for one in found.tried], "best": asdict(found.best), "notes": list(found.notes)}
