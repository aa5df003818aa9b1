"""A share on its way: one encrypted file, whether it travels over HTTPS or on a stick.

The ciphertext (see `protocols.share.bundle_header` for what stands ahead of it) is a stream of `protocols.share.stream` over the
length of the signed manifest as 4 bytes (highest first), the signed manifest exactly as it lies beside the local payload,
and the payload. The key of the stream is fresh and wrapped for the provider by `protocols.keys.recipient`; wrapped key and
chunks are bound to format, site, number and recipient.

Signatures are checked on both sides of the encryption, for it does not say who encrypted. The outer one covers the
digest of the ciphertext: what is not from an enrolled site dies before anything is decrypted. The inner one covers the
share, and names the provider that it is meant for: who has decrypted a share can't pass it on as if the site had sent it
there. Both are made with the same key of the site.

`verify_bundle` comes first, then `open_bundle`, which decrypts into a staging folder. Assumption: no one else writes
there. Memory stays the same at any size.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from foundation.files import stage_file, write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.errors import (
    BoundsError,
    DigestError,
    MismatchError,
    OtherRecipientError,
    TruncatedError,
)
from protocols.keys.recipient import RecipientPrivateKey, RecipientPublicKey
from protocols.keys.signing import BUNDLE_CONTEXT, PrivateKey, PublicKey, Signature, signer
from protocols.share.bundle_header import BundleHeader, read_header, stream_binding
from protocols.share.manifest import ShareManifest
from protocols.share.manifest_envelope import MAX_ENVELOPE_BYTES, parse_manifest, verify_manifest
from protocols.share.sealing import manifest_path, read_envelope
from protocols.share.stream import KEY_BYTES, ciphertext_size, decrypt, encrypt

_LENGTH_BYTES = 4
_PAYLOAD = "payload"
_READ_BYTES = 1 << 18


@dataclass(frozen=True)
class VerifiedBundle:
    """A bundle whose outside passed every check; made by `verify_bundle` only. Nothing of it is decrypted yet.

    Args:
        header: what the site signed.
        key: the key that signed it.
        path: the file.
        sha256: digest of the whole file.
    """

    header: BundleHeader
    key: PublicKey
    path: Path
    sha256: str


def seal_bundle(
    payload_path: Path, out: Path, *, key: PrivateKey, recipient: RecipientPublicKey, envelope: bytes | None = None
) -> BundleHeader:
    """Encrypts a local share and signs the outside.

    Args:
        payload_path: the payload; its signed manifest lies beside it.
        out: the file to write.
        key: the site's key, which signed the manifest.
        recipient: the provider's encryption key.
        envelope: the signed manifest that somebody has looked at, of which nothing else may take the place; None for the
            one that lies there now.

    Raises:
        SignatureError: another key signed the manifest.
        DigestError: the payload is not the one that was signed.
        StorageError: the disk is full; nothing half-written stays.
    """
    place = manifest_path(payload_path).name
    envelope = envelope or read_envelope(payload_path)
    manifest, _ = verify_manifest(envelope, {parse_manifest(envelope, place).site: (key.public_key,)}, place)
    stream_key = secrets.token_bytes(KEY_BYTES)
    binding = stream_binding(manifest.site, manifest.sequence, recipient.key_id)
    # Every field that is not known yet has its final length, so that the ciphertext can be written behind it.
    header = BundleHeader(
        site=manifest.site,
        sequence=manifest.sequence,
        recipient=recipient.key_id,
        encapsulated=recipient.wrap(stream_key, binding),
        ciphertext_bytes=ciphertext_size(_LENGTH_BYTES + len(envelope) + manifest.payload_bytes),
        ciphertext_sha256="0" * 64,
        signature=Signature(BUNDLE_CONTEXT, key.public_key.key_id, bytes(64)),
    )
    with (
        stage_file(out) as temporary,
        map_os_errors(payload_path),
        payload_path.open("rb") as payload,
        temporary.open("wb") as file,
    ):
        source, sink = _Packed(envelope, payload), _Hashed(file)
        file.write(header.to_bytes())
        encrypt(source, sink, stream_key, binding)
        _check_payload(manifest, source.payload_bytes, source.digest.hexdigest(), payload_path.name)
        header = replace(header, ciphertext_sha256=sink.digest.hexdigest()).sign(key)
        file.seek(0)
        file.write(header.to_bytes())
    return header


def verify_bundle(path: Path, *, public_keys: Mapping[str, Sequence[PublicKey]], recipient_id: str) -> VerifiedBundle:
    """Verifies the outside of a bundle: header, site, signature, recipient, then size and digest of the ciphertext.

    Args:
        path: the file.
        public_keys: the keys that each site may sign with today, by name of the site.
        recipient_id: id of the encryption key of the receiver.

    Raises:
        ProtocolError: one of its kinds for each check that fails.
    """
    header = read_header(path)
    key = signer(public_keys, header.site, header.signature, path.name)
    header.verify(key)
    _check_recipient(header, recipient_id, path.name)
    start = header.to_bytes()
    size, stated = regular_size(path), len(start) + header.ciphertext_bytes
    if size != stated:
        kind = TruncatedError if size < stated else DigestError
        raise kind(f"{stated} bytes", received=str(size), advice="send the file again", place=path.name)
    ciphertext, whole = hashlib.sha256(), hashlib.sha256(start)
    with map_os_errors(path), path.open("rb", buffering=0) as file:
        file.seek(len(start))
        while chunk := file.read(_READ_BYTES):
            ciphertext.update(chunk)
            whole.update(chunk)
    if ciphertext.hexdigest() != header.ciphertext_sha256:
        raise _other_bytes(path.name)
    return VerifiedBundle(header, key, path, whole.hexdigest())


def open_bundle(bundle: VerifiedBundle, recipient: RecipientPrivateKey, folder: Path) -> Path:
    """Decrypts a bundle, and verifies the signed manifest in it and the digest of the payload.

    The payload is NOT parsed, and whether the share was meant for this provider is for `protocols.share.sealing.open_share` to
    check, whose `ShareExpectation` names the recipient.

    Args:
        bundle: verified.
        recipient: the receiver's encryption key.
        folder: where payload and manifest will lie; nobody looks at it before this returns.

    Returns:
        the payload; its manifest lies beside it.

    Raises:
        OtherRecipientError: encrypted for another key.
        EncryptionError: not the bytes that were encrypted.
        SignatureError: the manifest is not signed by the key that signed the outside.
        MismatchError, BoundsError, DigestError: the inside is not what the outside or the manifest says.
        StorageError: the disk is full. Whatever is raised, no payload stays in `folder`.
    """
    header, place = bundle.header, bundle.path.name
    _check_recipient(header, recipient.public_key.key_id, place)
    stream_key = recipient.unwrap(header.encapsulated, header.binding)
    target = folder / _PAYLOAD
    with stage_file(target) as temporary:
        with map_os_errors(bundle.path), bundle.path.open("rb") as file, temporary.open("wb") as payload:
            file.seek(len(header.to_bytes()))
            unpacked = _Unpacked(payload, place)
            decrypt(file, unpacked, stream_key, header.binding)
        manifest, _ = verify_manifest(unpacked.envelope, {header.site: (bundle.key,)}, place)
        if manifest.sequence != header.sequence:
            raise MismatchError(
                f"share {header.sequence} inside too",
                received=f"share {manifest.sequence}",
                advice="refuse the file",
                place=place,
            )
        _check_payload(manifest, unpacked.payload_bytes, unpacked.digest.hexdigest(), place)
        write_bytes(manifest_path(target), unpacked.envelope)
    return target


class _Hashed:
    """Hashes what it passes on."""

    def __init__(self, file: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self._file = file

    def write(self, data: bytes, /) -> None:
        self.digest.update(data)
        self._file.write(data)


class _Packed:
    """The plaintext of a bundle as a file to read: length, signed manifest, payload."""

    def __init__(self, envelope: bytes, payload: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self.payload_bytes = 0
        self._head = io.BytesIO(len(envelope).to_bytes(_LENGTH_BYTES, "big") + envelope)
        self._payload = payload

    def read(self, size: int, /) -> bytes:
        if head := self._head.read(size):
            return head
        data = self._payload.read(size)
        self.digest.update(data)
        self.payload_bytes += len(data)
        return data


class _Unpacked:
    """Takes the plaintext of a bundle apart as it comes: the signed manifest into memory, the payload into a file."""

    def __init__(self, payload: BinaryIO, place: str) -> None:
        self.digest = hashlib.sha256()
        self.payload_bytes = 0
        self.envelope = b""
        self._head = b""
        self._payload = payload
        self._place = place

    def write(self, data: bytes, /) -> None:
        if not self.envelope:
            self._head += data
            end = _LENGTH_BYTES + int.from_bytes(self._head[:_LENGTH_BYTES], "big")
            if len(self._head) < _LENGTH_BYTES:
                return
            # Nor none: the head would never end, and grow by all that follows.
            if not _LENGTH_BYTES < end <= _LENGTH_BYTES + MAX_ENVELOPE_BYTES:
                raise BoundsError(
                    f"a manifest of 1 to {MAX_ENVELOPE_BYTES} bytes",
                    received=f"{end - _LENGTH_BYTES}",
                    advice="refuse the file",
                    place=self._place,
                )
            if len(self._head) < end:
                return
            self.envelope, data = self._head[_LENGTH_BYTES:end], self._head[end:]
        self.digest.update(data)
        self.payload_bytes += len(data)
        self._payload.write(data)


def _check_recipient(header: BundleHeader, key_id: str, place: str) -> None:
    if header.recipient != key_id:
        raise OtherRecipientError(
            f"a bundle for encryption key {key_id}",
            received=f"one for {header.recipient}",
            advice="pull the provider's present keys and seal the share again",
            place=place,
        )


def _check_payload(manifest: ShareManifest, size: int, sha256: str, place: str) -> None:
    if size != manifest.payload_bytes or sha256 != manifest.payload_sha256:
        raise _other_bytes(place)


def _other_bytes(place: str) -> DigestError:
    return DigestError(
        "the bytes that were signed for", received="other bytes", advice="send the file again", place=place
    )


__all__ = ["BundleHeader", "VerifiedBundle", "open_bundle", "read_header", "seal_bundle", "verify_bundle"]
