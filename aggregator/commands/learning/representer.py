"""`aggregator train-repr` and `audit`: what the provider makes, and what it withstands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregator.commands.options import (
    AUDIT_PRESETS,
    AUGMENTS,
    PRESETS,
    PROCEDURES,
    augment_options,
    existing_path,
    folder_option,
    resume_option,
)
from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar

if TYPE_CHECKING:
    from aggregator.auditing.result import AuditResult
    from aggregator.training.representer import RepresenterTraining
    from aggregator.workspace import Workspace

policy_option = click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Limits of the audit, as .toml (default: ours).",
)


@click.command(
    "train-repr",
    cls=Computation,
    epilog=examples("aggregator train-repr --corpus public-notes/ --public-text leaflets/ --names surnames.csv"),
)
@click.option(
    "--corpus",
    required=True,
    type=existing_path,
    help="Public notes with PHI labels; with surrogates every labelled span is published in clear.",
)
@click.option(
    "--embeddings",
    type=existing_path,
    help="fastText .bin or .vec, GloVe .txt (each also .gz); default: those of train-embeddings.",
)
@click.option(
    "--procedure",
    default="surrogates",
    show_default=True,
    type=click.Choice(PROCEDURES),
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
    "--max-share",
    default=1.0,
    show_default="no bound",
    type=click.FloatRange(0, 1, min_open=True),
    help="No word holds more than this of its cluster's occurrences in public text; a low share makes clusters few and large.",
)
@click.option(
    "--common-words",
    default=30,
    show_default=True,
    type=click.IntRange(0),
    help="Words that can be read wherever they stand in a share that is narrowed; other public words only near labelled PHI.",
)
@click.option(
    "--group-size",
    default=2000,
    show_default=True,
    type=click.IntRange(1),
    help="Other public words that look alike farther away, where there are as many.",
)
@click.option(
    "--exact-window",
    default=3,
    show_default=True,
    type=click.IntRange(0, 255),
    help="How many tokens away from labelled PHI is near.",
)
@click.option(
    "--hide-casing",
    is_flag=True,
    help="Surrogates have a casing of their own: how labelled PHI is written does not travel either, and a head does worse.",
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
    help="List of names of one kind, one a line or the first column of a CSV file, a header aside (default: those of Faker).",
)
@click.option(
    "--neighbours",
    default=100,
    show_default=True,
    type=click.IntRange(2),
    help="N of the paper, for training against adversaries: candidates for every word that they ask for, itself included.",
)
@click.option(
    "--dim",
    type=click.IntRange(2, 1024),
    help="d: size of the representation (default: 50 where it is learned, else that of the word vectors).",
)
@click.option(
    "--normalise",
    is_flag=True,
    help="Stretch what comes out of the noise to length 1, as the program of the paper's authors does.",
)
@click.option(
    "--preset",
    default="standard",
    show_default=True,
    type=click.Choice(PRESETS),
    help="How long it is trained, where it is.",
)
@augment_options(
    AUGMENTS[:2],
    "Altered copies of the public notes: other PHI, published in clear like that of the notes, or other words around it",
    "none",
)
@click.option(
    "--audit",
    "audited",
    type=click.Choice(AUDIT_PRESETS),
    help="Also attack it at once, as `aggregator audit` does.",
)
@policy_option
@resume_option
@folder_option
@seed_option("the training")
@json_option
@notes_options
def train_representer(
    corpus: Path,
    embeddings: Path | None,
    procedure: str,
    cluster_size: int,
    max_share: float,
    common_words: int,
    group_size: int,
    exact_window: int,
    hide_casing: bool,
    public_texts: tuple[Path, ...],
    names: tuple[Path, ...],
    neighbours: int,
    dim: int | None,
    normalise: bool,
    preset: str,
    augment: tuple[str, ...] | None,
    alpha: int,
    entities: Path | None,
    wordnet: Path | None,
    audited: str | None,
    policy: Path | None,
    resume: bool,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Make the representer from public notes and freeze it; with --audit, ends with code 22 where the audit fails."""
    from aggregator import workspace
    from aggregator.auditing import audit as audits
    from aggregator.training import representer as train_repr
    from aggregator.training.augmenting import AugmentOptions, make_augmenting
    from command_line.notes import Notes, texts
    from shared.anonymity.names import default_names, read_names
    from shared.embeddings.files.read import read_vectors
    from shared.privacy.policy import load_policy

    target = workspace.open_workspace(root)
    vectors = read_vectors(embeddings or workspace.require(target.embeddings, "aggregator train-embeddings"))
    notes = Notes(corpus, NotesOptions.of(reading), target.scheme)
    further = [Notes(source, NotesOptions.of(reading)) for source in public_texts]
    options = train_repr.RepresenterOptions(
        procedure,
        neighbours=neighbours,
        cluster_size=cluster_size,
        max_share=max_share,
        common_words=common_words,
        group_size=group_size,
        exact_window=exact_window,
        hide_casing=hide_casing,
        dim=dim,
        normalise=normalise,
        preset=preset,
        augment=augment or (),
        alpha=alpha,
        seed=seed,
    )
    asked = AugmentOptions(augment, alpha, entities, wordnet)
    lists = tuple(map(read_names, names)) or default_names(target.scheme.name)
    augmenting = make_augmenting(asked, target.scheme, vectors.words)
    material = train_repr.PublicMaterial(notes, vectors, texts(further), lists, augmenting=augmenting)
    limits = load_policy(policy)
    with progress_bar(quiet=as_json) as bar:
        made = train_repr.train(target, material, options, bar.watch, resume=resume, tell=warn)
        found = audits.audit(target, list(notes), vectors, limits, audited, seed, bar) if audited else None
    lines = [
        *notes.lines(),
        f"{made.sentences} sentences, {made.tokens} tokens, {made.phi_tokens} of them PHI",
        *_representer_lines(made),
        f"representer in {target.representer}" + ("" if found else "; next: aggregator audit"),
    ]
    summary = made.as_json()
    if found:
        lines += _audit_lines(target, found)
        summary["audit"] = found.as_json()
    report(summary, lines, as_json=as_json)
    if found:
        audits.require_passed(target)


