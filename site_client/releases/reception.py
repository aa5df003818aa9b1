"""How the files of a release come in: from the releases that are here, the repository, a person, or the address that the release names."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from protocols.errors import ProtocolError, SchemaError
from protocols.release.manifest import FileEntry, ReleaseManifest
from protocols.release.repository import MAX_DOCUMENT_BYTES, REFERENCE, Reference
from protocols.release.verification import check_file
from shared.errors import ConfigurationError
from site_client.errors import SiteError
from site_client.releases.client import ReleaseClient
from site_client.releases.source import Network
from site_client.workspace import Workspace


class KnownFiles:
    """Files that the releases in use hold already, by digest: word vectors seldom change, and they are large."""

    def __init__(self, workspace: Workspace) -> None:
        self._files: dict[str, Path] = {}
        for find in (workspace.pipeline_release, workspace.release):
            with suppress(SiteError, ProtocolError, StorageError):
                release = find()
                self._files |= {entry.sha256: release.path(name) for name, entry in release.manifest.files.items()}

    def copy(self, entry: FileEntry, path: Path) -> bool:
        """Whether the file was here and is now at `path` too."""
        source = self._files.get(entry.sha256)
        if source is None:
            return False
        with map_os_errors(path):
            shutil.copyfile(source, path)
        return True


@dataclass(frozen=True)
class Reception:
    """How the files of a release come in; without a network nothing comes from another address than the release."""

    client: ReleaseClient
    manifest: ReleaseManifest
    known: KnownFiles
    embeddings: Path | None
    network: Network | None

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
        host, size = reference.url.split("/")[2], reference.entry.bytes
        if self.embeddings is None and self.network is None:
            raise ConfigurationError(
                f"{reference.file}: expected --embeddings FILE, since release {self.manifest.sequence} refers to this file at {host} and "
                f"nothing is fetched from a folder, got none; bring it ({size} bytes, SHA-256 {reference.entry.sha256}), and give it"
            )
        with map_os_errors(path):
            if self.embeddings is not None:
                check_file(self.embeddings, reference.entry, self.embeddings.name)
                shutil.copyfile(self.embeddings, path)
            elif self.network is not None:
                self.network.tell(
                    f"{reference.file} ({size} bytes) is fetched from {host}, where the release says it is"
                )
                with path.open("xb") as file:
                    for chunk in self.network.fetch(reference.url, size):
                        file.write(chunk)
        check_file(path, reference.entry, reference.file)
