"""The provider's command line: it parses, calls and prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from aggregator import audit as audits
from aggregator import commands_releases, commands_shares, commands_sites, train_head, train_repr, workspace
from aggregator import demo as demonstration
from aggregator.commands_registry import audit_log_group
from aggregator.commands_releases import offline_warning
from aggregator.commands_serve import serve
from command_line.commands import Program, examples, json_option, report, seed_option
from command_line.notes import Notes, NotesOptions, notes_options, texts
from command_line.progress import progress_bar
from shared.anonymity.names import default_names, read_names
from shared.embeddings.artefact import save_vectors
from shared.embeddings.fasttext_format import save_bin
from shared.embeddings.read import read_vectors
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.evaluation import HEADLINES, as_table, count_sentences, evaluate_all, match_corpora, sentence_files
from shared.evaluation import as_json as evaluation_json
from shared.files import new_folder
from shared.privacy.audit import PRESETS as audit_presets
from shared.privacy.policy import load_policy
from shared.training.tagging import TaggingConfig

folder_option = click.option(
    "--workspace", "root", type=click.Path(path_type=Path), default=Path("."), envvar="DEID_COMMONS_AGGREGATOR",
    help="Folder of the workspace (default: the current one).",
)  # fmt: skip
existing_path = click.Path(exists=True, path_type=Path)
policy_option = click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Limits of the audit, as .toml (default: ours).",
)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deid-commons")
def main() -> None:
    """The central provider: train a representer, take in shares, train the head, publish releases."""
    # Two threads that share a busy core run several times slower than one.
    torch.set_num_threads(1)


@main.command(epilog=examples("aggregator init provider --name north --scheme i2b2_2014"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", default="provider", show_default=True, help="Name of the provider, as releases state it.")
@click.option(
    "--scheme", default="i2b2_2014", show_default=True, help="Label scheme of the pool, or a .toml file with one."
)
@click.option(
    "--database",
    metavar="URL",
    help="PostgreSQL database of the registry, without a password (default: a file in the workspace).",
)
@click.option("--objects", metavar="URL", help="s3:// store of the shares (default: a folder in the workspace).")
@click.option(
    "--offline-keys",
    "offline",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the offline keys of the releases go, such as a stick; one folder, or one for each of three people (default: the workspace).",
)
@json_option
def init(
    folder: Path,
    name: str,
    scheme: str,
    database: str | None,
    objects: str | None,
    offline: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Make a workspace with fresh keys."""
    made = workspace.create(folder, name, scheme, database=database, objects=objects, offline=offline)
    key = made.repository(offline).fingerprint
    lines = [
        f"workspace {folder} made; label scheme {made.scheme.name}, {len(made.scheme.categories)} categories",
        f"fingerprint {key.key_id}",
        f"spoken      {key.spoken}",
        "tell one of the two to every site over a channel that both of you trust",
        *offline_warning(made),
    ]
    report({"workspace": str(folder), "fingerprint": key.key_id, "spoken": key.spoken}, lines, as_json=as_json)


