"""Releases: the frozen representer, and the whole pipeline, as targets of the release repository that hospitals pull from.

0001-representer, 0002-pipeline... A pipeline holds its representer too, so a site that has the latest release has all it
needs. Numbers only rise, so a site can refuse to go back.

Which shares trained the head of a release is written into the registry before the release is published: a release that is
out never lacks its record. A record without a release goes as soon as publishing has failed, or with the next publishing; what is
out is what the repository names.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.publishing import audit_gate, quality_gate
from aggregator.publishing.changes import CARD, LICENCE, check_changed
from aggregator.publishing.head_record import FURTHER_HEAD_FILES, HEAD_FILES, RECORD
from aggregator.publishing.judging import Shown, judge_head, look_at, require_fitting
from aggregator.publishing.model_card import model_card
from aggregator.publishing.preparing import copy_as, copy_files, pipeline_among, stage_head, staging, stated_licence
from aggregator.publishing.registering import give_up_release, register_release
from aggregator.registry import audit_log
from aggregator.repository.release_log import lay_down_log
from aggregator.repository.tuf_repository import NewRelease, Repository
from aggregator.workspace import Workspace, require
from foundation.files import write_bytes, write_text
from foundation.locks import lock_folder
from foundation.reading import file_sha256, regular_size
from protocols.log.checkpoint import CHECKPOINT
from protocols.log.entry import ReleaseEntry
from protocols.release.manifest import FileEntry
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import (
    LATEST,
    PROVIDER,
    REFERENCE,
    Reference,
    check_sizes,
    latest_bytes,
    release_name,
    release_sequence,
)
from protocols.release.verification import MANIFEST_NAME, ReleaseFields, ReleaseManifest, list_release
from shared.constructions.files import FILES, FURTHER_FILES, digest_of
from shared.constructions.files import RECORD as RELEASE_RECORD

_EMBEDDINGS = "embeddings.safetensors"
# What the representer withstood, for every hospital to read.
_AUDIT_FILES = (audit_gate.RECORD, audit_gate.PAGE)


@dataclass(frozen=True)
class Release:
    """A published release.

    Args:
        manifest: what the provider stated, as it was signed.
    """

    manifest: ReleaseManifest

    @property
    def digest(self) -> str:
        """The identity of the release, which shares name."""
        return self.manifest.digest

    @property
    def name(self) -> str:
        """Its folder and role in the repository."""
        return release_name(self.manifest.sequence, self.manifest.kind)


@dataclass(frozen=True)
class Publishing:
    """How a release is published.

    Args:
        offline: folders of the offline keys; none for that of the workspace.
        embeddings_url: public https address of the word vectors, which the release then only refers to.
        licence: text of the licence, Markdown; None for none stated.
        server: address of the provider's server, "" for none; None for the one that was stated last.
        notes: for the reader, at most 4,000 characters.
        audited: whether there must be an audit; a measurement of something else needs none. One that is there must have passed.
        with_failed_audit: whether it may have failed, of a construction that nothing proves; hospitals have such a release off
            until they enable it by name.
        approver: who accepts a head that finds less than the last; None for nobody.
        actor: who publishes it, as the log says.
        head: the first digits of the digest of the head that it must be; "" for any.
        shown: what somebody was shown before they confirmed it, and it must be still; None where nobody was shown anything.
    """

    offline: tuple[Path, ...] = ()
    embeddings_url: str | None = None
    licence: str | None = None
    server: str | None = None
    notes: str = ""
    audited: bool = True
    with_failed_audit: bool = False
    approver: str | None = None
    actor: str = "operator"
    head: str = ""
    shown: Shown | None = None


def publish_representer(workspace: Workspace, how: Publishing = Publishing()) -> Release:
    """Sign and publish the frozen representer.

    Raises:
        WorkspaceError: none is trained yet, it is that of the last release unchanged, or too few keys are here.
        AuditError: as for `load_passed_audit`.
    """
    require(workspace.representer, "aggregator train-repr")
    return _publish(workspace, "representer", how)


def publish_pipeline(workspace: Workspace, how: Publishing = Publishing()) -> Release:
    """Sign and publish representer and head.

    Raises:
        WorkspaceError: no head is trained yet, it does not fit the representer, a share that trained it was withdrawn, it
            is the last release unchanged, or too few keys are here.
        AuditError: as for `load_passed_audit`.
        DropError: as for `check_quality`.
    """
    require(workspace.head, "aggregator train-head")
    return _publish(workspace, "pipeline", how)


def try_pipeline(workspace: Workspace, how: Publishing = Publishing()) -> quality_gate.Passed | None:
    """Asks everything that `publish_pipeline` asks before it signs; nothing is signed, registered or published.

    Returns:
        what the gate lets through although the head finds less; None where nothing is lower.

    Raises:
        WorkspaceError, AuditError, DropError: as for `publish_pipeline`.
    """
    require(workspace.head, "aggregator train-head")
    repository = workspace.repository(how.offline)
    with lock_folder(repository.folder), staging(workspace) as folder:
        return _prepare(workspace, repository, "pipeline", how, folder).passed


def announce(workspace: Workspace, server: str | None, offline: tuple[Path, ...] = ()) -> ProviderRecord:
    """Publish the provider's keys and address anew, without a release.

    Args:
        workspace: the provider's.
        server: as in `Publishing`.
        offline: as in `Publishing`.
    """
    repository = workspace.repository(offline)
    with lock_folder(repository.folder):
        record = _record_of(workspace, repository, server)
        repository.publish({PROVIDER: record.to_bytes(), **_log(workspace, repository)})
    with workspace.registry().transaction() as session:
        audit_log.append(session, "operator", "provider-announced", {"record": record.to_json()})
    return record


def renew(workspace: Workspace, offline: tuple[Path, ...] = ()) -> dict[str, datetime.datetime]:
    """Sign the repository anew before it expires, and say when each role's metadata expire now.

    Args:
        workspace: the provider's.
        offline: as in `Publishing`; what these keys sign is renewed where enough of them are here.

    Raises:
        WorkspaceError: offline keys were given, but too few.
    """
    repository = workspace.repository(offline)
    with lock_folder(repository.folder):
        names = repository.release_names()
        with_offline = bool(offline) or repository.has_offline_keys()
        repository.refresh(with_offline=with_offline, renewed=sorted({*names[-1:], *pipeline_among(names)}))
    return repository.expiries()


def rotate(workspace: Workspace, roles: Sequence[str], offline: tuple[Path, ...] = ()) -> int:
    """New keys for some roles of the repository; the version of the root that says so.

    Raises:
        WorkspaceError: too few of the old keys are here.
    """
    repository = workspace.repository(offline)
    with lock_folder(repository.folder):
        repository.rotate(roles)
        version = repository.root().version
    with workspace.registry().transaction() as session:
        audit_log.append(session, "operator", "release-keys-rotated", {"roles": [*sorted(roles)], "root": version})
    return version


def releases(workspace: Workspace) -> list[Release]:
    """All releases, as they were signed, oldest first.

    Raises:
        WorkspaceError: the repository is damaged.
        ProtocolError: the list of a release is damaged.
    """
    repository = workspace.repository()
    names = repository.release_names()
    lists = repository.read_each([f"{name}/{MANIFEST_NAME}" for name in names])
    return [Release(ReleaseManifest.from_bytes(listed)) for listed in lists]


def _read_release(repository: Repository, name: str) -> Release:
    return Release(ReleaseManifest.from_bytes(repository.read(f"{name}/{MANIFEST_NAME}")))


def representer_digest(workspace: Workspace) -> str:
    """SHA-256 over all files that decide a representation, in the workspace."""
    require(workspace.representer / "representer.safetensors", "aggregator train-repr")
    return digest_of(_digests(workspace.representer))


def release_representer(release: Release) -> str:
    """The same of a release."""
    return digest_of(construction_digests(release))


def fitting_digests(workspace: Workspace, representer: str) -> frozenset[str]:
    """Digests of the releases whose shares teach a head that goes with a representer, by its digest."""
    return frozenset(one.digest for one in releases(workspace) if release_representer(one) == representer)


def _digests(folder: Path) -> list[str]:
    return [file_sha256(folder / name) for name in _construction_files(folder)]


def _construction_files(folder: Path) -> tuple[str, ...]:
    return (*FILES, *(name for name in FURTHER_FILES if (folder / name).exists()))


def compatible_releases(workspace: Workspace) -> dict[str, Release]:
    """Releases by digest whose representer and word vectors are those published last: their shares can be pooled.

    Raises:
        WorkspaceError: nothing is published yet.
    """
    found = releases(workspace)
    if not found:
        raise WorkspaceError("no representer is published yet; run `aggregator publish` first")
    newest = construction_digests(found[-1])
    return {release.digest: release for release in found if construction_digests(release) == newest}


def construction_digests(release: Release) -> list[str]:
    """SHA-256 of the files that make the construction of a release, in a fixed order: equal ones show equal rows."""
    files = release.manifest.files
    return [files[name].sha256 for name in (*FILES, *FURTHER_FILES) if name in files]


def _publish(workspace: Workspace, kind: str, how: Publishing) -> Release:
    repository = workspace.repository(how.offline)
    # From the choice of the number on: two changes at once would both follow the same state, and one would be lost.
    with lock_folder(repository.folder):
        return _publish_next(workspace, repository, kind, how)


@dataclass(frozen=True)
class _Prepared:
    """A release in its folder, which has passed every gate and is not signed yet."""

    release: Release
    folder: Path
    head: Path | None
    failed: tuple[str, ...]
    passed: quality_gate.Passed | None


def _publish_next(workspace: Workspace, repository: Repository, kind: str, how: Publishing) -> Release:
    # The log says that it is published ahead of that: without the keys it would say so each time that somebody tries.
    repository.require_keys()
    earlier = repository.release_names()
    with staging(workspace) as staged:
        prepared = _prepare(workspace, repository, kind, how, staged)
        release = prepared.release
        register_release(
            workspace, release.name, release.manifest, prepared.failed, prepared.passed, prepared.head, how.actor
        )
        try:
            documents = {
                PROVIDER: _record_of(workspace, repository, how.server).to_bytes(),
                LATEST: latest_bytes(release.name),
                **_log(workspace, repository, release),
            }
            carried = set(release.manifest.files) - ({_EMBEDDINGS} if how.embeddings_url else set())
            new = NewRelease(release.name, prepared.folder, (*sorted(carried), MANIFEST_NAME))
            repository.publish(documents, new, pipeline_among(earlier))
        except BaseException:
            give_up_release(workspace, release.name, release.manifest.sequence, how.actor)
            raise
    return release


def _prepare(workspace: Workspace, repository: Repository, kind: str, how: Publishing, staged: Path) -> _Prepared:
    folder = staged / "release"
    folder.mkdir()
    earlier = repository.release_names()
    sequence = release_sequence(earlier[-1]) + 1 if earlier else 1
    fields = ReleaseFields(
        kind=kind,
        name=workspace.name,
        sequence=sequence,
        label_scheme=workspace.scheme.name,
        created=datetime.date.today(),
        software={"deid_commons": version("deid-commons"), "torch": version("torch")},
        notes=how.notes,
    )
    copy_files(workspace.representer, folder, _construction_files(workspace.representer))
    head = stage_head(workspace, staged) if kind == "pipeline" else None
    passed, representer = None, digest_of(_digests(folder))
    if head is not None:
        require_fitting(workspace, head, representer, how.head)
        last = last_pipeline(workspace, representer)
        fitting = fitting_digests(workspace, representer)
        passed = judge_head(workspace, head, None if last is None else last.manifest, how.approver, fitting)
    failed = _fill(workspace, folder, head, fields, how, passed)
    if how.shown is not None:
        how.shown.require(look_at(representer, folder, head, earlier))
    release = Release(list_release(folder, fields, workspace.signing_keys()[0].key_id).manifest)
    check_sizes(release.manifest.files)
    if earlier:
        check_changed(_read_release(repository, earlier[-1]).manifest, release.manifest)
    return _Prepared(release, folder, head, failed, passed)


def _log(workspace: Workspace, repository: Repository, *following: Release) -> dict[str, bytes]:
    """The checkpoint over all releases, by its name; nothing before the first release."""
    listed = [_read_release(repository, name).manifest for name in repository.release_names()]
    listed += [release.manifest for release in following]
    entries = [ReleaseEntry(one.sequence, one.kind, one.digest) for one in listed]
    return {CHECKPOINT: lay_down_log(repository, entries, workspace.newest_key())} if entries else {}


def last_pipeline(workspace: Workspace, representer: str | None = None) -> Release | None:
    """The last release with a head that goes with a representer, by its digest, or with that here; None for none."""
    digest = representer or representer_digest(workspace)
    found = [
        release
        for release in releases(workspace)
        if release.manifest.kind == "pipeline" and release_representer(release) == digest
    ]
    return found[-1] if found else None


def _fill(
    workspace: Workspace,
    folder: Path,
    head: Path | None,
    fields: ReleaseFields,
    how: Publishing,
    accepted: quality_gate.Passed | None,
) -> tuple[str, ...]:
    """Bring what a release has besides its construction together; the attacks of its audit that it did not withstand."""
    failed: tuple[str, ...] = ()
    copy_as(workspace.representer / RECORD, folder / RELEASE_RECORD)
    audit = workspace.root / "audit"
    if audit.exists() or how.audited:
        # Of the files as they will be signed: a training may have put others in their place since the command looked.
        copy_files(audit, folder, [name for name in _AUDIT_FILES if (audit / name).exists()])
        passed = audit_gate.load_passed_audit(
            folder,
            digest_of(_digests(folder)),
            with_failed=how.with_failed_audit,
        )
        failed = passed.failed
        if failed:
            audit_gate.require_no_proof(folder)
    if head is not None:
        copy_files(head, folder, (*HEAD_FILES, *(name for name in FURTHER_HEAD_FILES if (head / name).exists())))
    if how.embeddings_url is not None:
        vectors = folder / _EMBEDDINGS
        entry = FileEntry(regular_size(vectors), file_sha256(vectors))
        write_bytes(folder / REFERENCE, Reference(_EMBEDDINGS, how.embeddings_url, entry).to_bytes(), private=False)
    licence = stated_licence(how.licence)
    write_text(folder / LICENCE, licence, private=False)
    card = model_card(
        fields,
        workspace.representer,
        head,
        folder if (folder / audit_gate.RECORD).exists() else None,
        licence,
        accepted,
    )
    write_text(folder / CARD, card, private=False)
    return failed


def _record_of(workspace: Workspace, repository: Repository, server: str | None) -> ProviderRecord:
    if server is None:
        server = ProviderRecord.from_bytes(repository.read(PROVIDER)).server
    return workspace.record(server)
