"""`site-client evaluate`: the pipeline against the hospital's own labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from command_line.commands import Computation, examples, json_option, report, seed_option
from command_line.notes_options import NotesOptions, notes_options
from site_client.commands.options import existing_path, folder_option, min_recall_option


@click.command(cls=Computation, epilog=examples("site-client evaluate labelled-notes/"))
@click.argument("notes", type=existing_path)
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
    root: Path,
    everything: bool,
    min_recall: float | None,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Hold the pipeline against your own labelled notes."""
    import numpy as np

    from command_line.notes import Notes, warn_of_language
    from shared.document import Document
    from shared.evaluation import HEADLINES, as_table, count_sentences, evaluate_all, match_corpora
    from shared.evaluation import as_json as evaluation_json
    from shared.labels import load_scheme_file
    from shared.pipeline.pipeline import load_pipeline
    from site_client import workspace

    opened = workspace.open_workspace(root)
    folder = opened.pipeline_release().folder
    read = Notes(notes, NotesOptions.of(reading), load_scheme_file(folder), labelled=True)
    gold = list(read.to_evaluate())
    unlabelled = (Document(document.identifier, document.text) for document in gold)
    pipeline = load_pipeline(folder)
    pipeline = pipeline if min_recall is None else pipeline.at(min_recall)
    warn_of_language(gold, pipeline.encoder.vectors.words)
    pairs = match_corpora(gold, pipeline.annotate(unlabelled))
    result = evaluate_all(pairs, rng=np.random.default_rng(seed), sentences=count_sentences)
    values = {**evaluation_json(result), "quarantined": read.quarantined}
    report(values, [*read.lines(), as_table(result, blocks=None if everything else HEADLINES)], as_json=as_json)