@main.command("train-embeddings", epilog=examples("aggregator train-embeddings public-notes/ --dim 100 --epochs 8"))
@click.argument("sources", metavar="TEXTS...", nargs=-1, required=True, type=existing_path)
@click.option("--dim", default=100, show_default=True, type=click.IntRange(2, 1024), help="Numbers in a vector.")
@click.option("--epochs", default=8, show_default=True, type=click.IntRange(1), help="Passes over the texts.")
@click.option(
    "--min-count", default=2, show_default=True, type=click.IntRange(1), help="Rarer words get n-gram vectors only."
)
@click.option("--bin", "binary", type=click.Path(path_type=Path, dir_okay=False), help="Also write a fastText .bin.")
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
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Train fastText word vectors on public texts: every word of them may be read off the result."""
    target = workspace.open_workspace(root)
    notes = [Notes(source, _reading(reading)) for source in sources]
    settings = FastTextSettings(dim=dim, epochs=epochs, min_count=min_count)
    with progress_bar(quiet=as_json) as bar:
        vectors = train_fasttext(
            texts(notes), settings, seed=seed, progress=lambda done, total: bar("tokens", done, total)
        )
    with new_folder(target.embeddings) as folder:
        save_vectors(vectors, folder, dtype="float16")
    if binary is not None:
        save_bin(vectors, binary)
    lines = [line for corpus in notes for line in corpus.lines()]
    lines.append(f"{len(vectors)} words of {vectors.dim} dimensions in {target.embeddings}")
    report({"words": len(vectors), "dim": vectors.dim, "digest": vectors.digest}, lines, as_json=as_json)


@main.command(
    "train-repr",
    epilog=examples("aggregator train-repr --corpus public-notes/ --public-text leaflets/ --names surnames.csv"),
)
@click.option("--corpus", required=True, type=existing_path, help="Public notes with PHI labels.")
@click.option(
    "--embeddings",
    type=existing_path,
    help="fastText .bin or .vec, GloVe .txt (each also .gz); default: those of train-embeddings.",
)
@click.option(
    "--procedure",
    default="surrogates",
    show_default=True,
    type=click.Choice(train_repr.PROCEDURES),
    help="How PHI is protected; see docs/privacy.md for what each guarantees.",
)
@click.option(
    "--cluster-size",
    default=1000,
    show_default=True,
    type=click.IntRange(2),
    help="K: words that look alike, where a word is not public.",
)
@click.option(
    "--public-text",
    "public_texts",
    multiple=True,
    type=existing_path,
    help="Further public text, without labels: its common words are shown as they are.",
)
@click.option(
    "--names",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="List of names of one kind, one a line or the first column of a CSV file (default: those of Faker).",
)
@click.option(
    "--neighbours",
    default=100,
    show_default=True,
    type=click.IntRange(2),
    help="N of the paper, for training against adversaries: candidates for every PHI word, itself included.",
)
@click.option(
    "--dim",
    type=click.IntRange(2, 1024),
    help="d: size of the representation (default: 50 where it is learned, else that of the word vectors).",
)
@click.option(
    "--preset",
    default="standard",
    show_default=True,
    type=click.Choice(train_repr.PRESETS),
    help="How long it is trained, where it is.",
)
@click.option(
    "--audit",
    "audited",
    type=click.Choice(list(audit_presets)),
    help="Also attack it at once, as `aggregator audit` does.",
)
@policy_option
@folder_option
@seed_option("the training")
@json_option
@notes_options
def train_representer(
    corpus: Path,
    embeddings: Path | None,
    procedure: str,
    cluster_size: int,
    public_texts: tuple[Path, ...],
    names: tuple[Path, ...],
    neighbours: int,
    dim: int | None,
    preset: str,
    audited: str | None,
    policy: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Make the representer from public notes and freeze it; with --audit, ends with code 22 where the audit fails."""
    target = workspace.open_workspace(root)
    vectors = read_vectors(embeddings or workspace.require(target.embeddings, "aggregator train-embeddings"))
    notes = Notes(corpus, _reading(reading), target.scheme)
    further = [Notes(source, _reading(reading)) for source in public_texts]
    options = train_repr.RepresenterOptions(
        procedure, neighbours=neighbours, cluster_size=cluster_size, dim=dim, preset=preset, seed=seed
    )
    lists = tuple(map(read_names, names)) or default_names(target.scheme.name)
    material = train_repr.PublicMaterial(notes, vectors, texts(further), lists)
    limits = load_policy(policy)
    with progress_bar(quiet=as_json) as bar:
        summary = train_repr.train(target, material, options, bar)
        found = audits.audit(target, list(notes), vectors, limits, audited, seed, bar) if audited else None
    lines = [
        *notes.lines(),
        f"{summary['sentences']} sentences, {summary['tokens']} tokens, {summary['phi_tokens']} of them PHI",
        *_representer_lines(summary),
        f"representer in {target.representer}" + ("" if found else "; next: aggregator audit"),
    ]
    if found:
        lines += _audit_lines(target, found)
        summary["audit"] = found.as_json()
    report(summary, lines, as_json=as_json)
    if found:
        audits.require_passed(target)


def _representer_lines(summary: dict[str, Any]) -> list[str]:
    """What a construction shows, in words."""
    lines = []
    if "public_words" in summary:
        lines.append(
            f"{summary['public_words']} words are shown as they are; the others show one of {summary['clusters']} clusters "
            f"of at least {summary['smallest_cluster']} words"
        )
    if summary["surrogate_spans"]:
        lines.append(
            f"labelled PHI is replaced by one of {summary['surrogate_spans']} public spans before anything is computed from it"
        )
    if "noise" in summary:
        accuracy, noise = summary["record"]["adversary_accuracy"][-1], summary["noise"]["output"]
        if accuracy is not None:
            lines.append(
                f"adversaries in training decide {accuracy:.1%} of pairs right (50% is chance); "
                "that says nothing yet about an attacker who trains longer"
            )
        lines.append(f"output noise {min(noise):.4f} to {max(noise):.4f} on vectors in the unit ball")
    return lines


