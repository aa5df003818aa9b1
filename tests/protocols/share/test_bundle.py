"""Sealing, verifying and opening bundles; one test an attack."""

from __future__ import annotations

import hashlib
import io
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import (
    BoundsError,
    DigestError,
    EncryptionError,
    MismatchError,
    OtherRecipientError,
    ProtocolError,
    SchemaError,
    SignatureError,
    TruncatedError,
    UnknownSignerError,
    UnsignedError,
    VersionError,
)
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.share.bundle import _Unpacked, open_bundle, read_header, seal_bundle, verify_bundle
from protocols.share.bundle_header import MAGIC, MAX_HEADER_BYTES, stream_binding
from protocols.share.sealing import ShareExpectation, manifest_path, open_share, read_envelope, read_manifest
from protocols.share.stream import CHUNK_BYTES, TAG_BYTES, encrypt
from tests.protocols.payload.blocks import full_disk, rewrite
from tests.protocols.share.bundles import OTHER_RECIPIENT, RECIPIENT, bulk, bundled, parts, resealed, verified
from tests.protocols.share.shares import FIELDS, KEY, KEYS, OTHER_KEY, PROVIDER, resign, sealed

CHUNK = CHUNK_BYTES + TAG_BYTES


def opened(path: Path, recipient: RecipientPrivateKey = RECIPIENT) -> Path:
    folder = path.parent / "staging"
    folder.mkdir(exist_ok=True)
    return open_bundle(verified(path), recipient, folder)


def refused_inside(path: Path, error: type[ProtocolError]) -> None:
    """The outside passes, the inside does not, and no payload is left."""
    with pytest.raises(error):
        opened(path)
    assert not [name for name in os.listdir(path.parent / "staging") if not name.endswith(".manifest.json")]


def flipped(data: bytes, offset: int, flip: int = 1) -> bytes:
    return data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1 :]


@pytest.mark.parametrize("suffix", [".parquet", ".h5"])
def test_what_comes_out_is_the_local_share_byte_for_byte(tmp_path: Path, suffix: str) -> None:
    path = bundled(tmp_path, suffix=suffix)
    share, bundle = tmp_path / f"share{suffix}", verified(path)
    assert (bundle.header.site, bundle.header.sequence, bundle.key) == ("hospital-a", 1, KEY.public_key)
    assert bundle.sha256 == file_sha256(path)
    payload = opened(path)
    assert payload.read_bytes() == share.read_bytes()
    assert manifest_path(payload).read_bytes() == manifest_path(share).read_bytes()
    assert sorted(os.listdir(payload.parent)) == sorted([payload.name, manifest_path(payload).name])
    expected = ShareExpectation(recipient=PROVIDER.public_key.key_id, release=FIELDS.release)
    assert open_share(payload, public_keys=KEYS, expected=expected).manifest == read_manifest(share)


def test_the_oracle_opens_it_with_cryptography_alone(tmp_path: Path) -> None:
    share = bulk(tmp_path, 2 * CHUNK_BYTES)
    seal_bundle(share, tmp_path / "x.share", key=KEY, recipient=RECIPIENT.public_key)
    data = (tmp_path / "x.share").read_bytes()
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "big")
    start = len(MAGIC) + 4 + size
    header = parse_canonical(data[len(MAGIC) + 4 : start], max_bytes=1 << 16)
    assert isinstance(header, dict)
    names = ("format_version", "recipient", "sequence", "site")
    binding = b"deid-commons bundle v2\x00" + canonical_bytes({name: header[name] for name in names})
    aead = ChaCha20Poly1305(RECIPIENT.unwrap(bytes.fromhex(str(header["encapsulated"])), binding))
    chunks = [data[place : place + CHUNK] for place in range(start, len(data), CHUNK)]
    plain = b"".join(
        aead.decrypt(number.to_bytes(11, "big") + bytes([chunk is chunks[-1]]), chunk, binding)
        for number, chunk in enumerate(chunks)
    )
    envelope = manifest_path(share).read_bytes()
    assert plain == len(envelope).to_bytes(4, "big") + envelope + share.read_bytes()
    assert header["ciphertext_sha256"] == hashlib.sha256(data[start:]).hexdigest()


def test_two_bundles_of_one_share_have_nothing_in_common(tmp_path: Path) -> None:
    (first, one), (second, two) = parts(bundled(tmp_path)), parts(bundled(tmp_path))
    assert first.encapsulated != second.encapsulated
    assert one[:64] != two[:64]


