"""`site-client pull`: the newest release from a folder, a stick or a server, verified before it is used.

The first pull pins the root of the provider's release repository: the person at the hospital gives the fingerprint that the
provider told them over another channel. Everything after that follows from this root. The new release and the provider's keys count
together or not at all: until the settings are replaced, the release in use stays as it is. Metadata that were verified stay,
as TUF's client workflow has it, also where the pull fails after them: older ones are refused from then on.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from foundation.errors import DeidError, StorageError
from foundation.files import flush, write_bytes
from foundation.os_errors import map_os_errors
from protocols.canonical import canonical_bytes
from protocols.errors import ProtocolError, SchemaError
from protocols.release.manifest import MAX_RELEASE_BYTES, FileEntry, ReleaseManifest
from protocols.release.provider_record import MAX_RECORD_BYTES, ProviderRecord
from protocols.release.repository import (
    LATEST,
    MAX_DOCUMENT_BYTES,
    PROVIDER,
    REFERENCE,
    Reference,
    check_sizes,
    read_latest,
    release_name,
)
from protocols.release.verification import MANIFEST_NAME, VerifiedRelease, check_file, verify_release
from shared.constructions.files import RECORD
from shared.constructions.registry import check_record, load_construction
from shared.pipeline.pipeline import Pipeline
from shared.taggers.registry import load_head
from site_client.errors import SiteError
from site_client.releases.client import ReleaseClient, first_trust
from site_client.releases.source import Network, open_source
from site_client.trust import Trust
from site_client.workspace import CurrentRelease, Workspace


def pull(
    workspace: Workspace,
    source: str | None = None,
    fingerprint: str | None = None,
    *,
    embeddings: Path | None = None,
    network: Network = Network(),  # noqa: B008, it is frozen
) -> tuple[Workspace, VerifiedRelease]:
    """Take the newest release into the workspace and work with it from now on.

    Args:
        workspace: of the site.
        source: folder or https address of the release repository; None for that of the last pull.
        fingerprint: of the first root, in digits or spoken; needed once.
        embeddings: the file that the release refers to, where the site can't download it.
        network: the way to servers.

    Raises:
        ProtocolError: something is not what the provider signed, or too old.
        SiteError: the fingerprint is missing or another one, or the release is older than the one in use.
        ModelError, EmbeddingError: its models do not load; the release in use stays as it was.
    """
    known = Trust.load(workspace.trust)
    place = _place(source, known)
    with _scratch(workspace) as scratch, closing(open_source(place, scratch, network)) as origin:
        if known is not None and fingerprint not in (None, known.fingerprint.key_id, known.fingerprint.spoken):
            raise SiteError(
                "expected the fingerprint of the provider that this workspace knows, got another one; "
                "leave it out, or make a new workspace for another provider"
            )
        client = ReleaseClient(known or first_trust(origin, place, fingerprint), origin, scratch)
        with _keep_metadata(workspace, client, known):
            client.refresh()
            provider = ProviderRecord.from_bytes(client.read(PROVIDER, MAX_RECORD_BYTES))
            name = read_latest(client.read(LATEST, MAX_DOCUMENT_BYTES))
            listed = client.read(f"{name}/{MANIFEST_NAME}", MAX_RELEASE_BYTES)
            manifest = ReleaseManifest.from_bytes(listed)
            _check_place(workspace, name, manifest)
            release = _present(workspace, name, manifest.digest)
            if release is None:
                incoming = scratch / name
                _Reception(client, manifest, _Known(workspace), embeddings, network).into(incoming)
                write_bytes(incoming / MANIFEST_NAME, listed)
                release = _take(incoming, workspace.releases / name, manifest)
        client.trust(place).save(workspace.trust)

    def taken(now: Workspace) -> Workspace:
        # Another pull may have brought a later one meanwhile.
        _check_place(now, name, manifest)
        return replace(now, provider=provider, current=CurrentRelease(name, release.digest))

    return workspace.update_settings(taken), release


@contextmanager
def _keep_metadata(workspace: Workspace, client: ReleaseClient, known: Trust | None) -> Iterator[None]:
    """Keeps the metadata that a pull has verified even where it fails: what was seen must not be unseen, nor a key come back."""
    try:
        yield
    except DeidError:
        # Before the first pull has succeeded nothing is pinned.
        if known is not None and (found := client.trust(known.source)) != known:
            found.save(workspace.trust)
        raise


def _place(source: str | None, known: Trust | None) -> str:
    if source is None:
        if known is None:
            raise SiteError("expected a folder or an address to pull from, got none; give it once, it is remembered")
        return known.source
    place = source if "://" in source else str(Path(source).resolve())
    # It will be remembered: what the file of trust can't hold is refused before anything is fetched.
    canonical_bytes(place)
    return place


def _check_place(workspace: Workspace, name: str, manifest: ReleaseManifest) -> None:
    if name != release_name(manifest.sequence, manifest.kind):
        raise SchemaError("a release of its own name", received="another", advice="tell the provider", place=name)
    check_sizes(manifest.files)
    if workspace.current is None:
        return
    used = int(workspace.current.folder.split("-")[0])
    if manifest.sequence < used:
        raise SiteError(
            f"expected release {used} or a later one, got {manifest.sequence}; ask the provider for the latest"
        )
    if manifest.sequence == used and manifest.digest != workspace.current.digest:
        raise SiteError(f"expected one release {used}, got a second one of that number; tell the provider")


def _present(workspace: Workspace, name: str, digest: str) -> VerifiedRelease | None:
    """The release, if an earlier pull has brought it and it is sound; else there is room for it."""
    folder = workspace.releases / name
    if not folder.exists():
        return None
    try:
        return verify_release(folder, digest)
    except (ProtocolError, StorageError):
        with map_os_errors(folder):
            shutil.rmtree(folder)
        return None


class _Known:
    """Files that the release in use holds already, by digest: word vectors seldom change, and they are large."""

    def __init__(self, workspace: Workspace) -> None:
        self._files: Mapping[str, Path] = {}
        try:
            release = workspace.release()
        except (SiteError, ProtocolError, StorageError):
            return
        self._files = {entry.sha256: release.path(name) for name, entry in release.manifest.files.items()}

    def copy(self, entry: FileEntry, path: Path) -> bool:
        """Whether the file was here and is now at `path` too."""
        source = self._files.get(entry.sha256)
        if source is None:
            return False
        with map_os_errors(path):
            shutil.copyfile(source, path)
        return True


@dataclass(frozen=True)
class _Reception:
    """How the files of a release come in."""

    client: ReleaseClient
    manifest: ReleaseManifest
    known: _Known
    embeddings: Path | None
    network: Network

    def into(self, incoming: Path) -> None:
        """Bring all files into a new folder, named like the release."""
        reference = self._reference(incoming.name)
        for name, entry in self.manifest.files.items():
            path = incoming / name
            with map_os_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            if self.known.copy(entry, path):
                continue
            if reference is not None and name == reference.file:
                self._obtain(reference, path)
            else:
                self.client.download(f"{incoming.name}/{name}", entry, path)

    def _reference(self, release: str) -> Reference | None:
        if REFERENCE not in self.manifest.files:
            return None
        reference = Reference.from_bytes(self.client.read(f"{release}/{REFERENCE}", MAX_DOCUMENT_BYTES))
        if self.manifest.files.get(reference.file) != reference.entry:
            raise SchemaError(
                "a reference to a file of the release", received="another", advice="tell the provider", place=REFERENCE
            )
        return reference

    def _obtain(self, reference: Reference, path: Path) -> None:
        """The file that the release refers to: given by a person, or from its public address."""
        with map_os_errors(path):
            if self.embeddings is not None:
                check_file(self.embeddings, reference.entry, self.embeddings.name)
                shutil.copyfile(self.embeddings, path)
            else:
                with path.open("xb") as file:
                    for chunk in self.network.fetch(reference.url, reference.entry.bytes):
                        file.write(chunk)
        check_file(path, reference.entry, reference.file)


def _take(incoming: Path, target: Path, manifest: ReleaseManifest) -> VerifiedRelease:
    """Verify a folder as a whole, load it once, and put it in its place."""
    verify_release(incoming, manifest.digest)
    # Whatever does not load, or is not what it says of itself, must not become the release in use.
    construction = load_construction(incoming)
    check_record(construction, incoming / RECORD)
    if manifest.kind == "pipeline":
        Pipeline(construction, load_head(incoming))
    with map_os_errors(target):
        for path in (*incoming.rglob("*"), incoming):
            flush(path)
        target.parent.mkdir(exist_ok=True)
        incoming.rename(target)
        flush(target.parent)
    return verify_release(target, manifest.digest)


@contextmanager
def _scratch(workspace: Workspace) -> Iterator[Path]:
    """A folder beside the releases, so that one rename takes a release in; what a pull that was killed left goes first."""
    folder = workspace.root / ".incoming"
    try:
        with map_os_errors(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
