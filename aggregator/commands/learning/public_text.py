"""`aggregator train-embeddings` and `train-lm`: what is learned from public text alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from aggregator.commands.options import existing_path, folder_option, resume_option
from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from command_line.written_file import WrittenFile

# As `shared.embeddings.files.fasttext_format` begins it.
bin_file = WrittenFile("word vectors of fastText", (793712314).to_bytes(4, "little"))


@click.command(
    "train-embeddings",
    cls=Computation,
    epilog=examples("aggregator train-embeddings public-notes/ --dim 100 --epochs 8"),
)
@click.argument("sources", metavar="TEXTS...", nargs=-1, required=True, type=existing_path)
@click.option("--dim", default=100, show_default=True, type=click.IntRange(2, 1024), help="Numbers in a vector.")
@click.option("--epochs", default=8, show_default=True, type=click.IntRange(1), help="Passes over the texts.")
@click.option(
    "--min-count", default=2, show_default=True, type=click.IntRange(1), help="Rarer words get n-gram vectors only."
)
@click.option("--bin", "binary", type=bin_file, help="Also write a fastText .bin.")
@resume_option
@folder_option
@seed_option("the training")
@json_option
@notes_options
def train_embeddings(
    sources: tuple[Path, ...],
    dim: int,
    epochs: int,
    min_count: int,
    binary: Path | None,
    resume: bool,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Train fastText word vectors on public texts: every word of them may be read off the result."""
    from aggregator import workspace
    from aggregator.training.embeddings import train
    from command_line.notes import Notes, texts
    from shared.embeddings.files.fasttext_format import save_bin
    from shared.embeddings.training import FastTextSettings

    target = workspace.open_workspace(root)
    notes = [Notes(source, NotesOptions.of(reading)) for source in sources]
    settings = FastTextSettings(dim=dim, epochs=epochs, min_count=min_count)
    with progress_bar(quiet=as_json) as bar:
        vectors = train(target, texts(notes), settings, seed, bar.watch, resume=resume, tell=warn)
    if binary is not None:
        save_bin(vectors, binary)
    lines = [line for corpus in notes for line in corpus.lines()]
    lines.append(f"{len(vectors)} words of {vectors.dim} dimensions in {target.embeddings}")
    report({"words": len(vectors), "dim": vectors.dim, "digest": vectors.digest}, lines, as_json=as_json)


@click.command(
    "train-lm",
    cls=Computation,
    epilog=examples("aggregator train-lm public-notes/ --units 128 --epochs 3"),
)
@click.argument("sources", metavar="TEXTS...", nargs=-1, required=True, type=existing_path)
@click.option(
    "--units",
    default=128,
    show_default=True,
    type=click.IntRange(1, 1024),
    help="Size of a word, and of each direction.",
)
@click.option("--epochs", default=3, show_default=True, type=click.IntRange(1), help="Passes over the texts.")
@click.option(
    "--outputs",
    default=8000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Commonest words that it predicts by themselves; all rarer ones are one.",
)
@resume_option
@folder_option
@seed_option("the training")
@json_option
@notes_options
def train_language_model(
    sources: tuple[Path, ...],
    units: int,
    epochs: int,
    outputs: int,
    resume: bool,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Train a language model on public texts, for heads of Khin et al. 2018: rare words of them may be read off its weights."""
    from aggregator import workspace
    from aggregator.training.language import train
    from command_line.notes import Notes, texts
    from shared.training.language import LanguageSettings

    target = workspace.open_workspace(root)
    notes = [Notes(source, NotesOptions.of(reading)) for source in sources]
    settings = LanguageSettings(units=units, epochs=epochs, outputs=outputs)
    with progress_bar(quiet=as_json) as bar:
        trained = train(target, texts(notes), settings, seed, bar.watch, resume=resume, tell=warn)
    lines = [line for corpus in notes for line in corpus.lines()]
    lines.append(f"learned from {trained.tokens} tokens, {trained.words} different words; in {target.language_model}")
    if trained.perplexity is not None:
        lines.append(
            f"perplexity of a held-out word {trained.perplexity:.0f}; by how common each word is {trained.by_frequency:.0f}"
        )
    report(trained.as_json(), lines, as_json=as_json)
