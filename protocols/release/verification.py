"""A release: a folder of safetensors and JSON with a list of its files.

`release.json` lists every file with size and digest; its own SHA-256 is the digest of the release, which shares name and
which the release repository signs for (`protocols.release.repository`). `verify_release` accepts a folder that holds
exactly the listed files and the list, all regular files, all as listed. Pickles, scripts and whatever else is not of
the known kinds have no place in a release, listed or not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from foundation.reading import file_sha256, regular_size
from protocols.bounded_reading import read_bounded
from protocols.errors import DigestError, SchemaError, TruncatedError
from protocols.release.files import check_names, check_tensors, list_files
from protocols.release.manifest import MAX_RELEASE_BYTES, FileEntry, ReleaseFields, ReleaseManifest

MANIFEST_NAME = "release.json"


@dataclass(frozen=True)
class VerifiedRelease:
    """A release that passed every check; made by `verify_release` only.

    Args:
        folder: where it lies.
        manifest: what the provider stated.
        digest: SHA-256 of `release.json`, the identity of the release.
    """

    folder: Path
    manifest: ReleaseManifest
    digest: str

    def path(self, name: str) -> Path:
        """The file `name`.

        Raises:
            SchemaError: the release lists no such file.
        """
        if name not in self.manifest.files:
            raise SchemaError(
                "a file that the release lists", received=name, advice="use another release", place=self.manifest.name
            )
        return self.folder / name

    def read(self, name: str) -> bytes:
        """All bytes of the file `name`, checked again as they are read: what is used is what was signed.

        Raises:
            SchemaError: the release lists no such file.
            DigestError: the file has changed since.
        """
        path, entry = self.path(name), self.manifest.files[name]
        data = read_bounded(path, entry.bytes)
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            raise _other_bytes(name)
        return data


def list_release(folder: Path, fields: ReleaseFields, provider: str) -> VerifiedRelease:
    """Lists the files of `folder` in `release.json`. A list from before is replaced.

    Args:
        folder: the files.
        fields: what the provider states.
        provider: id of the provider's signing key.

    Raises:
        SchemaError: a file that no release may hold.
        StorageError: the disk is full.
    """
    names = [name for name in list_files(folder) if name != MANIFEST_NAME]
    check_names(names, folder.name)
    if not names:
        raise SchemaError("at least one file", received="none", advice="check the folder", place=folder.name)
    files = {}
    for name in names:
        path = folder / name
        _check_kind(path)
        files[name] = FileEntry(regular_size(path), file_sha256(path))
    manifest = ReleaseManifest(**vars(fields), files=files, provider=provider)
    write_bytes(folder / MANIFEST_NAME, manifest.to_bytes())
    return verify_release(folder, manifest.digest)


def verify_release(folder: Path, digest: str) -> VerifiedRelease:
    """Verifies a release: the list of files, then every file.

    Args:
        folder: the release.
        digest: of the release, from where it can be trusted: the release repository or the reader's own settings.

    Raises:
        DigestError: another `release.json`, or a file whose bytes are not those listed.
        SchemaError: unlisted or missing files, links, names or kinds that no release may hold.
    """
    path = folder / MANIFEST_NAME
    if path.is_symlink() or not path.exists():
        raise SchemaError(
            f"{MANIFEST_NAME} in the folder", received="none", advice="pull the release again", place=folder.name
        )
    data = read_bounded(path, MAX_RELEASE_BYTES)
    if hashlib.sha256(data).hexdigest() != digest:
        raise _other_bytes(MANIFEST_NAME)
    manifest = ReleaseManifest.from_bytes(data, MANIFEST_NAME)
    found = set(list_files(folder)) - {MANIFEST_NAME}
    unlisted, missing = sorted(found - set(manifest.files)), sorted(set(manifest.files) - found)
    if unlisted or missing:
        raise SchemaError(
            "exactly the files that the release lists",
            received=f"{len(unlisted)} unlisted, {len(missing)} missing {missing[:1]}".replace(" []", ""),
            advice="pull the release again",
            place=folder.name,
        )
    for name, entry in manifest.files.items():
        check_file(folder / name, entry, name)
        _check_kind(folder / name)
    return VerifiedRelease(folder, manifest, digest)


def check_file(path: Path, entry: FileEntry, name: str) -> None:
    """Returns if a file is the one that was listed.

    Raises:
        TruncatedError, DigestError: it is not.
    """
    size = regular_size(path)
    if size != entry.bytes:
        kind = TruncatedError if size < entry.bytes else DigestError
        raise kind(f"{entry.bytes} bytes", received=str(size), advice="pull the release again", place=name)
    if file_sha256(path) != entry.sha256:
        raise _other_bytes(name)


def _check_kind(path: Path) -> None:
    if path.suffix == ".safetensors":
        check_tensors(path)


def _other_bytes(name: str) -> DigestError:
    return DigestError(
        "the bytes that were signed for", received="other bytes", advice="pull the release again", place=name
    )


__all__ = ["MANIFEST_NAME", "ReleaseFields", "ReleaseManifest", "VerifiedRelease", "list_release", "verify_release"]
