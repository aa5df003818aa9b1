"""`site-client evaluate`: the pipeline against the hospital's own labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from command_line.written_file import page_file
from site_client.commands.options import existing_file, existing_path, folder_option, min_recall_option


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client evaluate labelled-notes/",
        "site-client evaluate labelled-notes/ --page acceptance.html",
        "site-client evaluate labelled.jsonl --patients whose.csv --min-recall 0.95 --json",
        "site-client evaluate labelled-notes/ --check",
    ),
)
@click.argument("notes", type=existing_path)
@click.option(
    "--page",
    type=page_file,
    help="Also write a page for a privacy officer; it holds the worst misses, which are PHI, and is for you alone.",
)
@click.option(
    "--patients",
    type=existing_file,
    help="A CSV table with the columns note and patient: notes of one patient count as one in the intervals.",
)
@click.option("--check", is_flag=True, help="End with code 37 unless the promise is shown to hold.")
@folder_option
@click.option(
    "--all", "everything", is_flag=True, help="Show every block of the official evaluations, not only the usual ones."
)
@min_recall_option
@seed_option("the bootstrap")
@json_option
@notes_options
def evaluate(
    notes: Path,
    page: Path | None,
    patients: Path | None,
    check: bool,
    root: Path,
    everything: bool,
    min_recall: float | None,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Hold the pipeline against your own labelled notes: what it hides, and whether that is what was promised."""
    import numpy as np

    from command_line.notes import Notes, warn_of_language
    from shared.evaluation import HEADLINES, blocks_as_table, count_sentences, evaluate_all, match_corpora
    from shared.evaluation import as_json as evaluation_json
    from shared.labels import load_scheme_file, without_unmapped
    from site_client import workspace
    from site_client.evaluating.acceptance import Asked, accept
    from site_client.evaluating.lines import report_lines
    from site_client.evaluating.page import write_page
    from site_client.evaluating.promise import require_kept
    from site_client.patients import count_unnamed, read_patients

    opened = workspace.open_workspace(root)
    scheme = load_scheme_file(opened.pipeline_release().folder)
    whose = {} if patients is None else read_patients(patients)
    read = Notes(
        notes, NotesOptions.of(reading).apart_from(notes=notes, page=page), scheme, to_hide=True, labelled=True
    )
    every = list(read.to_evaluate())
    # Pairs with themselves: none, or one that comes twice, is told before anything is read.
    gold = [note for note, _ in match_corpora(every, every)]
    if patients is not None and (unnamed := count_unnamed(patients, whose, gold)):
        warn(f"{unnamed} notes are of no patient that --patients names: each stands for itself")
    with progress_bar(quiet=as_json) as bar:
        bar.begin("loading the pipeline")
        asked = Asked(min_recall, whose, lambda words: warn_of_language(gold, words), bar)
        found, hidden = accept(opened, gold, asked)
    # Notes that have left are left out, of both sides.
    judged = {document.identifier for document in hidden}
    pairs = match_corpora([without_unmapped(note) for note in gold if note.identifier in judged], hidden)
    result = evaluate_all(pairs, rng=np.random.default_rng(seed), sentences=count_sentences)
    lines = [
        *read.lines(),
        blocks_as_table(result, blocks=None if everything else HEADLINES),
        "",
        *report_lines(found, words=sys.stdout.isatty()),
    ]
    values = {**evaluation_json(result), "acceptance": found.as_json(), "quarantined": read.quarantined}
    if page is not None:
        values["page"] = str(write_page(found, page))
        lines.append(f"page: {page}" + ("; it holds PHI and stays in this house" if found.misses else ""))
    report(values, lines, as_json=as_json)
    if check:
        require_kept(found.promise)
