"""Shares: verified before they are taken in, whole or not at all, and listed from the disk.

An accepted share is a folder named by the digest of its payload, so the same bytes can be accepted only once. It comes
into being by one rename, after every check; a crash before that leaves nothing that counts.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import RegistryError, WorkspaceError
from aggregator.releases import compatible_releases
from aggregator.sites import site_keys
from aggregator.workspace import Workspace
from protocols.errors import BoundsError, DigestError, OtherReleaseError
from protocols.manifest import ShareManifest
from protocols.share import ShareExpectation, check_fresh, manifest_path, open_share, read_manifest
from shared.files import new_folder, storage_error
from shared.models.storage import load_representer
from shared.privacy.enforcement import MAX_FACTOR, raised_value_bound

_PAYLOAD = "payload"


@dataclass(frozen=True)
class Share:
    """An accepted share.

    Args:
        folder: where it lies.
        payload: its tensors.
        manifest: what the site signed.
    """

    folder: Path
    payload: Path
    manifest: ShareManifest

    @property
    def site(self) -> str:
        return self.manifest.site

    @property
    def sequence(self) -> int:
        return self.manifest.sequence

    @property
    def digest(self) -> str:
        return self.manifest.payload_sha256


def accepted_shares(workspace: Workspace) -> list[Share]:
    """All accepted shares, by site and sequence number."""
    return sorted(_shares(workspace), key=lambda share: (share.site, share.sequence))


def _shares(workspace: Workspace) -> Iterator[Share]:
    folders = workspace.shares.iterdir() if workspace.shares.exists() else ()
    for folder in folders:
        if not folder.name.startswith("."):
            payload = next((path for path in folder.iterdir() if path.stem == _PAYLOAD), None)
            if payload is None:
                raise WorkspaceError(
                    f"share {folder.name[:12]}: expected its payload, found none; restore or remove the folder"
                )
            yield Share(folder, payload, read_manifest(payload))


def find_share(workspace: Workspace, name: str) -> Share:
    """The share whose digest starts with `name`.

    Raises:
        RegistryError: there is none, or more than one.
    """
    found = [share for share in accepted_shares(workspace) if share.digest.startswith(name)]
    if len(found) != 1:
        raise RegistryError(
            f"{name}: expected the start of one share's digest, found {len(found)}; see `aggregator shares list`"
        )
    return found[0]


def ingest(workspace: Workspace, path: Path) -> Share:
    """Verify a share and take it in.

    The files are copied first and verified where they then lie, so that nobody can exchange them in between.

    Args:
        workspace: where to.
        path: the payload; its manifest lies beside it.

    Raises:
        ProtocolError: it is damaged, not signed by an enrolled site, of another release, or there already.
        StorageError: the disk is full.
    """
    digest = read_manifest(path).payload_sha256
    target = workspace.shares / digest
    earlier = accepted_shares(workspace)
    with new_folder(target, replace=False) as staged:
        payload = staged / f"{_PAYLOAD}{path.suffix}"
        try:
            shutil.copyfile(path, payload)
            shutil.copyfile(manifest_path(path), manifest_path(payload))
        except OSError as error:
            raise storage_error(path, error) from error
        manifest = _verified(workspace, payload)
        if manifest.payload_sha256 != digest:
            raise DigestError(
                "the share that was named first", received="another", advice="ingest it again", place=path.name
            )
        check_fresh(
            manifest,
            sequences={share.sequence for share in earlier if share.site == manifest.site},
            digests={share.digest for share in earlier},
        )
    return Share(target, target / payload.name, manifest)


def _verified(workspace: Workspace, payload: Path) -> ShareManifest:
    compatible = compatible_releases(workspace)
    representer = load_representer(next(iter(compatible.values())).folder)
    expected = ShareExpectation(
        label_scheme=workspace.scheme.name, tags=len(workspace.scheme.tags), dim=representer.config.dim
    )
    manifest = open_share(payload, public_keys=site_keys(workspace), expected=expected).manifest
    if manifest.release not in compatible:
        raise OtherReleaseError(
            "a share made with a release of the representer published last",
            received=f"release {manifest.release[:12]}",
            advice="pull the release and encode the notes again",
            place=payload.name,
        )
    # A site may raise the noise of its sentences.
    most = raised_value_bound(representer, MAX_FACTOR)
    if manifest.value_bound > most * (1 + 1e-6):
        raise BoundsError(
            f"a value bound of {most:.4g} at most, that of the representer",
            received=f"{manifest.value_bound:.4g}",
            advice="encode the notes again",
            place=payload.name,
        )
    return manifest