@main.command(epilog=examples("aggregator audit --corpus public-notes/ --preset full"))
@click.option("--corpus", required=True, type=existing_path, help="Public notes with PHI labels.")
@click.option(
    "--embeddings", type=existing_path, help="Word vectors of train-repr (default: those of train-embeddings)."
)
@click.option(
    "--preset", default="quick", show_default=True, type=click.Choice(list(audit_presets)), help="How hard it tries."
)
@policy_option
@folder_option
@seed_option("the attacks")
@json_option
@notes_options
def audit(
    corpus: Path,
    embeddings: Path | None,
    preset: str,
    policy: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Attack the frozen representer; ends with code 22 where it breaks a limit of the policy."""
    target = workspace.open_workspace(root)
    limits = load_policy(policy)
    vectors = read_vectors(embeddings or workspace.require(target.embeddings, "aggregator train-embeddings"))
    notes = Notes(corpus, _reading(reading), target.scheme)
    with progress_bar(quiet=as_json) as bar:
        result = audits.audit(target, list(notes), vectors, limits, preset, seed, bar)
    report(result.as_json(), [*notes.lines(), *_audit_lines(target, result)], as_json=as_json)
    audits.require_passed(target)


def _audit_lines(target: workspace.Workspace, result: audits.AuditResult) -> list[str]:
    return [*audits.summary_lines(result), f"page: {target.root / 'audit' / audits.PAGE}"]


@main.command("train-head", epilog=examples("aggregator train-head --epochs 20"))
@click.option("--epochs", default=20, show_default=True, type=click.IntRange(1), help="Passes over the pool.")
@click.option("--site", "only", multiple=True, help="Only this site's shares; may be given several times.")
@click.option(
    "--hold-out/--no-hold-out",
    default=True,
    show_default=True,
    help="Whether a tenth of every share is kept back to score the sites.",
)
@click.option(
    "--public/--no-public", default=True, show_default=True, help="Whether the provider's own notes join the pool."
)
@folder_option
@seed_option("the training")
@json_option
def train_pool_head(
    epochs: int, only: tuple[str, ...], hold_out: bool, public: bool, root: Path, seed: int, as_json: bool
) -> None:
    """Train the head on the pool."""
    target = workspace.open_workspace(root)
    chosen = frozenset(only) if only else None
    with progress_bar(quiet=as_json) as bar:
        summary = train_head.train(
            target,
            TaggingConfig(epochs=epochs, seed=seed),
            with_public=public,
            hold_out=hold_out,
            sites=chosen,
            progress=bar,
        )
    scores = summary["sites"]
    assert isinstance(scores, list)
    lines = [
        f"{summary['sentences']} sentences, {summary['tokens']} tokens in the pool"
        + (f"; {summary['left_out']} accepted shares of another representer left out" if summary["left_out"] else ""),
        "held-out tenth of each site, token-binary; in brackets what the provider's own notes alone reach:",
        *(
            f"  {row['site']:20} precision {row['precision']:.3f}  recall {row['recall']:.3f}  F1 {row['f1']:.3f}"
            + ("" if row["alone_f1"] is None else f"  ({row['alone_f1']:.3f})")
            for row in scores
        ),
        f"head in {target.head}; next: aggregator release",
    ]
    report(summary, lines, as_json=as_json)


@main.command(epilog=examples("aggregator evaluate --gold gold/ --system system/"))
@click.option("--gold", required=True, type=existing_path, help="Notes with true labels.")
@click.option("--system", required=True, type=existing_path, help="The same notes with predicted labels.")
@click.option(
    "--official-slips",
    is_flag=True,
    help="Repeat the slips of the official scripts, to compare with published numbers.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Show every block of the official evaluations, not only the usual ones."
)
@click.option(
    "--sentences",
    type=click.Path(exists=True, path_type=Path, file_okay=False),
    help="Folder with ID.ann for every note, one line a sentence, for MEDDOCAN's leak (default: our own sentences).",
)
@seed_option("the bootstrap")
@json_option
@notes_options
def evaluate(
    gold: Path,
    system: Path,
    official_slips: bool,
    everything: bool,
    sentences: Path | None,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Every block of the i2b2 and MEDDOCAN evaluations, and what stays in clear. Spans may overlap."""
    read = Notes(gold, replace(_reading(reading), official=official_slips))
    answers = Notes(system, NotesOptions(official=official_slips))
    pairs = match_corpora(read.to_evaluate(), answers.to_evaluate())
    count = sentence_files(sentences) if sentences else count_sentences
    result = evaluate_all(pairs, rng=np.random.default_rng(seed), sentences=count, slips=official_slips)
    values = {**evaluation_json(result), "quarantined": read.quarantined}
    table = as_table(result, blocks=None if everything else HEADLINES)
    report(values, [*read.lines(), *answers.lines(), table], as_json=as_json)


@main.command(epilog=examples("aggregator demo", "aggregator demo elsewhere --language es"))
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"))
@click.option(
    "--language",
    default="en",
    show_default=True,
    type=click.Choice(["en", "es"]),
    help="Language of the generated notes.",
)
@click.option(
    "--notes",
    "count",
    default=demonstration.NOTES,
    show_default=True,
    type=click.IntRange(10),
    help="Notes of each hospital.",
)
@seed_option("notes and trainings")
def demo(folder: Path, language: str, count: int, seed: int) -> None:
    """The whole loop on generated notes with a provider and four hospitals; ends with a report page."""
    demonstration.run(folder, demonstration.Scale(language, count, seed), click.echo)


def _reading(options: dict[str, Any]) -> NotesOptions:
    return NotesOptions(options["format_"], options["text_column"], options["quarantine"], options["labels"])


main.add_command(audit_log_group)
main.add_command(commands_sites.site)
for command in (
    commands_releases.publish,
    commands_releases.release,
    commands_releases.refresh,
    commands_releases.announce,
    commands_releases.keys,
    commands_shares.ingest,
    commands_shares.shares_group,
    commands_shares.alarms_group,
):
    main.add_command(command)
main.add_command(serve)
