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
    MAX_TEXT_BYTES,
    MAX_TOTAL_BYTES,
    Reference,
    RootFingerprint,
    check_sizes,
    latest_bytes,
    newest_pipeline,
    read_latest,
    release_name,
    release_sequence,
)

REFERENCE = Reference(
    "embeddings.safetensors", "https://files.example.org:8443/~north/e-1.safetensors", FileEntry(10, "ab" * 32)
)


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
        {"url": "https://example.org"},
        {"url": "https://example.org/api?do=delete"},
        {"url": "https://example.org?do=delete"},
        {"url": "https://example.org/e#part"},
        {"url": "https://user:word@example.org/e"},
        {"url": "https://example.org\\@10.0.0.5/e"},
        {"url": "https://10.0.0.5/e"},
        {"url": "https://10.0.0.5.:443/e"},
        {"url": "https://10.5/e"},
        {"url": "https://0x0a.0x05/e"},
        {"url": "https://167772165/e"},
        {"url": "https://[::1]/e"},
        {"url": "https://[::ffff:10.0.0.5]:8443/e"},
        {"url": "https://localhost/e"},
        {"url": "https://localhost./e"},
        {"url": "https://pacs:8443/e"},
        {"url": "https://.org/e"},
        {"url": "https://example.org:/e"},
        {"url": "https://example.org:443443/e"},
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
    check_sizes({"a.safetensors": FileEntry(MAX_FILE_BYTES, "ab" * 32)})
    with pytest.raises(BoundsError, match=r"b\.json"):
        check_sizes({"a.safetensors": FileEntry(0, "ab" * 32), "b.json": FileEntry(MAX_FILE_BYTES + 1, "ab" * 32)})


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


def test_releases_are_in_the_order_of_their_numbers() -> None:
    names = [release_name(sequence, "pipeline") for sequence in (1, 999, 9998, 9999, 10000, 10001, 99999, 100000)]
    as_text = sorted(names)
    assert sorted(as_text, key=release_sequence) == names
    assert as_text != names


@pytest.mark.parametrize(
    ("names", "newest"),
    [
        ([], None),
        (["0001-representer"], None),
        (["0001-representer", "0002-pipeline", "0003-representer"], "0002-pipeline"),
        (["10000-pipeline", "9999-pipeline", "10001-representer"], "10000-pipeline"),
    ],
)
def test_the_newest_pipeline(names: list[str], newest: str | None) -> None:
    assert newest_pipeline(names) == newest


def test_all_files_together_have_a_limit() -> None:
    half = MAX_TOTAL_BYTES // 2
    check_sizes({"a.safetensors": FileEntry(half, "ab" * 32), "b.safetensors": FileEntry(half, "ab" * 32)})
    many = {f"{number}.safetensors": FileEntry(half, "ab" * 32) for number in range(3)}
    with pytest.raises(BoundsError, match=f"at most {MAX_TOTAL_BYTES} bytes"):
        check_sizes(many)
    # A site may take less than that, never more.
    with pytest.raises(BoundsError, match="at most 9 bytes"):
        check_sizes({"a.json": FileEntry(10, "ab" * 32)}, 9)
    with pytest.raises(BoundsError, match=f"at most {MAX_TOTAL_BYTES} bytes"):
        check_sizes(many, 1 << 60)


@pytest.mark.parametrize("name", ["vocabulary.json", "page.html", "card.md", "scheme.toml"])
def test_what_is_read_as_a_whole_is_small(name: str) -> None:
    check_sizes({name: FileEntry(MAX_TEXT_BYTES, "ab" * 32)})
    with pytest.raises(BoundsError):
        check_sizes({name: FileEntry(MAX_TEXT_BYTES + 1, "ab" * 32)})
