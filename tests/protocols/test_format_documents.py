"""The test vectors that docs/formats gives to other implementations are what this one makes."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

from foundation.feature_columns import FeatureColumn
from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import SignatureError
from protocols.features import columns_to_json
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import BUNDLE_CONTEXT, SHARE_CONTEXT, PrivateKey, Signature
from protocols.log.checkpoint import Checkpoint, LogHead, log_origin, read_checkpoint, release_code
from protocols.log.entry import ReleaseEntry
from protocols.log.note import verifier_key
from protocols.log.tiles import lay_out
from protocols.payload.parquet_footer import metadata_entry
from protocols.payload.sentence_block import CODES
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import Reference, RootFingerprint, latest_bytes, read_latest
from protocols.release.verification import ReleaseManifest
from protocols.share.bundle_header import BundleHeader, stream_binding
from protocols.share.manifest import ShareManifest
from protocols.share.receipt import Receipt, read_receipt
from protocols.share.stream import encrypt
from protocols.share.withdrawal import Withdrawal, read_withdrawal

FORMATS = Path(__file__).resolve().parents[2] / "docs" / "formats"
KEY = PrivateKey.from_seed(bytes(range(32)))
RECIPIENT = RecipientPrivateKey.from_seed(bytes(range(32))).public_key


def vectors(name: str) -> dict[str, str]:
    text = (FORMATS / name).read_text(encoding="utf-8")
    return dict(re.findall(r"```vector ([a-z-]+)\n(.*?)\n```", text, re.DOTALL))


SHARE, RELEASE, LOG = vectors("share.md"), vectors("release.md"), vectors("log.md")

ORIGIN = log_origin(RELEASE["root-fingerprint"])


def test_every_vector_is_tested() -> None:
    assert set(SHARE) == {
        "public-key",
        "key-id",
        "key-spoken",
        "manifest",
        "signature",
        "manifest-digest",
        "values",
        "representation",
        "features",
        "metadata-with-features",
        "recipient-id",
        "binding",
        "stream",
        "stream-digest",
        "header-signature",
        "header-digest",
        "receipt",
        "receipt-with-log",
        "withdrawal",
    }
    assert set(RELEASE) == {
        "release",
        "digest",
        "provider",
        "latest",
        "reference",
        "root",
        "root-fingerprint",
        "root-spoken",
    }
    assert set(LOG) == {"entry", "leaf", "second-entry", "tile", "checkpoint", "key", "code"}


def test_the_key() -> None:
    assert KEY.public_key.hex == SHARE["public-key"]
    assert KEY.public_key.key_id == SHARE["key-id"]
    assert KEY.public_key.spoken == SHARE["key-spoken"]
    # As the document defines it, by hand.
    digest = hashlib.sha256(b"deid-commons key id v1\x00" + bytes.fromhex(SHARE["public-key"])).hexdigest()
    assert SHARE["key-id"].replace("-", "") == digest[:32]


def test_the_manifest_of_a_share() -> None:
    data = SHARE["manifest"].encode()
    manifest = ShareManifest.from_bytes(data)
    assert manifest.to_bytes() == data
    assert canonical_bytes(KEY.sign(SHARE_CONTEXT, data).to_json()).decode() == SHARE["signature"]
    assert manifest.sha256 == hashlib.sha256(data).hexdigest() == SHARE["manifest-digest"]


def test_the_feature_columns_of_a_payload() -> None:
    columns = (FeatureColumn("length_class", 4), FeatureColumn("vowel", 2))
    assert canonical_bytes(columns_to_json(columns)).decode() == SHARE["features"]
    assert metadata_entry(CODES, columns).decode() == SHARE["metadata-with-features"]
    assert metadata_entry(CODES, ()) == b'{"dim":0,"format_version":2}'
    assert metadata_entry(50, ()) == b'{"dim":50,"format_version":1}'


def test_the_stream_of_a_bundle() -> None:
    assert RECIPIENT.key_id == SHARE["recipient-id"]
    binding = stream_binding("hospital-a", 1, RECIPIENT.key_id)
    assert binding.hex() == SHARE["binding"]
    streams = []
    for plaintext in (b"sentences", bytes(131072)):
        sink = io.BytesIO()
        encrypt(io.BytesIO(plaintext), sink, bytes(range(32)), binding)
        streams.append(sink.getvalue())
    assert streams[0].hex() == SHARE["stream"]
    assert hashlib.sha256(streams[1]).hexdigest() == SHARE["stream-digest"]


def test_the_header_of_a_bundle() -> None:
    unsigned = Signature(BUNDLE_CONTEXT, KEY.public_key.key_id, bytes(64))
    wrapped = (bytes(range(256)) * 5)[:1168]
    header = BundleHeader("hospital-a", 1, RECIPIENT.key_id, wrapped, 1000, "cd" * 32, unsigned).sign(KEY)
    assert header.signature.value.hex() == SHARE["header-signature"]
    assert hashlib.sha256(header.to_bytes()).hexdigest() == SHARE["header-digest"]


def test_a_receipt_and_a_withdrawal() -> None:
    receipt = read_receipt(SHARE["receipt"].encode(), KEY.public_key)
    assert receipt.to_bytes(KEY).decode() == SHARE["receipt"]
    withdrawal = read_withdrawal(SHARE["withdrawal"].encode(), KEY.public_key)
    assert withdrawal.to_bytes(KEY).decode() == SHARE["withdrawal"]
    assert receipt.manifest_sha256 == withdrawal.manifest_sha256 == SHARE["manifest-digest"]


def test_a_receipt_that_states_the_log() -> None:
    receipt = read_receipt(SHARE["receipt-with-log"].encode(), KEY.public_key)
    assert receipt.to_bytes(KEY).decode() == SHARE["receipt-with-log"]
    assert receipt.release_log == read_checkpoint(f"{LOG['checkpoint']}\n".encode(), ORIGIN, [KEY.public_key]).head


def test_the_log_of_releases() -> None:
    entries = [ReleaseEntry.from_bytes(LOG[name].encode()) for name in ("entry", "second-entry")]
    assert entries[0].digest == RELEASE["digest"]
    stated = [entry.to_bytes() for entry in entries]
    assert [one.decode() for one in stated] == [LOG["entry"], LOG["second-entry"]]
    assert hashlib.sha256(b"\x00" + stated[0]).hexdigest() == LOG["leaf"]
    tile = lay_out(stated)["tile/0/000.p/2"]
    assert tile.hex() == LOG["tile"]
    head = LogHead(2, hashlib.sha256(b"\x01" + tile).hexdigest())
    assert Checkpoint(ORIGIN, head).sign(KEY).decode() == f"{LOG['checkpoint']}\n"
    assert verifier_key(ORIGIN, KEY.public_key) == LOG["key"]
    assert release_code(entries[1].digest, head) == LOG["code"]


def test_every_key_of_an_entry_of_the_log_is_documented() -> None:
    text = (FORMATS / "log.md").read_text(encoding="utf-8")
    value = parse_canonical(LOG["entry"].encode(), max_bytes=1 << 10)
    assert isinstance(value, dict)
    assert set(value) == set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def test_every_key_of_headers_receipts_and_withdrawals_is_documented() -> None:
    text = (FORMATS / "share.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    for kind in (BundleHeader, Receipt, Withdrawal):
        assert {field.name for field in dataclasses.fields(kind)} <= documented


def test_every_key_of_the_manifests_is_documented() -> None:
    for vector, name in ((SHARE["manifest"], "share.md"), (RELEASE["release"], "release.md")):
        text = (FORMATS / name).read_text(encoding="utf-8")
        value = parse_canonical(vector.encode(), max_bytes=1 << 16)
        assert isinstance(value, dict)
        documented = {
            key for row in re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
        }
        assert set(value) <= documented


def test_the_manifest_of_a_release() -> None:
    data = RELEASE["release"].encode()
    manifest = ReleaseManifest.from_bytes(data)
    assert manifest.to_bytes() == data
    assert manifest.digest == RELEASE["digest"]


def test_the_small_targets_of_the_release_repository() -> None:
    record = ProviderRecord.from_bytes(RELEASE["provider"].encode())
    assert record.to_bytes().decode() == RELEASE["provider"]
    assert (record.signing_key, record.recipient) == (KEY.public_key, RECIPIENT)
    assert latest_bytes(read_latest(RELEASE["latest"].encode())).decode() == RELEASE["latest"]
    assert Reference.from_bytes(RELEASE["reference"].encode()).to_bytes().decode() == RELEASE["reference"]


def test_the_fingerprint_of_a_root() -> None:
    found = RootFingerprint.of(RELEASE["root"].encode())
    assert (found.key_id, found.spoken) == (RELEASE["root-fingerprint"], RELEASE["root-spoken"])
    # As the document defines it, by hand.
    digest = hashlib.sha256(RELEASE["root"].encode()).hexdigest()
    assert found.key_id.replace("-", "") == digest[:32]


def test_every_key_of_the_small_targets_is_documented() -> None:
    text = (FORMATS / "release.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    for name in ("provider", "latest", "reference"):
        value = parse_canonical(RELEASE[name].encode(), max_bytes=1 << 16)
        assert isinstance(value, dict)
        assert set(value) <= documented


def test_signatures_are_not_exchangeable() -> None:
    signature = Signature.from_json(parse_canonical(SHARE["signature"].encode(), max_bytes=1 << 10), "vector")
    with pytest.raises(SignatureError):
        KEY.public_key.verify(BUNDLE_CONTEXT, SHARE["manifest"].encode(), signature)


def test_the_bytes_of_a_representation() -> None:
    values = np.array([float(number) for number in SHARE["values"].split()], dtype="<f2")
    assert values.tobytes().hex() == SHARE["representation"]
