"""Listing and verifying releases; one test an attack."""

from __future__ import annotations

import datetime
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from foundation.errors import StorageError
from protocols.canonical import canonical_bytes
from protocols.errors import BoundsError, DigestError, ProtocolError, SchemaError, TruncatedError, VersionError
from protocols.release.files import MAX_FILES, check_name, check_names
from protocols.release.manifest import FileEntry, ReleaseManifest
from protocols.release.verification import MANIFEST_NAME, ReleaseFields, list_release, verify_release
from tests.protocols.payload.blocks import full_disk, rewrite

PROVIDER = "b9d5-9526-5e55-aa70-d751-5af9-4dd7-a5c0"
FIELDS = ReleaseFields(
    kind="representer",
    name="meddocan-n100",
    sequence=1,
    created=datetime.date(2026, 1, 31),
    label_scheme="meddocan",
    software={"deid_commons": "0.1.0", "torch": "2.13.0"},
    notes="First release.\nTrained on public notes.",
)
TENSORS = save({"weight": np.arange(12, dtype=np.float32).reshape(3, 4)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    (folder / "head").mkdir(parents=True)
    (folder / "representer.safetensors").write_bytes(TENSORS)
    (folder / "head" / "head.safetensors").write_bytes(TENSORS)
    (folder / "configuration.json").write_bytes(b'{"dim": 50}')
    (folder / "card.md").write_bytes(b"# Card")
    list_release(folder, FIELDS, PROVIDER)
    return folder


def digest(folder: Path) -> str:
    """Of the list that lies there."""
    return hashlib.sha256((folder / MANIFEST_NAME).read_bytes()).hexdigest()


def forge(folder: Path, **changes: Any) -> None:
    """Writes another list."""
    manifest = verify_release(folder, digest(folder)).manifest
    value = {
        **{name: getattr(manifest, name) for name in ("kind", "name", "sequence", "label_scheme", "notes", "provider")},
        "created": manifest.created.isoformat(),
        "software": dict(manifest.software),
        "format_version": 1,
        "files": {name: vars(entry) for name, entry in manifest.files.items()},
        **changes,
    }
    (folder / MANIFEST_NAME).write_bytes(canonical_bytes(value))


def test_a_listed_release_verifies(folder: Path) -> None:
    release = verify_release(folder, digest(folder))
    assert release.digest == release.manifest.digest
    assert sorted(release.manifest.files) == [
        "card.md",
        "configuration.json",
        "head/head.safetensors",
        "representer.safetensors",
    ]
    assert release.path("head/head.safetensors").read_bytes() == TENSORS
    assert release.read("card.md") == b"# Card"
    assert release.manifest.software == FIELDS.software
    assert ReleaseManifest.from_bytes(release.manifest.to_bytes()) == release.manifest


def test_listing_twice_gives_the_same_digest(folder: Path) -> None:
    before = digest(folder)
    assert list_release(folder, FIELDS, PROVIDER).digest == before


def test_a_file_that_is_not_listed_is_not_given_out(folder: Path) -> None:
    release = verify_release(folder, digest(folder))
    for name in ("../secret.json", "/etc/passwd", MANIFEST_NAME, "absent.json"):
        with pytest.raises(SchemaError):
            release.path(name)


def test_a_file_that_changes_after_verification_is_not_read(folder: Path) -> None:
    release = verify_release(folder, digest(folder))
    (folder / "card.md").write_bytes(b"# Cart")
    with pytest.raises(DigestError):
        release.read("card.md")
    (folder / "card.md").write_bytes(b"# Card, longer")
    with pytest.raises(BoundsError):
        release.read("card.md")


def test_more_files_than_a_release_may_have_are_refused() -> None:
    names = [f"{number}.json" for number in range(MAX_FILES)]
    check_names(names, "files")
    with pytest.raises(BoundsError, match="1000 files at most"):
        check_names([*names, "more.json"], "files")


@pytest.mark.parametrize("name", ["extra.json", "head/extra.md", "weights.pkl", "run.py", ".hidden.json"])
def test_unlisted_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"{}")
    with pytest.raises(SchemaError, match="unlisted"):
        verify_release(folder, digest(folder))


def test_missing_files_are_refused(folder: Path) -> None:
    (folder / "card.md").unlink()
    with pytest.raises(SchemaError, match="missing"):
        verify_release(folder, digest(folder))


@pytest.mark.parametrize("name", ["card.md", "head/head.safetensors"])
def test_changed_files_are_refused(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    for changed, error in (
        (data[:-1] + bytes([data[-1] ^ 1]), DigestError),
        (data[:-1], TruncatedError),
        (data + b"x", DigestError),
        (b"", TruncatedError),
    ):
        (folder / name).write_bytes(changed)
        with pytest.raises(error):
            verify_release(folder, digest(folder))


def test_every_flipped_byte_of_the_list_is_refused(folder: Path) -> None:
    data, stated = (folder / MANIFEST_NAME).read_bytes(), digest(folder)
    for offset in range(len(data)):
        rewrite(folder / MANIFEST_NAME, data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        with pytest.raises(DigestError, match=r"release\.json"):
            verify_release(folder, stated)


def test_another_list_is_refused(folder: Path) -> None:
    stated = digest(folder)
    forge(folder, sequence=2)
    with pytest.raises(DigestError, match=r"release\.json"):
        verify_release(folder, stated)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(SchemaError, match=r"release\.json"):
            verify_release(path, "ab" * 32)


@pytest.mark.parametrize("target", ["card.md", "head", MANIFEST_NAME])
def test_symbolic_links_are_refused_even_to_the_right_bytes(folder: Path, target: str) -> None:
    elsewhere, stated = folder.parent / "elsewhere", digest(folder)
    (folder / target).rename(elsewhere)
    (folder / target).symlink_to(elsewhere)
    with pytest.raises(ProtocolError):
        verify_release(folder, stated)


def test_pipes_are_refused(folder: Path) -> None:
    (folder / "card.md").unlink()
    os.mkfifo(folder / "card.md")
    with pytest.raises(SchemaError):
        verify_release(folder, digest(folder))


@pytest.mark.parametrize(
    "name",
    [
        "/etc/card.md",
        "../card.md",
        "head/../card.md",
        "./card.md",
        "head//card.md",
        "head\\card.md",
        "C:card.md",
        "",
        ".card.md",
        "a b.md",
        "card.md\n",
        "card.md\x00",
        "cärd.md",
        "a/b/c/d/e.md",
        "card.pkl",
        "card.pt",
        "card.bin",
        "card.npy",
        "card.py",
        "card",
        "card.MD",
        "card.json.pkl",
        "head/.ssh/card.md",
    ],
)
def test_names_that_leave_the_folder_or_hide_pickles_are_refused(folder: Path, name: str) -> None:
    with pytest.raises(SchemaError):
        check_name(name, "test")
    forge(folder, files={name: {"bytes": 1, "sha256": "ab" * 32}})
    with pytest.raises(SchemaError):
        verify_release(folder, digest(folder))


def test_names_that_differ_in_case_only_are_refused(folder: Path) -> None:
    entry = {"bytes": 1, "sha256": "ab" * 32}
    forge(folder, files={"card.md": entry, "CARD.md": entry})
    with pytest.raises(SchemaError, match="case"):
        verify_release(folder, digest(folder))


@pytest.mark.parametrize("name", ["weights.pkl", "weights.pt", "weights.bin", "hook.py"])
def test_listing_refuses_other_kinds_of_files(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"x")
    with pytest.raises(SchemaError):
        list_release(folder, FIELDS, PROVIDER)


@pytest.mark.parametrize("data", [b"", b"\x80\x04}.", b"PK\x03\x04" + bytes(100), b"\xff" * 100, bytes(8) + b"{}"])
def test_a_pickle_under_the_name_of_tensors_is_refused(folder: Path, data: bytes) -> None:
    (folder / "representer.safetensors").write_bytes(data)
    with pytest.raises(SchemaError, match="safetensors"):
        list_release(folder, FIELDS, PROVIDER)
    manifest = ReleaseManifest.from_bytes((folder / MANIFEST_NAME).read_bytes())
    entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files = {name: vars(old) for name, old in manifest.files.items()}
    (folder / "representer.safetensors").write_bytes(TENSORS)
    forge(folder, files={**files, "representer.safetensors": entry})
    (folder / "representer.safetensors").write_bytes(data)
    with pytest.raises(SchemaError, match="safetensors"):
        verify_release(folder, digest(folder))


def test_empty_folders_are_refused(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(SchemaError):
        verify_release(folder, digest(folder))


def test_another_version_is_its_own_error(folder: Path) -> None:
    forge(folder, format_version=2)
    with pytest.raises(VersionError):
        verify_release(folder, digest(folder))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "script"},
        {"name": "a b"},
        {"sequence": 0},
        {"created": "yesterday"},
        {"software": {"torch": 2}},
        {"notes": "\x1b[31m"},
        {"more": 1},
        {"files": {"card.md": {"bytes": -1, "sha256": "ab" * 32}}},
        {"files": {"card.md": {"bytes": 1, "sha256": "ab" * 31}}},
        {"files": {"card.md": {"bytes": 1}}},
        {"files": []},
    ],
)
def test_other_manifests_are_refused(folder: Path, change: dict[str, Any]) -> None:
    forge(folder, **change)
    with pytest.raises((SchemaError, BoundsError)):
        verify_release(folder, digest(folder))


def test_a_full_disk_leaves_no_list(folder: Path) -> None:
    (folder / MANIFEST_NAME).unlink()
    before = sorted(os.listdir(folder))
    with full_disk(50), pytest.raises(StorageError, match="full disk"):
        list_release(folder, FIELDS, PROVIDER)
    assert sorted(os.listdir(folder)) == before


@given(
    files=st.dictionaries(
        st.from_regex(r"[a-z0-9]{1,8}(/[a-z0-9]{1,8}){0,2}\.(json|md|safetensors)", fullmatch=True),
        st.builds(FileEntry, st.integers(0, 2**40), st.binary(min_size=32, max_size=32).map(bytes.hex)),
        max_size=5,
    ),
    sequence=st.integers(1, 2**31 - 1),
    created=st.dates(),
)
def test_manifests_round_trip(files: dict[str, FileEntry], sequence: int, created: datetime.date) -> None:
    stated = {**vars(FIELDS), "sequence": sequence, "created": created}
    manifest = ReleaseManifest(**stated, files=files, provider=PROVIDER)
    assert ReleaseManifest.from_bytes(manifest.to_bytes()) == manifest
