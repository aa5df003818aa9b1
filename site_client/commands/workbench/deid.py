"""`site-client deid`: PHI in notes is found, and hidden."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Computation, examples, json_option, report
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from foundation.printable import escape_unprintable
from foundation.reading import real_path
from site_client.commands.keys import tell, warn_of_expiry
from site_client.commands.options import existing_path, folder_option, min_recall_option
from site_client.commands.workbench.hiding_options import Choices, HidingOptions, hiding_options, replace_lost_secret
from site_client.commands.workbench.parts import part_option, write_part
from site_client.deid.registry import DEFAULT, MODES, describe_modes

if TYPE_CHECKING:
    from shared.corpus.parts import Part
    from shared.pipeline.pipeline import Pipeline
    from site_client.workspace import Workspace

_NOTHING_FOUND = (
    "NOTHING was found in any note, and nothing is hidden: measure the pipeline with `site-client evaluate` on notes of yours before you "
    "rely on it"
)


@click.command(
    cls=Computation,
    epilog=examples(
        "site-client deid notes/ --out safe/ --mode redact",
        "site-client deid notes/ --out safe/ --min-recall 0.95",
        "site-client deid notes/ --out safe/ --mode surrogate --config ours.toml",
        "site-client deid notes/ --out safe-2/ --part 2/8",
        "site-client deid notes/ --out safe/ --mode surrogate --patients patients.csv --link-key --vault who-was-what.vault",
    ),
)
@click.argument("notes", type=existing_path)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="A new folder.")
@click.option(
    "--mode",
    default=DEFAULT.name,
    show_default=True,
    type=click.Choice(MODES),
    help=describe_modes(),
)
@click.option(
    "--ignore-labels",
    is_flag=True,
    help="Hide only what the pipeline finds, as if the notes had no labels: to see what it is worth, not to share notes.",
)
@min_recall_option
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes that read notes at the same time (default: one a core)."
)
@part_option
@click.option(
    "--new-link-key",
    is_flag=True,
    help="keys/surrogates.key is lost for good: make another. Surrogates and hashes differ from those of earlier runs, and budgets are spent once more.",
)
@hiding_options
@folder_option
@json_option
@notes_options
def deid(
    notes: Path,
    out: Path,
    mode: str,
    ignore_labels: bool,
    min_recall: float | None,
    jobs: int | None,
    part: Part | None,
    new_link_key: bool,
    root: Path,
    as_json: bool,
    **given: Any,
) -> None:
    """Find PHI in notes, and hide it."""
    from importlib.metadata import version

    from command_line.notes import Notes, warn_of_language
    from shared.labels import load_scheme_file, with_known
    from shared.pipeline.parallel import ParallelPipeline, usable_cores
    from shared.text.language import guess_vocabulary
    from site_client import workspace
    from site_client.deid.deidentify import is_rewritten, repeating, require_empty, without_labels, write_deidentified
    from site_client.deid.journal import FOLDER, Resumed, require_writable
    from site_client.own_head.in_use import load_in_use
    from site_client.policy.enforcing import Step, judge_release, require_kept

    hiding = HidingOptions.of(given)
    choices = Choices(hiding, mode, in_parts=part is not None)
    opened = workspace.open_workspace(root)
    warn_of_expiry(opened)
    release = opened.pipeline_release()
    require_kept(opened, judge_release(opened, release.digest), Step.DEID)
    reading = NotesOptions.of(given).apart_from(notes=notes, out=out, vault=hiding.vault)
    require_empty(out)
    require_writable(opened.root / FOLDER)
    # Without it every label hides what it covers, whatever it is called; what is no category is written as OTHER.
    scheme = None if reading.labels is None else load_scheme_file(release.folder)
    read = Notes(notes, reading, scheme, to_hide=True, part=part)
    if new_link_key:
        replace_lost_secret(opened)
    with progress_bar(quiet=as_json) as bar:
        bar.begin("loading the pipeline")
        pipeline, used = load_in_use(opened, release)
        pipeline = pipeline if min_recall is None else pipeline.at(min_recall)
        words = pipeline.encoder.vectors.words
        warn_of_language(read, words)
        way = choices.mode(opened, guess_vocabulary(words))
        several = ParallelPipeline(pipeline, jobs or usable_cores())
        behind = "" if part is None else f" {part}"
        # Another version may find more by the same release.
        program = version("deid-commons")
        run = f"{program} {release.digest}{used.key} {min_recall} {real_path(notes)}{behind}"
        finder = Resumed(several, opened.root / FOLDER, run)
        if finder.known:
            tell(f"{finder.known} notes were done before an earlier run was cut; it goes on behind them")
        total = read.corpus.count() if bar.drawn else 0
        total = total if part is None else -(-total // part.of)
        try:
            known = choices.categories.union(pipeline.encoder.scheme.categories)
            found = read if is_rewritten(read.corpus.reader, way) else read.to_files()
            documents = without_labels(found) if ignore_labels else (with_known(note, known) for note in found)
            with choices.remembered(opened, way, out) as finish:
                done = write_deidentified(
                    finder,
                    documents,
                    out,
                    way,
                    bar,
                    source=read.corpus.reader,
                    total=total,
                    lists=choices.lists,
                    patients=choices.patients(pipeline),
                    repeat=repeating(pipeline),
                    finish=finish,
                )
        except KeyboardInterrupt:
            if finder.kept:
                tell("the same command goes on where this one was cut")
            raise
    if part is not None:
        facts = {
            "version of the program": program,
            "release": release.digest,
            "head in use": used.key,
            "mode": mode,
            "--min-recall": str(min_recall),
            "--ignore-labels": str(ignore_labels),
        }
        write_part(out, part, facts | choices.facts(opened), read, done, given)
    finder.finish()
    said = way.report()
    lines = [
        *read.lines(),
        f"{done.documents} documents in {out}, {sum(done.spans.values())} spans: "
        + (", ".join(f"{name} {count}" for name, count in sorted(done.spans.items())) or "none"),
        *said.lines,
        # What is not a screen may be a log.
        *(said.on_screen if sys.stdout.isatty() else ()),
        *choices.lines(),
        *_older_pipeline_lines(opened),
        *used.lines(),
        *([_by_labels(done.labels)] if done.labels else []),
        *([_without_patient(done.unnamed)] if done.unnamed else []),
        *promise_lines(pipeline),
        *(
            [
                f"as they came, and NOT de-identified, stand beside the text: {', '.join(map(escape_unprintable, done.untouched))}"
            ]
            if done.untouched
            else []
        ),
        *([_with_telling_ids(done.telling_ids)] if done.telling_ids else []),
        *([] if any(done.spans.values()) or not done.documents else [_NOTHING_FOUND]),
        *(
            []
            if part is None
            else [f"part {part} of {read.corpus.seen} notes; when all are there: site-client deid-merge"]
        ),
        "no de-identifier finds everything: have a sample read before the notes go anywhere",
    ]
    result = {
        "documents": done.documents,
        "spans": dict(done.spans),
        "labels": done.labels,
        "untouched": list(done.untouched),
        "telling_ids": done.telling_ids,
        "quarantined": read.quarantined,
        "part": None if part is None else str(part),
        "promised": None if pipeline.point is None else asdict(pipeline.point),
        "head": used.as_json(),
        **said.values,
    }
    report(result, lines, as_json=as_json)


def promise_lines(pipeline: Pipeline) -> list[str]:
    """What the release promises of what was done here, or what an adapted head did in the hospital's own notes."""
    from shared.pipeline.adapted import AdaptedPipeline

    if pipeline.point is None:
        return []
    one = pipeline.point
    if isinstance(pipeline, AdaptedPipeline):
        return [
            f"what the release promises was measured with another head; in your own notes, which it had not seen then, the adapted one hid {one.hidden:.1%} of PHI whole "
            f"(at least {one.least:.1%}, by the 95% interval), {one.precision:.1%} of what it hid was PHI; ask for more by --min-recall"
        ]
    return [
        f"at hospitals that shared nothing this hides {one.hidden:.1%} of PHI whole, {one.precision:.1%} of what it hides is PHI (as the provider "
        f"measured it, median of {pipeline.points.hospitals if pipeline.points else 0}); ask for more by --min-recall"
    ]


def _by_labels(count: int) -> str:
    spans = "1 span is" if count == 1 else f"{count} spans are"
    return f"{spans} hidden whole only because the notes have labels; --ignore-labels shows what the pipeline finds by itself"


def _without_patient(count: int) -> str:
    notes = (
        "1 note is of no patient that --patients names: it"
        if count == 1
        else f"{count} notes are of no patient that --patients names: each"
    )
    return f"{notes} stands alone"


def _with_telling_ids(count: int) -> str:
    whose = (
        "1 note has an id that says what is hidden in its text"
        if count == 1
        else f"{count} notes have ids that say what is hidden in their texts"
    )
    return (
        f"{whose}, such as a name, a date or a number: ids are written as they came, as names of files or beside the text, and are NOT de-identified; "
        "give these notes other ids before they go anywhere"
    )


def _older_pipeline_lines(opened: Workspace) -> list[str]:
    """Says so where notes are encoded with one release and de-identified with another."""
    if opened.pipeline is None or opened.pipeline == opened.current:
        return []
    return [f"found by release {opened.pipeline.sequence}, the newest pipeline; releases since then hold none"]
