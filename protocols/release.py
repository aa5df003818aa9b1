"""A release: a folder of safetensors and JSON with a signed list of its files.

`release.json` lists every file with size and digest; `release.signature.json` signs it. `verify_release` accepts a
folder that holds exactly the listed files and these two, all regular files, all as signed. Pickles, scripts and
whatever else is not of the known kinds have no place in a release, listed or not.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import DigestError, SchemaError, SignatureError, StorageError, TruncatedError, UnsignedError
from protocols.release_files import check_names, check_tensors, listed
from protocols.release_manifest import MAX_RELEASE_BYTES, FileEntry, ReleaseFields, ReleaseManifest
from protocols.signing import RELEASE_CONTEXT, PrivateKey, PublicKey, Signature
from protocols.storage import file_sha256, flush, read_bounded, regular_size, storage_error, write_whole

MANIFEST_NAME = "release.json"
SIGNATURE_NAME = "release.signature.json"
_OWN = {MANIFEST_NAME, SIGNATURE_NAME}
_MAX_SIGNATURE_BYTES = 1024


@dataclass(frozen=True)
class VerifiedRelease:
    """A release that passed every check; made by `verify_release` only.

    Args:
        folder: where it lies.
        manifest: what the provider signed.
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


def seal_release(folder: Path, fields: ReleaseFields, key: PrivateKey) -> VerifiedRelease:
    """Lists the files of `folder`, writes and signs `release.json`. A list from before is replaced.

    Raises:
        SchemaError: a file that no release may hold.
        StorageError: the disk is full.
    """
    names = [name for name in listed(folder) if name not in _OWN]
    check_names(names, folder.name)
    if not names:
        raise SchemaError("at least one file", received="none", advice="check the folder", place=folder.name)
    files = {}
    for name in names:
        path = folder / name
        _check_kind(path)
        files[name] = FileEntry(regular_size(path), file_sha256(path))
    manifest = ReleaseManifest(**vars(fields), files=files, provider=key.public_key.key_id)
    data = manifest.to_bytes()
    signature = key.sign(RELEASE_CONTEXT, data)
    write_whole(folder / MANIFEST_NAME, data)
    write_whole(folder / SIGNATURE_NAME, canonical_bytes(signature.to_json()))
    return verify_release(folder, key.public_key)


def verify_release(folder: Path, public_key: PublicKey) -> VerifiedRelease:
    """Verifies a release: signature, then manifest, then the list of files, then every file.

    Args:
        folder: the release.
        public_key: the provider's key, got over another way than the release.

    Raises:
        UnsignedError: there is no signature.
        SignatureError: signed by another key, or changed since.
        SchemaError: unlisted or missing files, links, names or kinds that no release may hold.
        DigestError: a file whose bytes are not those signed.
    """
    manifest, digest = _open_manifest(folder, public_key)
    found = set(listed(folder)) - _OWN
    unlisted, missing = sorted(found - set(manifest.files)), sorted(set(manifest.files) - found)
    if unlisted or missing:
        raise SchemaError(
            "exactly the files that the release lists",
            received=f"{len(unlisted)} unlisted, {len(missing)} missing {missing[:1]}".replace(" []", ""),
            advice="pull the release again", place=folder.name,
        )  # fmt: skip
    for name, entry in manifest.files.items():
        size = regular_size(folder / name)
        if size != entry.bytes:
            kind = TruncatedError if size < entry.bytes else DigestError
            raise kind(f"{entry.bytes} bytes", received=str(size), advice="pull the release again", place=name)
        if file_sha256(folder / name) != entry.sha256:
            raise _other_bytes(name)
        _check_kind(folder / name)
    return VerifiedRelease(folder, manifest, digest)


def copy_release(source: Path, target: Path, public_key: PublicKey) -> VerifiedRelease:
    """Copies a release so that `target` is a verified release or does not exist.

    The source is verified, its listed files are copied beside `target`, the COPY is verified and renamed. A `target`
    that is the same release already is left as it is.

    Raises:
        StorageError: `target` is something else, or the disk is full.
        ProtocolError: as `verify_release`.
    """
    release = verify_release(source, public_key)
    if target.exists() or target.is_symlink():
        return _same_release(target, release.digest, public_key)
    staging = target.parent / f".{target.name}.{secrets.token_hex(8)}.partial"
    try:
        staging.mkdir(parents=False)
        for name in (*release.manifest.files, *sorted(_OWN)):
            _copy_file(source / name, staging / name)
        for folder in (staging, *(path for path in staging.rglob("*") if path.is_dir())):
            flush(folder)
        if verify_release(staging, public_key).digest != release.digest:
            raise _other_bytes(MANIFEST_NAME)
        staging.rename(target)
        flush(target.parent)
    except OSError as error:
        raise storage_error(error, target) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return VerifiedRelease(target, release.manifest, release.digest)


def _open_manifest(folder: Path, public_key: PublicKey) -> tuple[ReleaseManifest, str]:
    for name in (MANIFEST_NAME, SIGNATURE_NAME):
        path = folder / name
        if path.is_symlink() or not path.exists():
            kind = UnsignedError if name == SIGNATURE_NAME else SchemaError
            raise kind(f"{name} in the folder", received="none", advice="pull the release again", place=folder.name)
    value = parse_canonical(
        read_bounded(folder / SIGNATURE_NAME, _MAX_SIGNATURE_BYTES), max_bytes=_MAX_SIGNATURE_BYTES,
        place=SIGNATURE_NAME,
    )  # fmt: skip
    signature = Signature.from_json(value, SIGNATURE_NAME)
    data = read_bounded(folder / MANIFEST_NAME, MAX_RELEASE_BYTES)
    public_key.verify(RELEASE_CONTEXT, data, signature)
    manifest = ReleaseManifest.from_bytes(data, MANIFEST_NAME)
    if manifest.provider != public_key.key_id:
        raise SignatureError(
            "a release of the key that signed it", received="another provider", advice="refuse it", place=folder.name
        )
    return manifest, hashlib.sha256(data).hexdigest()


def _check_kind(path: Path) -> None:
    if path.suffix == ".safetensors":
        check_tensors(path)


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target, follow_symlinks=False)
    flush(target)


def _same_release(target: Path, digest: str, public_key: PublicKey) -> VerifiedRelease:
    if target.is_dir() and (target / MANIFEST_NAME).exists():
        existing = verify_release(target, public_key)
        if existing.digest == digest:
            return existing
    raise StorageError(
        "a new folder, or the same release", received="something else there", advice="choose another folder",
        place=target.name,
    )  # fmt: skip


def _other_bytes(name: str) -> DigestError:
    return DigestError(
        "the bytes that were signed for", received="other bytes", advice="pull the release again", place=name
    )


__all__ = [
    "MANIFEST_NAME",
    "SIGNATURE_NAME",
    "ReleaseFields",
    "ReleaseManifest",
    "VerifiedRelease",
    "copy_release",
    "seal_release",
    "verify_release",
]
