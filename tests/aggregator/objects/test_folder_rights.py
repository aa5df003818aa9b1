"""Whatever the umask says, the folders of objects are their owner's alone: what lies there names and holds what hospitals shared."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator.objects import FolderStore


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def put(root: Path, content: bytes) -> Path:
    """The folder of an object that is put into a store."""
    path, sha256 = root.parent / "made", hashlib.sha256(content).hexdigest()
    path.write_bytes(content)
    FolderStore(root, root.parent / "scratch").put(path, sha256)
    return root / sha256[:2]


def rights(*folders: Path) -> set[int]:
    return {folder.stat().st_mode & 0o7777 for folder in folders}


def test_attack_another_account_lists_the_objects(tmp_path: Path) -> None:
    root = tmp_path / "far" / "objects"
    root.parent.mkdir()
    assert rights(root, put(root, b"object")) == {0o700}


def test_folders_of_earlier_versions_are_closed_by_the_next_object_and_by_tidying(tmp_path: Path) -> None:
    root = tmp_path / "objects"
    folder, other = put(root, b"object"), put(root, b"another")
    assert folder != other
    for opened in (root, folder, other):
        opened.chmod(0o2775 if opened == root else 0o755)
    put(root, b"object")
    assert rights(folder) == {0o700}
    # What it is besides stays so.
    assert rights(root) == {0o2700}
    root.chmod(0o755)
    FolderStore(root, tmp_path / "scratch").tidy()
    assert rights(root, folder, other) == {0o700}
    # There is nothing to close before the first object.
    assert FolderStore(tmp_path / "none", tmp_path / "scratch").tidy() == 0
    assert not (tmp_path / "none").exists()


def test_a_folder_of_another_account_stays_as_that_one_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "objects"
    folder = put(root, b"object")
    root.chmod(0o770)
    owner = root.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    put(root, b"object")
    FolderStore(root, tmp_path / "scratch").tidy()
    assert (rights(root), rights(folder)) == ({0o770}, {0o700})
    # What is new is nobody else's from its first moment on, and not only once it is looked at.
    assert rights(put(root, b"another")) == {0o700}
