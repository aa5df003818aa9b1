"""Sealing, verifying and copying releases; one test an attack."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from protocols.canonical import canonical_bytes
from protocols.errors import (
    BoundsError,
    DigestError,
    ProtocolError,
    SchemaError,
    SignatureError,
    StorageError,
    TruncatedError,
    UnsignedError,
    VersionError,
)
from protocols.release import (
    MANIFEST_NAME,
    SIGNATURE_NAME,
    ReleaseFields,
    copy_release,
    seal_release,
    verify_release,
)
from protocols.release_files import check_name
from protocols.release_manifest import FileEntry, ReleaseManifest
from protocols.signing import RELEASE_CONTEXT, PrivateKey
from tests.protocols.blocks import full_disk, rewrite

KEY = PrivateKey.from_seed(bytes(range(32)))
OTHER_KEY = PrivateKey.from_seed(bytes(range(1, 33)))
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
    seal_release(folder, FIELDS, KEY)
    return folder


def forge(folder: Path, key: PrivateKey = KEY, **changes: Any) -> None:
    """Writes another manifest and signs it."""
    manifest = verify_release(folder, KEY.public_key).manifest
    value = {
        **{name: getattr(manifest, name) for name in ("kind", "name", "sequence", "label_scheme", "notes", "provider")},
        "created": manifest.created.isoformat(),
        "software": dict(manifest.software),
        "format_version": 1,
        "files": {name: vars(entry) for name, entry in manifest.files.items()},
        **changes,
    }
    data = canonical_bytes(value)
    (folder / MANIFEST_NAME).write_bytes(data)
    (folder / SIGNATURE_NAME).write_bytes(canonical_bytes(key.sign(RELEASE_CONTEXT, data).to_json()))


def test_a_sealed_release_verifies(folder: Path) -> None:
    release = verify_release(folder, KEY.public_key)
    assert release.digest == hashlib.sha256((folder / MANIFEST_NAME).read_bytes()).hexdigest()
    assert release.digest == release.manifest.digest
    assert sorted(release.manifest.files) == [
        "card.md", "configuration.json", "head/head.safetensors", "representer.safetensors",
    ]  # fmt: skip
    assert release.path("head/head.safetensors").read_bytes() == TENSORS
    assert release.read("card.md") == b"# Card"
    assert release.manifest.software == FIELDS.software
    assert ReleaseManifest.from_bytes(release.manifest.to_bytes()) == release.manifest


def test_sealing_twice_gives_the_same_digest(folder: Path) -> None:
    assert seal_release(folder, FIELDS, KEY).digest == verify_release(folder, KEY.public_key).digest


def test_a_file_that_is_not_listed_is_not_given_out(folder: Path) -> None:
    release = verify_release(folder, KEY.public_key)
    for name in ("../secret.json", "/etc/passwd", MANIFEST_NAME, "absent.json"):
        with pytest.raises(SchemaError):
            release.path(name)


def test_a_file_that_changes_after_verification_is_not_read(folder: Path) -> None:
    release = verify_release(folder, KEY.public_key)
    (folder / "card.md").write_bytes(b"# Cart")
    with pytest.raises(DigestError):
        release.read("card.md")
    (folder / "card.md").write_bytes(b"# Card, longer")
    with pytest.raises(BoundsError):
        release.read("card.md")


@pytest.mark.parametrize("name", ["extra.json", "head/extra.md", "weights.pkl", "run.py", ".hidden.json"])
def test_unlisted_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"{}")
    with pytest.raises(SchemaError, match="unlisted"):
        verify_release(folder, KEY.public_key)


def test_missing_files_are_refused(folder: Path) -> None:
    (folder / "card.md").unlink()
    with pytest.raises(SchemaError, match="missing"):
        verify_release(folder, KEY.public_key)


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
            verify_release(folder, KEY.public_key)


@pytest.mark.parametrize("name", [MANIFEST_NAME, SIGNATURE_NAME])
def test_every_flipped_byte_of_manifest_and_signature_is_refused(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    for offset in range(len(data)):
        rewrite(folder / name, data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        with pytest.raises(ProtocolError):
            verify_release(folder, KEY.public_key)


def test_another_signer_is_refused(folder: Path) -> None:
    with pytest.raises(SignatureError):
        verify_release(folder, OTHER_KEY.public_key)
    forge(folder, OTHER_KEY)
    with pytest.raises(SignatureError):
        verify_release(folder, KEY.public_key)
    # Signed by the key that is asked for, but naming another provider.
    with pytest.raises(SignatureError):
        verify_release(folder, OTHER_KEY.public_key)


def test_an_unsigned_release_is_refused(folder: Path) -> None:
    (folder / SIGNATURE_NAME).unlink()
    with pytest.raises(UnsignedError):
        verify_release(folder, KEY.public_key)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(SchemaError, match=r"release\.json"):
            verify_release(path, KEY.public_key)


@pytest.mark.parametrize("target", ["card.md", "head", MANIFEST_NAME, SIGNATURE_NAME])
def test_symbolic_links_are_refused_even_to_the_right_bytes(folder: Path, target: str) -> None:
    elsewhere = folder.parent / "elsewhere"
    (folder / target).rename(elsewhere)
    (folder / target).symlink_to(elsewhere)
    with pytest.raises(ProtocolError):
        verify_release(folder, KEY.public_key)


def test_pipes_are_refused(folder: Path) -> None:
    (folder / "card.md").unlink()
    os.mkfifo(folder / "card.md")
    with pytest.raises(SchemaError):
        verify_release(folder, KEY.public_key)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/card.md", "../card.md", "head/../card.md", "./card.md", "head//card.md", "head\\card.md", "C:card.md", "",
        ".card.md", "a b.md", "card.md\n", "card.md\x00", "cärd.md", "a/b/c/d/e.md", "card.pkl", "card.pt", "card.bin",
        "card.npy", "card.py", "card", "card.MD", "card.json.pkl", "head/.ssh/card.md",
    ],
)  # fmt: skip
def test_names_that_leave_the_folder_or_hide_pickles_are_refused(folder: Path, name: str) -> None:
    with pytest.raises(SchemaError):
        check_name(name, "test")
    forge(folder, files={name: {"bytes": 1, "sha256": "ab" * 32}})
    with pytest.raises(SchemaError):
        verify_release(folder, KEY.public_key)


def test_names_that_differ_in_case_only_are_refused(folder: Path) -> None:
    entry = {"bytes": 1, "sha256": "ab" * 32}
    forge(folder, files={"card.md": entry, "CARD.md": entry})
    with pytest.raises(SchemaError, match="case"):
        verify_release(folder, KEY.public_key)


@pytest.mark.parametrize("name", ["weights.pkl", "weights.pt", "weights.bin", "hook.py"])
def test_sealing_refuses_other_kinds_of_files(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"x")
    with pytest.raises(SchemaError):
        seal_release(folder, FIELDS, KEY)


@pytest.mark.parametrize("data", [b"", b"\x80\x04}.", b"PK\x03\x04" + bytes(100), b"\xff" * 100, bytes(8) + b"{}"])
def test_a_pickle_under_the_name_of_tensors_is_refused(folder: Path, data: bytes) -> None:
    (folder / "representer.safetensors").write_bytes(data)
    with pytest.raises(SchemaError, match="safetensors"):
        seal_release(folder, FIELDS, KEY)
    manifest = ReleaseManifest.from_bytes((folder / MANIFEST_NAME).read_bytes())
    entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files = {name: vars(old) for name, old in manifest.files.items()}
    (folder / "representer.safetensors").write_bytes(TENSORS)
    forge(folder, files={**files, "representer.safetensors": entry})
    (folder / "representer.safetensors").write_bytes(data)
    with pytest.raises(SchemaError, match="safetensors"):
        verify_release(folder, KEY.public_key)


def test_empty_folders_are_refused(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(SchemaError):
        verify_release(folder, KEY.public_key)


def test_another_version_is_its_own_error(folder: Path) -> None:
    forge(folder, format_version=2)
    with pytest.raises(VersionError):
        verify_release(folder, KEY.public_key)


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
        verify_release(folder, KEY.public_key)


def test_a_copy_is_a_verified_release(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    release = copy_release(folder, target, KEY.public_key)
    assert release.folder == target
    assert verify_release(target, KEY.public_key).digest == verify_release(folder, KEY.public_key).digest
    assert sorted(os.listdir(tmp_path)) == ["copy", "release"]
    # Once more is no error, and touches nothing.
    assert copy_release(folder, target, KEY.public_key).digest == release.digest


def test_a_copy_never_replaces_something_else(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_bytes(b"mine")
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    seal_release(other, dataclasses.replace(FIELDS, sequence=2), KEY)
    for target in (tmp_path / "file", tmp_path / "full", other):
        with pytest.raises(StorageError):
            copy_release(folder, target, KEY.public_key)
    assert (tmp_path / "full" / "mine").read_bytes() == b"mine"


def test_a_bad_release_is_not_copied(folder: Path, tmp_path: Path) -> None:
    (folder / "card.md").write_bytes(b"# Cart")
    with pytest.raises(DigestError):
        copy_release(folder, tmp_path / "copy", KEY.public_key)
    assert os.listdir(tmp_path) == ["release"]


def test_a_full_disk_leaves_no_half_copy(folder: Path, tmp_path: Path) -> None:
    with full_disk(50), pytest.raises(StorageError, match="full disk"):
        copy_release(folder, tmp_path / "copy", KEY.public_key)
    assert os.listdir(tmp_path) == ["release"]


def test_a_copy_that_went_wrong_is_not_renamed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copyfile = shutil.copyfile

    def corrupting(source: Path, target: Path, **options: bool) -> None:
        copyfile(source, target, **options)
        if target.name == "card.md":
            target.write_bytes(b"# Cart")

    monkeypatch.setattr(shutil, "copyfile", corrupting)
    with pytest.raises(DigestError):
        copy_release(folder, tmp_path / "copy", KEY.public_key)
    assert os.listdir(tmp_path) == ["release"]


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
    manifest = ReleaseManifest(**stated, files=files, provider=KEY.public_key.key_id)
    assert ReleaseManifest.from_bytes(manifest.to_bytes()) == manifest