def test_the_length_of_the_header_does_not_depend_on_what_is_encrypted(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    header = resealed(path, lambda data: data[::-1])
    assert len(header.to_bytes()) == len(read_header(path).to_bytes())


def test_every_flipped_byte_of_the_header_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    data = path.read_bytes()
    for offset in range(len(read_header(path).to_bytes())):
        rewrite(path, flipped(data, offset, 1 << offset % 8))
        with pytest.raises(ProtocolError):
            verified(path)


def test_every_truncation_of_the_header_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    data = path.read_bytes()
    for end in range(len(read_header(path).to_bytes())):
        rewrite(path, data[:end])
        with pytest.raises(TruncatedError):
            verified(path)


def test_junk_dies_before_anything_is_decrypted(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    data = path.read_bytes()
    start = len(read_header(path).to_bytes())
    for offset in {start, len(data) - 1, *range(start, len(data), 97)}:
        rewrite(path, flipped(data, offset))
        with pytest.raises(DigestError):
            verified(path)


def test_truncation_at_every_chunk_edge_and_one_byte_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.share"
    seal_bundle(bulk(tmp_path, 3 * CHUNK_BYTES), path, key=KEY, recipient=RECIPIENT.public_key)
    data, (header, ciphertext) = path.read_bytes(), parts(path)
    start = len(data) - len(ciphertext)
    edges = [*range(0, len(ciphertext), CHUNK), len(ciphertext)]
    for end in sorted({edge + beside for edge in edges for beside in (-1, 0, 1)}):
        if start + end == len(data):
            continue
        rewrite(path, (data + b"\x00")[: start + end])
        with pytest.raises(DigestError if end > len(ciphertext) else TruncatedError):
            verified(path)
        if end >= TAG_BYTES:
            # And where the site itself vouches for the cut file, the stream refuses it.
            rewrite(path, data)
            resealed(path, lambda data, end=end: (data + b"\x00")[:end])  # type: ignore[misc]
            refused_inside(path, EncryptionError)
    rewrite(path, data)
    assert read_header(path) == header
    opened(path)


def test_chunks_that_were_swapped_dropped_doubled_or_appended_are_refused_though_the_site_vouches(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.share"
    seal_bundle(bulk(tmp_path, 3 * CHUNK_BYTES), path, key=KEY, recipient=RECIPIENT.public_key)
    data = path.read_bytes()

    def chunks(*numbers: int) -> None:
        rewrite(path, data)
        resealed(path, lambda data: b"".join(data[number * CHUNK : (number + 1) * CHUNK] for number in numbers))

    for numbers in ((1, 0, 2, 3), (1, 2, 3), (0, 2, 3), (0, 1, 2), (0, 0, 1, 2, 3), (0, 1, 2, 3, 3), (0, 3)):
        chunks(*numbers)
        refused_inside(path, EncryptionError)
    chunks(0, 1, 2, 3)
    opened(path)


def test_a_stream_of_another_bundle_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    _, ciphertext = parts(path)
    other = bundled(tmp_path)
    resealed(other, lambda data: ciphertext)
    refused_inside(other, EncryptionError)


@pytest.mark.parametrize("change", [{"sequence": 2}, {"site": "hospital-c"}])
def test_the_stream_is_bound_to_site_and_number(tmp_path: Path, change: dict[str, Any]) -> None:
    path = bundled(tmp_path)
    resealed(path, **change)
    keys = {**KEYS, "hospital-c": (KEY.public_key,)}
    bundle = verify_bundle(path, public_keys=keys, recipient_id=RECIPIENT.public_key.key_id)
    with pytest.raises(EncryptionError):
        open_bundle(bundle, RECIPIENT, tmp_path)


def test_a_bundle_for_another_recipient_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    with pytest.raises(OtherRecipientError):
        verified(path, OTHER_RECIPIENT)
    with pytest.raises(OtherRecipientError):
        opened(path, OTHER_RECIPIENT)
    # A site that only names us.
    seal_bundle(tmp_path / "share.parquet", path, key=KEY, recipient=OTHER_RECIPIENT.public_key)
    resealed(path, recipient=RECIPIENT.public_key.key_id)
    refused_inside(path, EncryptionError)


def test_a_site_cannot_sign_for_another(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    resealed(path, key=OTHER_KEY)
    with pytest.raises(UnknownSignerError):
        verified(path)
    # Nor pass off another's share as its own: wrapped key and chunks know whose they are.
    resealed(path, key=OTHER_KEY, site="hospital-b")
    refused_inside(path, EncryptionError)


def test_a_site_cannot_seal_the_share_of_another(tmp_path: Path) -> None:
    share = sealed(tmp_path)
    with pytest.raises(SignatureError):
        seal_bundle(share, tmp_path / "x.share", key=OTHER_KEY, recipient=RECIPIENT.public_key)
    assert not (tmp_path / "x.share").exists()


def test_an_unknown_or_retired_key_is_refused_and_an_overlapping_one_is_not(tmp_path: Path) -> None:
    path, new = bundled(tmp_path), PrivateKey.generate().public_key
    recipient_id = RECIPIENT.public_key.key_id
    for keys in ({}, {"hospital-a": ()}, {"hospital-a": (new,)}, {"hospital-b": (KEY.public_key,)}):
        with pytest.raises(UnknownSignerError):
            verify_bundle(path, public_keys=keys, recipient_id=recipient_id)
    both = {"hospital-a": (new, KEY.public_key)}
    assert verify_bundle(path, public_keys=both, recipient_id=recipient_id).key == KEY.public_key


def inside(path: Path, *, key: PrivateKey = KEY, site: str = "hospital-a", sequence: int = 1) -> Path:
    """A bundle whose outside says `site` and `sequence`, whatever its inside says: made by hand, by who has the key."""
    share = path.parent / "share.parquet"
    envelope, secret = manifest_path(share).read_bytes(), bytes(32)
    binding = stream_binding(site, sequence, RECIPIENT.public_key.key_id)
    plain, ciphertext = path.with_name("plain"), path.with_name("cipher")
    plain.write_bytes(len(envelope).to_bytes(4, "big") + envelope + share.read_bytes())
    with plain.open("rb") as source, ciphertext.open("wb") as sink:
        encrypt(source, sink, secret, binding)
    wrapped = RECIPIENT.public_key.wrap(secret, binding)
    resealed(path, lambda _: ciphertext.read_bytes(), key, site=site, sequence=sequence, encapsulated=wrapped)
    return path


def test_an_inside_that_is_not_what_the_outside_says_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    assert opened(inside(path)).exists()
    (tmp_path / "staging" / "payload").unlink()
    refused_inside(inside(path, sequence=2), MismatchError)
    # Hospital B has got hold of A's share and sends it as its own.
    refused_inside(inside(path, key=OTHER_KEY, site="hospital-b"), UnknownSignerError)
    # The outside is A's, the inside was signed by another key.
    resign(tmp_path / "share.parquet", lambda manifest: None, OTHER_KEY)
    refused_inside(inside(path), SignatureError)
    resign(tmp_path / "share.parquet", lambda manifest: manifest.update(payload_sha256="00" * 32))
    refused_inside(inside(path), DigestError)
    manifest_path(tmp_path / "share.parquet").write_bytes(b'{"manifest":{"format_version":2}}')
    refused_inside(inside(path), UnsignedError)


def test_an_inner_length_beyond_all_manifests_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    manifest_path(tmp_path / "share.parquet").write_bytes(b" " * (1 << 17))
    refused_inside(inside(path), BoundsError)


def test_an_inner_length_beyond_the_end_is_refused(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    manifest_path(tmp_path / "share.parquet").write_bytes(b"")
    (tmp_path / "share.parquet").write_bytes(b"")
    refused_inside(inside(path), ProtocolError)


def test_surreptitious_forwarding_to_another_provider_is_refused_by_the_inner_recipient(tmp_path: Path) -> None:
    # Provider 1 has opened the share and, with the site's key for the outside even, seals it to provider 2.
    first = opened(bundled(tmp_path))
    path = tmp_path / "forwarded.share"
    seal_bundle(first, path, key=KEY, recipient=OTHER_RECIPIENT.public_key)
    folder = tmp_path / "second"
    folder.mkdir()
    payload = open_bundle(verified(path, OTHER_RECIPIENT), OTHER_RECIPIENT, folder)
    second_provider = PrivateKey.generate().public_key
    with pytest.raises(OtherRecipientError):
        open_share(payload, public_keys=KEYS, expected=ShareExpectation(recipient=second_provider.key_id))


def test_a_payload_that_changed_since_it_was_signed_is_not_sealed(tmp_path: Path) -> None:
    share, out = sealed(tmp_path), tmp_path / "x.share"
    data = share.read_bytes()
    for changed in (flipped(data, 100), data[:-1], data + b"\x00", b""):
        rewrite(share, changed)
        with pytest.raises(DigestError):
            seal_bundle(share, out, key=KEY, recipient=RECIPIENT.public_key)
        assert sorted(os.listdir(tmp_path)) == ["share.parquet", "share.parquet.manifest.json"]


def test_an_unsigned_header_and_another_version_are_their_own_errors(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    data, start = path.read_bytes(), len(MAGIC) + 4
    value = parse_canonical(data[start : len(read_header(path).to_bytes())], max_bytes=1 << 16)
    assert isinstance(value, dict)

    def written(header: dict[str, object]) -> Path:
        text = canonical_bytes(header)  # type: ignore[arg-type]
        rewrite(path, MAGIC + len(text).to_bytes(4, "big") + text)
        return path

    with pytest.raises(UnsignedError):
        read_header(written({name: item for name, item in value.items() if name != "signature"}))
    with pytest.raises(VersionError):
        read_header(written({"format_version": 3, "new": 1}))
    for name in value:
        with pytest.raises(ProtocolError):
            read_header(written({**value, name: None}))
    with pytest.raises(SchemaError):
        read_header(written({**value, "more": 1}))


def test_another_file_and_an_endless_header_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.share"
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(SchemaError):
        read_header(path)
    path.write_bytes(MAGIC + (MAX_HEADER_BYTES + 1).to_bytes(4, "big") + bytes(10_000))
    # Not as JSON that is too long: nothing of it is read.
    with pytest.raises(BoundsError, match="header of at most"):
        read_header(path)
    with pytest.raises(StorageError):
        read_header(tmp_path)
    with pytest.raises(StorageError):
        read_header(tmp_path / "none.share")


def test_the_header_of_the_longest_name_is_within_the_limit(tmp_path: Path) -> None:
    path = bundled(tmp_path)
    header = resealed(path, site="a" * 63, sequence=2**31 - 1, ciphertext_bytes=2**53 - 1)
    assert len(header.to_bytes()) <= MAX_HEADER_BYTES
    assert read_header(path) == header


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    share, out = bulk(tmp_path, 100_000), tmp_path / "x.share"
    before = sorted(os.listdir(tmp_path))
    with full_disk(50_000), pytest.raises(StorageError, match="full disk"):
        seal_bundle(share, out, key=KEY, recipient=RECIPIENT.public_key)
    assert sorted(os.listdir(tmp_path)) == before
    seal_bundle(share, out, key=KEY, recipient=RECIPIENT.public_key)
    (tmp_path / "staging").mkdir()
    with full_disk(50_000), pytest.raises(StorageError, match="full disk"):
        opened(out)
    assert os.listdir(tmp_path / "staging") == []


def test_memory_does_not_grow_with_the_share(tmp_path: Path) -> None:
    share, out = bulk(tmp_path, 50_000_000), tmp_path / "x.share"
    tracemalloc.start()
    seal_bundle(share, out, key=KEY, recipient=RECIPIENT.public_key)
    payload = opened(out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert payload.stat().st_size == 50_000_000
    assert peak < 2 << 20


@pytest.mark.parametrize("stated", [0, 1 << 31])
def test_attack_a_manifest_of_no_length_or_a_huge_one(stated: int, tmp_path: Path) -> None:
    """The inside is encrypted by whoever holds the site's key, so it can say anything."""
    payload = io.BytesIO()
    with pytest.raises(BoundsError, match="manifest"):
        _Unpacked(payload, "x").write(stated.to_bytes(4, "big") + bytes(65532))
    assert payload.getvalue() == b""


def test_what_was_looked_at_is_what_is_sealed(tmp_path: Path) -> None:
    payload = sealed(tmp_path)
    seen = read_envelope(payload)
    other = bulk(tmp_path, 1000)
    for mine, theirs in ((payload, other), (manifest_path(payload), manifest_path(other))):
        mine.write_bytes(theirs.read_bytes())
    with pytest.raises(DigestError):
        seal_bundle(payload, tmp_path / "x.share", key=KEY, recipient=RECIPIENT.public_key, envelope=seen)
    assert not (tmp_path / "x.share").exists()