def _representer_lines(made: RepresenterTraining) -> list[str]:
    """What a construction shows, in words."""
    told, lines = made.told, []
    if "public_words" in told:
        lines.append(
            f"{told['public_words']} words are shown as they are; the others show one of {told['clusters']} clusters "
            f"of at least {told['smallest_cluster']} words, whose commonest holds up to {told['largest_share']:.1%} of its "
            "cluster's occurrences in public text"
        )
    if told["surrogate_spans"]:
        lines.append(
            f"labelled PHI is replaced by one of {told['surrogate_spans']} public spans before anything is computed from it"
        )
    if "noise" in told:
        accuracy, noise = told["record"]["adversary_accuracy"][-1], told["noise"]["output"]
        if accuracy is not None:
            lines.append(
                f"adversaries in training decide {accuracy:.1%} of pairs right (50% is chance); "
                "that says nothing yet about an attacker who trains longer"
            )
        lines.append(f"output noise {min(noise):.4f} to {max(noise):.4f} on vectors in the unit ball")
    return lines


@click.command(cls=Computation, epilog=examples("aggregator audit --corpus public-notes/ --preset full"))
@click.option("--corpus", required=True, type=existing_path, help="Public notes with PHI labels.")
@click.option(
    "--embeddings", type=existing_path, help="Word vectors of train-repr (default: those of train-embeddings)."
)
@click.option(
    "--preset", default="quick", show_default=True, type=click.Choice(AUDIT_PRESETS), help="How hard it tries."
)
@click.option("--table", is_flag=True, help="Every limit with its figure, in place of the words.")
@policy_option
@folder_option
@seed_option("the attacks")
@json_option
@notes_options
def audit(
    corpus: Path,
    embeddings: Path | None,
    preset: str,
    table: bool,
    policy: Path | None,
    root: Path,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Attack the frozen representer; ends with code 22 where it breaks a limit of the policy."""
    from aggregator import workspace
    from aggregator.auditing import audit as audits
    from command_line.notes import Notes
    from shared.embeddings.files.read import read_vectors
    from shared.privacy.policy import load_policy

    target = workspace.open_workspace(root)
    limits = load_policy(policy)
    vectors = read_vectors(embeddings or workspace.require(target.embeddings, "aggregator train-embeddings"))
    notes = Notes(corpus, NotesOptions.of(reading), target.scheme)
    with progress_bar(quiet=as_json) as bar:
        result = audits.audit(target, list(notes), vectors, limits, preset, seed, bar)
    report(result.as_json(), [*notes.lines(), *_audit_lines(target, result, table=table)], as_json=as_json)
    audits.require_passed(target)


def _audit_lines(target: Workspace, result: AuditResult, *, table: bool = False) -> list[str]:
    from aggregator.auditing.result import table_lines
    from aggregator.auditing.words import summary_lines
    from aggregator.publishing.audit_gate import PAGE

    lines = table_lines(result) if table else summary_lines(result)
    return [*lines, f"page: {target.root / 'audit' / PAGE}"]
