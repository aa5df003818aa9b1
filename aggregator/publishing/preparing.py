"""The folder in which a release is made before it is signed, and what a release states that follows another."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.publishing.changes import LICENCE
from aggregator.publishing.head_record import FURTHER_HEAD_FILES, HEAD_FILES, RECORD, head_digest
from aggregator.workspace import Workspace
from foundation.os_errors import storage_error
from foundation.reading import file_sha256
from protocols.release.manifest import ReleaseManifest
from protocols.release.repository import REFERENCE, Reference, newest_pipeline
from protocols.release.verification import MANIFEST_NAME

_NO_LICENCE = (
    "# No licence is stated\n\nUse this release within what your hospital and the provider have agreed; "
    "ask the provider before any other use.\n"
)
_HEAD = "head"


@contextmanager
def staging(workspace: Workspace) -> Iterator[Path]:
    """A folder for a release that is being made; what a publishing that was killed left goes first."""
    folder = workspace.root / ".publishing"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder
    except OSError as error:
        raise storage_error(folder, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stage_head(workspace: Workspace, folder: Path) -> Path:
    """A copy of the head and of its record in `folder`, all of one training: what is judged is what is signed.

    Raises:
        WorkspaceError: a training has put another head in its place meanwhile.
        StorageError: a file is missing, or the disk is full.
    """
    source, copy = workspace.head, folder / _HEAD
    copy.mkdir()
    copy_files(source, copy, (*HEAD_FILES, RECORD, *(name for name in FURTHER_HEAD_FILES if (source / name).exists())))
    if head_digest(source) != head_digest(copy) or file_sha256(source / RECORD) != file_sha256(copy / RECORD):
        raise WorkspaceError("expected one head while it was read, a training has ended meanwhile; try again")
    return copy


def copy_files(source: Path, target: Path, names: Sequence[str]) -> None:
    """Copies files of one folder into another, under their names.

    Raises:
        StorageError: one is missing, or the disk is full.
    """
    for name in names:
        copy_as(source / name, target / name)


def copy_as(source: Path, target: Path) -> None:
    """Copies a file.

    Raises:
        StorageError: it is missing, or the disk is full.
    """
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise storage_error(source, error) from error


def stated_licence(text: str | None) -> str:
    """The licence of a release; that none is stated, where there is no text."""
    return text if text and text.strip() else _NO_LICENCE


@dataclass(frozen=True)
class Stated:
    """What a release states beside what was trained.

    Args:
        licence: its text; None for that none is stated.
        embeddings_url: where its word vectors lie; None where it carries them.
    """

    licence: str | None = None
    embeddings_url: str | None = None


def stated_last(workspace: Workspace) -> Stated:
    """What the release that is published last states, for one that follows it and is told nothing else.

    Raises:
        WorkspaceError: its word vectors lie elsewhere, and those here are others; or the repository is damaged.
    """
    repository = workspace.repository()
    names = repository.release_names()
    if not names:
        return Stated()
    files = ReleaseManifest.from_bytes(repository.read(f"{names[-1]}/{MANIFEST_NAME}")).files
    licence = repository.read(f"{names[-1]}/{LICENCE}").decode() if LICENCE in files else None
    if REFERENCE not in files:
        return Stated(licence)
    found = Reference.from_bytes(repository.read(f"{names[-1]}/{REFERENCE}"))
    if file_sha256(workspace.representer / found.file) != found.entry.sha256:
        raise WorkspaceError(
            f"expected the word vectors that {names[-1]} refers to, found others here; publish by `aggregator publish` or `aggregator "
            "release`, with --embeddings-url where these lie, or without it to carry them"
        )
    return Stated(licence, found.url)


def stated_options(workspace: Workspace) -> list[str]:
    """What `aggregator release` is told so that it states what the release that is published last states, word by word.

    URL stands for where the word vectors lie, where those here are others than that release refers to.

    Raises:
        WorkspaceError: the repository is damaged.
    """
    repository, words = workspace.repository(), list[str]()
    for name in repository.release_names()[-1:]:
        files = ReleaseManifest.from_bytes(repository.read(f"{name}/{MANIFEST_NAME}")).files
        licence = f"{name}/{LICENCE}"
        if LICENCE in files and repository.read(licence).decode() != _NO_LICENCE:
            words += ["--licence", str(repository.path_of(licence))]
        if REFERENCE in files:
            try:
                url = stated_last(workspace).embeddings_url or ""
            except WorkspaceError:
                url = "URL"
            words += ["--embeddings-url", url]
    return words


def pipeline_among(names: Sequence[str]) -> list[str]:
    """The newest pipeline, if there is one: a site that lacks it pulls it beside a later representer."""
    name = newest_pipeline(names)
    return [] if name is None else [name]
