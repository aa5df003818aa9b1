"""`site-client review`: a person corrects what was found, on a page of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import compute_on_one_thread, examples, json_option, report, say, warn
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from foundation.printable import as_typed
from foundation.reading import real_path
from shared.errors import ConfigurationError
from site_client.commands.options import existing_path, folder_option

if TYPE_CHECKING:
    from site_client.review.prelabel import PipelineFinder
    from site_client.review.project import Project
    from site_client.workspace import Workspace

_FOLDER = click.Path(path_type=Path, file_okay=False)


# No Computation: the page is there, and what is finished is exported, before anything loads torch.
@click.command(
    epilog=examples(
        "site-client review notes/",
        "site-client review notes/ --project second-reader",
        "site-client review --project second-reader --export labelled.jsonl",
        "site-client review --compare first-reader second-reader",
    ),
)
@click.argument("notes", type=existing_path, required=False)
@click.option("--project", type=_FOLDER, help="Folder of the review (default: one in the workspace for these notes).")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Where to listen (default: any that is free).")
@click.option("--no-prelabel", is_flag=True, help="Show the notes with their own labels alone.")
@click.option(
    "--export",
    "out",
    type=click.Path(path_type=Path),
    help="Write the notes that are finished, with their labels, and end: FILE.jsonl, or a new folder for brat.",
)
@click.option("--everything", is_flag=True, help="With --export: notes that nobody has finished, too.")
@click.option("--compare", nargs=2, type=_FOLDER, help="How far two reviews of the same notes agree.")
@folder_option
@json_option
@notes_options
def review(
    notes: Path | None,
    project: Path | None,
    port: int,
    no_prelabel: bool,
    out: Path | None,
    everything: bool,
    compare: tuple[Path, Path] | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """Accept, correct and add spans on a local page: notes that are ready for `check` and `encode`."""
    from site_client import workspace

    if compare is not None:
        if notes or project or out:
            raise ConfigurationError("--compare: expected two folders of reviews alone, got more; leave it out")
        _compare(*compare, as_json=as_json)
        return
    if everything and out is None:
        raise ConfigurationError("--everything: expected --export beside it, got none; give both")
    opened_project = (
        _begin(
            workspace.open_workspace(root),
            notes,
            project,
            NotesOptions.of(reading).apart_from(notes=notes, export=out),
            as_json=as_json,
        )
        if notes
        else _open(project)
    )
    try:
        if out is not None:
            _export(opened_project, out, everything=everything, as_json=as_json)
        else:
            opened = workspace.open_workspace(root)
            _serve(opened, opened_project, port, prelabel=not no_prelabel, as_json=as_json)
    finally:
        opened_project.close()


def _begin(opened: Workspace, notes: Path, folder: Path | None, options: NotesOptions, *, as_json: bool) -> Project:
    """The project of these notes, with those taken in that are new."""
    from command_line.notes import Notes
    from shared.labels import load_scheme_file
    from site_client.review.project import begin, is_begun

    folder = folder or _default_folder(opened, notes)
    options.apart_from(project=folder)
    source = _source(notes, options)
    project = _open(folder) if is_begun(folder) else None
    # What is not given now, a map or an encoding, holds on as it was given when these notes were read.
    if project is not None and set(source.split()) <= set(project.notes.stated.source.split()):
        return project
    scheme = load_scheme_file(opened.release().folder) if project is None else project.scheme
    read = Notes(notes, options, scheme, to_hide=True)
    labelled = 0
    with progress_bar(quiet=as_json) as bar:
        bar.begin("reading the notes")
        if project is None:
            project = begin(folder, scheme, read, source)
        else:
            try:
                labelled = project.add_notes(read, source)
            except BaseException:
                project.close()
                raise
    for line in read.lines():
        say(line, err=True)
    if labelled:
        click.echo(f"{labelled} notes that nobody has worked on have the labels that they came with now", err=True)
    return project


def _source(notes: Path, options: NotesOptions) -> str:
    """Tells the notes, and how they are read as far as that is given, from others."""
    from urllib.parse import quote

    from shared.labels import scheme_names
    from site_client.review.notes_file import fingerprint

    words, plain = [fingerprint(notes)], NotesOptions()
    for name in ("encoding", "format", "text_column"):
        given = getattr(options, name)
        if given != getattr(plain, name):
            words.append(f"{name}={quote(given)}")
    if options.labels is not None:
        words.append(options.labels if options.labels in scheme_names() else fingerprint(Path(options.labels)))
    return " ".join(words)


def _default_folder(opened: Workspace, notes: Path) -> Path:
    import hashlib

    place = real_path(notes)
    told = hashlib.blake2b(str(place).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return opened.root / "review" / f"{place.name.partition('.')[0][:50]}-{told}"


def _open(folder: Path | None) -> Project:
    from site_client.review.project import Project

    if folder is None:
        raise ConfigurationError("expected notes, or --project with a review that has begun; give one of them")
    return Project(folder)


def _serve(opened: Workspace, project: Project, port: int, *, prelabel: bool, as_json: bool) -> None:
    from command_line.notes import warn_of_language
    from site_client.policy.enforcing import Step, judge_release, require_kept
    from site_client.review.listing import counts
    from site_client.review.running import run

    if prelabel and opened.pipeline is not None:
        require_kept(opened, judge_release(opened, opened.pipeline_release().digest), Step.DEID)
    elif prelabel:
        warn("no pipeline runs here yet: patterns and lists of names alone look for PHI")

    def load() -> PipelineFinder:
        from shared.labels import OTHER, load_scheme_file

        release = None if opened.pipeline is None else opened.pipeline_release()
        found = project.scheme.categories if release is None else load_scheme_file(release.folder).categories
        if project.scheme.categories not in (found, (*found, OTHER)):
            raise ConfigurationError(
                "the release finds other categories than those of this review; export what is finished, and begin a new --project"
            )
        compute_on_one_thread()
        from site_client.checking.given_lists import given_names
        from site_client.own_head.in_use import load_in_use
        from site_client.review.prelabel import PipelineFinder

        pipeline = None
        if release is not None:
            pipeline, used = load_in_use(opened, release)
            for line in used.lines():
                say(line, err=as_json)
            warn_of_language(project.notes, pipeline.encoder.vectors.words)
        return PipelineFinder(project.scheme, pipeline, given_names(opened))

    def announce(address: str) -> None:
        say(f"open {address}", err=as_json)

    say(
        f"the review lies in {project.folder}; every change is saved at once. End it by Ctrl+C. An address opens one window, "
        "yours; another is shown when you need one",
        err=as_json,
    )
    run(project, load if prelabel else None, port, announce)
    # What is told now comes from memory, and the folder may be gone.
    project.require_kept()
    found = counts(project)
    report(
        {"project": str(project.folder), "notes": found.notes, "finished": found.finished},
        [f"{found.finished} of {found.notes} notes are finished; next: {_next(project)}"],
        as_json=as_json,
    )


def _next(project: Project) -> str:
    return f"site-client review --project {as_typed(project.folder)} --export labelled.jsonl"


def _export(project: Project, out: Path, *, everything: bool, as_json: bool) -> None:
    from shared.corpus import write_corpus
    from site_client.errors import ReviewError
    from site_client.review.listing import counts

    found = counts(project)
    if not found.finished and not everything:
        raise ReviewError(
            "expected a note that somebody has finished, found none; finish notes on the page, or give --everything"
        )
    single = out.suffix == ".jsonl" or out.name.endswith(".jsonl.gz")
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigurationError(f"{out}: expected a new file or folder, found one; choose another")
    count = write_corpus(project.labelled(everything=everything), out, "jsonl" if single else "brat")
    typed, unfinished = as_typed(out), count - found.finished
    lines = [
        f"{count} of {found.notes} notes in {out}, with the labels of {project.scheme.name}",
        *(
            [
                f"{unfinished} of them nobody has finished: PHI in them may have no label, so do not share these",
                f"next: site-client check {typed}; to share notes, export without --everything",
            ]
            if unfinished
            else [f"next: site-client check {typed}, then site-client encode {typed} --out share.parquet"]
        ),
    ]
    report(
        {"out": str(out), "notes": count, "finished": found.finished, "scheme": project.scheme.name},
        lines,
        as_json=as_json,
    )


def _compare(first: Path, second: Path, *, as_json: bool) -> None:
    from site_client.review.agreement import compare

    one = _open(first)
    try:
        # Else it would be told that another program has it open.
        if real_path(first) == real_path(second):
            raise ConfigurationError("--compare: expected two reviews, got the same folder twice; name another")
        other = _open(second)
        try:
            found = compare(one, other)
        finally:
            other.close()
    finally:
        one.close()

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    lines = [
        f"{found.notes} notes finished in both, {found.tokens} tokens",
        f"kappa on tokens {shown(found.kappa)}; on PHI or not {shown(found.kappa_phi)}",
        f"F1 of spans {shown(found.f1)}; of their ends alone {shown(found.f1_ends)}",
        *(f"  {category} {shown(value)}" for category, value in sorted(found.by_category.items())),
        f"{len(found.differences)} spans of one only; --json lists them by note and offsets",
    ]
    report(found.as_json(), lines, as_json=as_json)
