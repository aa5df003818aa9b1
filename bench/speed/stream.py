"""The encrypted stream against the bare cipher on the same chunks; and beside it whole bundles, from file to file.

The stream reads from memory and its output is dropped, as that of the bare cipher is: what a disk takes is the disk's.
"""

from __future__ import annotations

import datetime
import io
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from bench.results import Entry
from bench.speed.ratio import ratio, seconds_by_turns
from foundation.reading import file_sha256
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.share.bundle import open_bundle, seal_bundle, verify_bundle
from protocols.share.manifest import ShareFields, ShareManifest
from protocols.share.manifest_envelope import seal_manifest
from protocols.share.sealing import manifest_path
from protocols.share.stream import CHUNK_BYTES, decrypt, encrypt

CHUNKS = 320
TURNS = 15
TARGET = 0.5
_DATA = f"{CHUNKS * CHUNK_BYTES >> 20} MiB of random bytes"
_NONCE = bytes(12)


def measure(folder: Path, command: str) -> list[Entry]:
    """Four ratios.

    Args:
        folder: for the files.
        command: to state in the entries.
    """
    key, site, recipient = os.urandom(32), PrivateKey.generate(), RecipientPrivateKey.generate()
    plain, bundle = folder / "plain", folder / "x.share"
    chunks = [os.urandom(CHUNK_BYTES) for _ in range(CHUNKS)]
    plain.write_bytes(b"".join(chunks))
    _sign(plain, site)
    source, sealed = io.BytesIO(plain.read_bytes()), io.BytesIO()
    encrypt(source, sealed, key, b"bench")
    aead = ChaCha20Poly1305(key)
    tagged = [aead.encrypt(_NONCE, chunk, None) for chunk in chunks]

    def bare_encryption() -> None:
        for chunk in chunks:
            aead.encrypt(_NONCE, chunk, None)

    def bare_decryption() -> None:
        for chunk in tagged:
            aead.decrypt(_NONCE, chunk, None)

    def encryption() -> None:
        source.seek(0)
        encrypt(source, _Dropped(), key, b"bench")

    def decryption() -> None:
        sealed.seek(0)
        decrypt(sealed, _Dropped(), key, b"bench")

    def sealing() -> None:
        seal_bundle(plain, bundle, key=site, recipient=recipient.public_key)

    def opening() -> None:
        keys = {_FIELDS["site"]: (site.public_key,)}
        verified = verify_bundle(bundle, public_keys=keys, recipient_id=recipient.public_key.key_id)
        open_bundle(verified, recipient, folder)

    taken = seconds_by_turns(
        {
            action.__name__: action
            for action in (bare_encryption, bare_decryption, encryption, decryption, sealing, opening)
        },
        TURNS,
    )
    memory = "the same chunks from memory, output dropped on both sides"
    digests = "from file to file, with signatures, SHA-256 of payload and ciphertext, and fsync"
    return [
        _entry("encryption of the stream", taken["bare_encryption"], taken["encryption"], TARGET, memory, command),
        _entry("decryption of the stream", taken["bare_decryption"], taken["decryption"], TARGET, memory, command),
        _entry("sealing of a bundle", taken["bare_encryption"], taken["sealing"], None, digests, command),
        _entry("verifying and opening of a bundle", taken["bare_decryption"], taken["opening"], None, digests, command),
    ]


class _Dropped:
    """A sink that keeps nothing."""

    def write(self, data: bytes, /) -> None:
        pass


def _entry(
    what: str, bare: Sequence[float], ours: Sequence[float], target: float | None, how: str, command: str
) -> Entry:
    found = ratio(bare, ours)
    speed = CHUNKS * CHUNK_BYTES / 1e6 / min(ours)
    note = f"{how}; best turn {speed:.0f} MB/s; interval: bootstrap over {TURNS} turns"
    return Entry(
        f"speed of {what} over bare ChaCha20-Poly1305",
        found.value,
        target,
        ">=" if target else "",
        "times",
        (found.low, found.high),
        TURNS,
        _DATA,
        command,
        note,
    )


def _sign(payload: Path, site: PrivateKey) -> None:
    """Puts a manifest beside a file that is no payload: bundles don't look inside."""
    manifest = ShareManifest(
        **_FIELDS,
        dim=50,
        dtype="float16",
        sentences=1,
        tokens=1,
        tag_counts=(1,),
        payload_format="parquet",
        payload_bytes=payload.stat().st_size,
        payload_sha256=file_sha256(payload),
    )
    manifest_path(payload).write_bytes(seal_manifest(manifest, site))


_FIELDS = vars(
    ShareFields(
        site="hospital-a",
        sequence=1,
        recipient=PrivateKey.generate().public_key.key_id,
        release="ab" * 32,
        label_scheme="bench",
        tags=1,
        value_bound=1.0,
        created=datetime.date(2026, 1, 31),
        software="bench",
        protection={},
    )
)
