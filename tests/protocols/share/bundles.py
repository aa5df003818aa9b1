"""Sealed bundles of invented shares, and what dishonest sites make of them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foundation.reading import file_sha256
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.share.bundle import BundleHeader, VerifiedBundle, read_header, seal_bundle, verify_bundle
from protocols.share.manifest import ShareManifest
from protocols.share.manifest_envelope import seal_manifest
from protocols.share.sealing import manifest_path
from tests.protocols.payload.blocks import rewrite
from tests.protocols.share.shares import FIELDS, KEY, KEYS, sealed

RECIPIENT = RecipientPrivateKey.from_seed(bytes(range(32)))
OTHER_RECIPIENT = RecipientPrivateKey.from_seed(bytes(range(1, 33)))


def bundled(folder: Path, **changes: Any) -> Path:
    """The bundle of a small, sound share."""
    out = folder / "hospital-a-1.share"
    seal_bundle(sealed(folder, **changes), out, key=KEY, recipient=RECIPIENT.public_key)
    return out


def bulk(folder: Path, size: int) -> Path:
    """A payload of `size` bytes that no reader would take, under a manifest signed for it: bundles don't look inside."""
    payload = folder / "bulk"
    with payload.open("wb") as file:
        for start in range(0, size, 1 << 16):
            file.write(bytes([start >> 16 & 0xFF]) * min(1 << 16, size - start))
    manifest = ShareManifest(
        **vars(FIELDS),
        dim=6,
        dtype="float16",
        sentences=3,
        tokens=9,
        tag_counts=(5, 1, 1, 2, 0),
        payload_format="parquet",
        payload_bytes=size,
        payload_sha256=file_sha256(payload),
    )
    manifest_path(payload).write_bytes(seal_manifest(manifest, KEY))
    return payload


def verified(path: Path, recipient: RecipientPrivateKey = RECIPIENT) -> VerifiedBundle:
    return verify_bundle(path, public_keys=KEYS, recipient_id=recipient.public_key.key_id)


def parts(path: Path) -> tuple[BundleHeader, bytes]:
    """Header and ciphertext."""
    header = read_header(path)
    return header, path.read_bytes()[len(header.to_bytes()) :]


def resealed(
    path: Path, change: Callable[[bytes], bytes] = bytes, key: PrivateKey = KEY, **stated: Any
) -> BundleHeader:
    """Changes ciphertext and header and signs them again, as a dishonest site would."""
    header, ciphertext = parts(path)
    ciphertext = change(ciphertext)
    stated = {
        "ciphertext_bytes": len(ciphertext),
        "ciphertext_sha256": hashlib.sha256(ciphertext).hexdigest(),
        **stated,
    }
    header = dataclasses.replace(header, **stated).sign(key)
    rewrite(path, header.to_bytes() + ciphertext)
    return header
