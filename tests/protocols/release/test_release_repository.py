"""The small targets beside the releases."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.canonical import Json, canonical_bytes
from protocols.errors import BoundsError, ProtocolError, SchemaError, VersionError
from protocols.keys.fingerprint import digits, pronounce_fingerprint
from protocols.release.manifest import FileEntry
from protocols.release.repository import (
    MAX_FILE_BYTES,
    Reference,
    RootFingerprint,
    check_sizes,
    latest_bytes,
    read_latest,
    release_name,
)

REFERENCE = Reference("embeddings.safetensors", "https://example.org/e?x=1", FileEntry(10, "ab" * 32))


@pytest.mark.parametrize(
    ("sequence", "name"), [(1, "0001-pipeline"), (9999, "9999-pipeline"), (10000, "10000-pipeline")]
)
def test_names_of_releases(sequence: int, name: str) -> None:
    assert release_name(sequence, "pipeline") == name
    assert read_latest(latest_bytes(name)) == name


@pytest.mark.parametrize(
    "name", ["", "1-pipeline", "../0001-pipeline", "0001-script", "0001-pipeline/x", "0001-pipeline\n"]
)
def test_no_other_name_is_the_latest(name: str) -> None:
    with pytest.raises(SchemaError):
        latest_bytes(name)
    with pytest.raises(SchemaError):
        read_latest(canonical_bytes({"format_version": 1, "release": name}))


def test_another_version_of_the_latest() -> None:
    with pytest.raises(VersionError):
        read_latest(canonical_bytes({"format_version": 2, "release": "0001-pipeline"}))


def test_a_reference_reads_what_it_wrote() -> None:
    assert Reference.from_bytes(REFERENCE.to_bytes()) == REFERENCE


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://example.org/e"},
        {"url": "file:///etc/passwd"},
        {"url": "https://exa mple.org"},
        {"file": "../embeddings.safetensors"},
        {"file": "embeddings.pkl"},
        {"bytes": 0},
        {"bytes": MAX_FILE_BYTES + 1},
        {"sha256": "ab"},
        {"more": 1},
    ],
)
def test_another_reference_is_refused(change: dict[str, Any]) -> None:
    value: dict[str, Json] = {
        "bytes": 10,
        "file": REFERENCE.file,
        "format_version": 1,
        "sha256": "ab" * 32,
        "url": REFERENCE.url,
    }
    assert Reference.from_bytes(canonical_bytes(value)) == REFERENCE
    with pytest.raises((SchemaError, BoundsError)):
        Reference.from_bytes(canonical_bytes({**value, **change}))


@given(st.binary(max_size=200))
def test_junk_is_refused(data: bytes) -> None:
    for read in (read_latest, Reference.from_bytes):
        with pytest.raises(ProtocolError):
            read(data)


def test_files_that_no_site_takes() -> None:
    check_sizes({"a.json": FileEntry(MAX_FILE_BYTES, "ab" * 32)})
    with pytest.raises(BoundsError, match=r"b\.json"):
        check_sizes({"a.json": FileEntry(0, "ab" * 32), "b.json": FileEntry(MAX_FILE_BYTES + 1, "ab" * 32)})


def test_the_fingerprint_of_a_root_is_half_of_its_digest() -> None:
    found = RootFingerprint.of(b"root")
    assert found.key_id.replace("-", "") == hashlib.sha256(b"root").hexdigest()[:32]
    assert found.spoken == pronounce_fingerprint(found.key_id)


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_two_fingerprints_are_spoken_alike_only_if_they_are_alike(one: bytes, other: bytes) -> None:
    assert (
        (pronounce_fingerprint(digits(one)) == pronounce_fingerprint(digits(other)))
        == (digits(one) == digits(other))
        == (one[:16] == other[:16])
    )
