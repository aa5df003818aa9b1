"""Releases: the frozen representer, and the whole pipeline, as signed folders that hospitals can pull.

releases/0001-representer, releases/0002-pipeline... A pipeline holds its representer too, so a site that has the
latest release has all it needs. Numbers only rise, so a site can refuse to go back.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.workspace import Workspace, require
from protocols.release import ReleaseFields, VerifiedRelease, seal_release, verify_release
from protocols.storage import file_sha256
from shared.files import new_folder, read_text, storage_error

_ENCODER_FILES = (
    "embeddings.safetensors",
    "vocabulary.json",
    "representer.safetensors",
    "representer.json",
    "scheme.json",
)
# Only some constructions have it.
_SURROGATES = "surrogates.json"
# What the representer withstood, for every hospital to read.
_AUDIT_FILES = ("audit.json", "audit.html")
_HEAD_FILES = ("head.safetensors", "head.json")
_RECORD = "training.json"


def publish_representer(workspace: Workspace) -> VerifiedRelease:
    """Sign and publish the frozen representer.

    Raises:
        WorkspaceError: none is trained yet.
    """
    require(workspace.representer, "aggregator train-repr")
    return _publish(workspace, "representer")


def publish_pipeline(workspace: Workspace) -> VerifiedRelease:
    """Sign and publish representer and head.

    Raises:
        WorkspaceError: no head is trained yet, or it does not fit the representer.
    """
    require(workspace.head, "aggregator train-head")
    try:
        trained_on = json.loads(read_text(workspace.head / _RECORD))["representer"]
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            f"head/{_RECORD}: expected the record of a training; run `aggregator train-head` again"
        ) from error
    if trained_on != representer_digest(workspace):
        raise WorkspaceError(
            "the head was trained on another representer than the one here; run `aggregator train-head` on shares of this one first"
        )
    return _publish(workspace, "pipeline")


def releases(workspace: Workspace) -> list[VerifiedRelease]:
    """All releases, each verified, oldest first.

    Raises:
        ProtocolError: one is damaged.
    """
    key = workspace.key().public_key
    folders = sorted(path for path in workspace.releases.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [verify_release(folder, key) for folder in folders]


def representer_digest(workspace: Workspace) -> str:
    """SHA-256 over all files that decide a representation, in the workspace."""
    require(workspace.representer / "representer.safetensors", "aggregator train-repr")
    return _digest_of([file_sha256(workspace.representer / name) for name in _encoder_files(workspace.representer)])


def release_representer(release: VerifiedRelease) -> str:
    """The same of a release."""
    return _digest_of(_encoder_digests(release))


def _digest_of(digests: list[str]) -> str:
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()


def _encoder_files(folder: Path) -> tuple[str, ...]:
    return (*_ENCODER_FILES, _SURROGATES) if (folder / _SURROGATES).exists() else _ENCODER_FILES


def compatible_releases(workspace: Workspace) -> dict[str, VerifiedRelease]:
    """Releases by digest whose representer and word vectors are those published last: their shares can be pooled.

    Raises:
        WorkspaceError: nothing is published yet.
    """
    found = releases(workspace)
    if not found:
        raise WorkspaceError("no representer is published yet; run `aggregator publish` first")
    newest = _encoder_digests(found[-1])
    return {release.digest: release for release in found if _encoder_digests(release) == newest}


def _encoder_digests(release: VerifiedRelease) -> list[str]:
    files = release.manifest.files
    return [files[name].sha256 for name in (*_ENCODER_FILES, _SURROGATES) if name in files]


def _publish(workspace: Workspace, kind: str) -> VerifiedRelease:
    earlier = releases(workspace)
    sequence = earlier[-1].manifest.sequence + 1 if earlier else 1
    target = workspace.releases / f"{sequence:04}-{kind}"
    key = workspace.key()
    with new_folder(target, replace=False) as folder:
        _copy(workspace.representer, folder, _encoder_files(workspace.representer))
        _copy_as(workspace.representer / _RECORD, folder / "representer.training.json")
        audit = workspace.root / "audit"
        if audit.exists():
            _copy(audit, folder, _AUDIT_FILES)
        if kind == "pipeline":
            _copy(workspace.head, folder, _HEAD_FILES)
        fields = ReleaseFields(
            kind=kind,
            name=workspace.name,
            sequence=sequence,
            label_scheme=workspace.scheme.name,
            created=datetime.date.today(),
            software={"deid_commons": version("deid-commons"), "torch": version("torch")},
            notes="",
        )
        seal_release(folder, fields, key)
    return verify_release(target, key.public_key)


def _copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    for name in names:
        _copy_as(source / name, target / name)


def _copy_as(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise storage_error(source, error) from error
