"""Sealing and opening shares; one test an attack."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.errors import (
    BoundsError,
    DigestError,
    MismatchError,
    NonFiniteError,
    OtherRecipientError,
    OtherReleaseError,
    ProtocolError,
    SchemaError,
    SignatureError,
    TruncatedError,
    UnknownSignerError,
    UnsignedError,
    VersionError,
)
from protocols.payload.opening import PayloadLimits, create_payload
from protocols.payload.sentence_block import CheckedValues, SentenceBlock, ValueRules
from protocols.share.sealing import (
    ShareExpectation,
    manifest_path,
    open_share,
    read_manifest,
    seal_share,
)
from tests.protocols.payload.blocks import (
    DIM,
    TAGS,
    VALUE_BOUND,
    assert_same,
    full_disk,
    make_block,
    rewrite,
    write_payload,
)
from tests.protocols.share.shares import FIELDS, KEY, KEYS, OTHER_KEY, fields, resign, sealed

RULES = ValueRules(TAGS, VALUE_BOUND)
BLOCKS = [make_block([3, 4]), make_block([2], seed=1)]


@pytest.mark.parametrize("suffix", [".parquet", ".h5"])
def test_a_sealed_share_opens(tmp_path: Path, suffix: str) -> None:
    path = sealed(tmp_path, suffix=suffix)
    expected = ShareExpectation(release=FIELDS.release, label_scheme="meddocan", tags=TAGS, dim=DIM)
    share = open_share(path, public_keys=KEYS, expected=expected)
    assert (share.manifest.sentences, share.manifest.tokens, share.manifest.dim) == (3, 9, DIM)
    assert share.key == KEY.public_key
    blocks = [make_block([3, 4]), make_block([2], seed=1)]
    counts = np.bincount(np.concatenate([block.tags for block in blocks]), minlength=TAGS)
    assert share.manifest.tag_counts == tuple(counts.tolist())
    assert share.manifest.payload_sha256 == file_sha256(path)
    with share.open() as reader:
        for read, written in zip(reader, blocks, strict=True):
            assert_same(read, written)
    assert read_manifest(path) == share.manifest


def test_sealing_writes_the_manifest_beside_the_payload_and_nothing_else(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["share.parquet", "share.parquet.manifest.json"]
    assert manifest_path(path).stat().st_mode & 0o777 == 0o600


def test_every_flipped_byte_of_the_manifest_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    data = manifest_path(path).read_bytes()
    for offset in range(len(data)):
        flip = (0x01, 0x20, 0x80)[offset % 3]
        rewrite(manifest_path(path), data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1 :])
        with pytest.raises(ProtocolError):
            open_share(path, public_keys=KEYS)


def test_every_truncation_of_the_manifest_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    data = manifest_path(path).read_bytes()
    for end in range(len(data)):
        rewrite(manifest_path(path), data[:end])
        with pytest.raises(ProtocolError):
            open_share(path, public_keys=KEYS)


def test_a_manifest_in_another_spelling_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    manifest_path(path).write_bytes(manifest_path(path).read_bytes() + b"\n")
    with pytest.raises(SchemaError, match="canonical"):
        open_share(path, public_keys=KEYS)


@pytest.mark.parametrize("suffix", [".parquet", ".h5"])
def test_every_sampled_flip_of_the_payload_is_refused_by_its_digest(tmp_path: Path, suffix: str) -> None:
    path = sealed(tmp_path, suffix=suffix)
    data = path.read_bytes()
    for offset in {0, len(data) - 1, *range(0, len(data), len(data) // 100)}:
        rewrite(path, data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        with pytest.raises(DigestError):
            open_share(path, public_keys=KEYS)


@pytest.mark.parametrize("suffix", [".parquet", ".h5"])
def test_a_truncated_payload_is_its_own_error(tmp_path: Path, suffix: str) -> None:
    path = sealed(tmp_path, suffix=suffix)
    data = path.read_bytes()
    for end in {0, 1, len(data) - 1, *range(0, len(data), len(data) // 50)}:
        rewrite(path, data[:end])
        with pytest.raises(TruncatedError):
            open_share(path, public_keys=KEYS)
    path.write_bytes(data + b"\x00")
    with pytest.raises(DigestError):
        open_share(path, public_keys=KEYS)


def test_an_unsigned_share_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    data = manifest_path(path).read_bytes()
    for unsigned in (data[: data.index(b',"signature"')] + b"}", b"{}"):
        manifest_path(path).write_bytes(unsigned)
        with pytest.raises(UnsignedError):
            open_share(path, public_keys=KEYS)
    manifest_path(path).unlink()
    with pytest.raises(StorageError):
        open_share(path, public_keys=KEYS)


def test_an_unknown_site_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path, site="hospital-z")
    with pytest.raises(UnknownSignerError):
        open_share(path, public_keys=KEYS)


def test_a_site_cannot_speak_for_another(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    resign(path, lambda manifest: None, OTHER_KEY)
    with pytest.raises(SignatureError):
        open_share(path, public_keys=KEYS)
    path = sealed(tmp_path, site="hospital-b")
    with pytest.raises(SignatureError):
        open_share(path, public_keys=KEYS)


def test_the_signature_of_a_release_is_worth_nothing_here(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    data = manifest_path(path).read_bytes()
    manifest_path(path).write_bytes(data.replace(b"deid-commons share v2", b"deid-commons release v1"))
    with pytest.raises(SignatureError):
        open_share(path, public_keys=KEYS)


def test_another_version_is_refused_as_that_whoever_signed_it(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    for key in (KEY, OTHER_KEY):
        resign(path, lambda manifest: manifest.update(format_version=1, more="old"), key)
        with pytest.raises(VersionError):
            open_share(path, public_keys=KEYS)


def test_a_share_of_another_release_is_its_own_error(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    with pytest.raises(OtherReleaseError, match="pull the release"):
        open_share(path, public_keys=KEYS, expected=ShareExpectation(release="cd" * 32))


def test_a_share_for_another_provider_is_its_own_error(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    open_share(path, public_keys=KEYS, expected=ShareExpectation(recipient=FIELDS.recipient))
    with pytest.raises(OtherRecipientError):
        open_share(path, public_keys=KEYS, expected=ShareExpectation(recipient=OTHER_KEY.public_key.key_id))


@pytest.mark.parametrize("change", [{"label_scheme": "hipaa"}, {"tags": TAGS + 2}, {"dim": DIM + 1}])
def test_a_share_made_for_something_else_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = sealed(tmp_path)
    with pytest.raises(MismatchError):
        open_share(path, public_keys=KEYS, expected=ShareExpectation(**change))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"dim": DIM + 1}, MismatchError),
        ({"sentences": 2}, MismatchError),
        ({"tag_counts": [9, 0, 0, 0, 0]}, MismatchError),
        ({"tokens": 10, "tag_counts": [10, 0, 0, 0, 0]}, MismatchError),
        ({"payload_format": "hdf5"}, MismatchError),
        ({"value_bound": "0.01"}, BoundsError),
        ({"tags": 1, "tag_counts": [9]}, BoundsError),
    ],
)
def test_a_manifest_that_contradicts_its_payload_is_refused(
    tmp_path: Path, change: dict[str, Any], error: type[ProtocolError]
) -> None:
    path = sealed(tmp_path)
    resign(path, lambda manifest: manifest.update(change))
    with pytest.raises(error):
        open_share(path, public_keys=KEYS)


def poisoned(path: Path, name: str, value: float) -> Path:
    """A payload with one bad value, under a manifest that a dishonest site signed for it."""
    block = make_block([3, 4])
    getattr(block, name).flat[5] = value
    sealed(path.parent)
    write_payload(path, [block])
    size, digest = path.stat().st_size, file_sha256(path)
    counts = np.bincount(np.minimum(block.tags, TAGS - 1), minlength=TAGS).tolist()
    stated = {"payload_bytes": size, "payload_sha256": digest, "sentences": 2, "tokens": 7, "tag_counts": counts}
    resign(path, lambda manifest: manifest.update(stated))
    return path


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("values", np.nan, NonFiniteError),
        ("values", np.inf, NonFiniteError),
        ("values", 60_000, BoundsError),
        ("tags", TAGS, BoundsError),
        ("casing", 7, BoundsError),
    ],
)
def test_a_bad_value_is_refused_though_it_is_signed(
    tmp_path: Path, name: str, value: float, error: type[ProtocolError]
) -> None:
    path = poisoned(tmp_path / "share.parquet", name, value)
    with pytest.raises(error, match="block 0"):
        open_share(path, public_keys=KEYS)
    with pytest.raises(error):
        seal_share(path, FIELDS, KEY)


def test_a_poisoned_share_without_its_poison_would_pass(tmp_path: Path) -> None:
    # The helper above is sound: what it makes is refused for the poison alone.
    path = poisoned(tmp_path / "share.parquet", "casing", 1)
    open_share(path, public_keys=KEYS)


def written(path: Path, rules: ValueRules = RULES, blocks: Sequence[SentenceBlock] = BLOCKS) -> CheckedValues | None:
    with create_payload(path, dim=DIM, rules=rules) as writer:
        for block in blocks:
            writer.append(block)
    return writer.checked


@pytest.mark.parametrize("suffix", [".parquet", ".h5"])
def test_a_payload_that_was_checked_while_it_was_written_is_sealed_as_one_that_is_read_back(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"share{suffix}"
    checked = written(path)
    assert seal_share(path, FIELDS, KEY, checked=checked) == seal_share(path, FIELDS, KEY)
    open_share(path, public_keys=KEYS)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("values", np.nan, NonFiniteError), ("values", 60_000, BoundsError), ("tags", TAGS, BoundsError)],
)
def test_a_writer_with_rules_refuses_a_bad_value_and_leaves_nothing(
    tmp_path: Path, name: str, value: float, error: type[ProtocolError]
) -> None:
    bad = make_block([3, 4])
    getattr(bad, name)[5] = value
    with pytest.raises(error, match="block 1"):
        written(tmp_path / "share.parquet", blocks=[make_block([2]), bad])
    assert os.listdir(tmp_path) == []


def test_values_checked_by_other_rules_are_not_sealed(tmp_path: Path) -> None:
    path = tmp_path / "share.parquet"
    for rules in (ValueRules(TAGS, 2 * VALUE_BOUND), ValueRules(TAGS + 1, VALUE_BOUND)):
        with pytest.raises(MismatchError):
            seal_share(path, FIELDS, KEY, checked=written(path, rules))


def test_values_of_another_payload_are_not_sealed(tmp_path: Path) -> None:
    path = tmp_path / "share.parquet"
    checked = written(path)
    written(path, blocks=BLOCKS[:1])
    with pytest.raises(BoundsError, match="tag_counts"):
        seal_share(path, FIELDS, KEY, checked=checked)


def test_limits_of_the_receiver_hold(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    for limits in (PayloadLimits(max_sentences=2), PayloadLimits(max_file_bytes=100)):
        with pytest.raises(BoundsError):
            open_share(path, public_keys=KEYS, limits=limits)


def test_an_endless_manifest_is_not_read(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    manifest_path(path).write_bytes(b" " * (1 << 20))
    with pytest.raises(BoundsError):
        open_share(path, public_keys=KEYS)


def test_a_signed_file_that_is_no_payload_is_refused(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    path.write_bytes(b"\x80\x04}." * 10)
    stated = {"payload_bytes": 40, "payload_sha256": file_sha256(path)}
    resign(path, lambda manifest: manifest.update(stated))
    with pytest.raises(SchemaError):
        open_share(path, public_keys=KEYS)


def test_a_full_disk_while_sealing_leaves_no_manifest(tmp_path: Path) -> None:
    path = write_payload(tmp_path / "share.parquet", [make_block([3, 4])])
    with full_disk(100), pytest.raises(StorageError, match="full disk"):
        seal_share(path, FIELDS, KEY)
    assert os.listdir(tmp_path) == ["share.parquet"]


def test_a_share_can_be_moved(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    moved = tmp_path / "stick"
    moved.mkdir()
    for file in (path, manifest_path(path)):
        shutil.move(file, moved)
    open_share(moved / path.name, public_keys=KEYS)


def test_errors_quote_no_names_from_the_files(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    resign(path, lambda manifest: manifest.update(site="Maria Invented"))
    with pytest.raises(ProtocolError) as caught:
        open_share(path, public_keys=KEYS)
    assert "Maria" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_share_may_be_large_in_sentences_of_every_length(tmp_path: Path) -> None:
    path = tmp_path / "share.h5"
    with create_payload(path, dim=3) as writer:
        for length in (1, 511, 512):
            writer.append(make_block([length] * 20, dim=3, seed=length))
    seal_share(path, fields(), KEY)
    assert open_share(path, public_keys=KEYS).manifest.tokens == 20 * 1024
