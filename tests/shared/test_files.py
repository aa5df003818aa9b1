from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shared import files
from shared.errors import StorageError
from shared.files import new_folder, new_tree, read_text, write_bytes, write_text
from tests.loop import snapshot
from tests.protocols.payload.blocks import full_disk


def failing(function: Callable[..., object], call: int, error: BaseException) -> Callable[..., object]:
    """`function`, whose `call`-th call raises instead."""
    calls = 0

    def wrapped(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*arguments, **options)

    return wrapped


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "first")
    write_text(tmp_path / "a", "säcönd")
    assert read_text(tmp_path / "a") == "säcönd"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_file_that_fails_leaves_the_old_one_alone(
    function: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes(tmp_path / "a", b"old")
    owner = Path if function == "replace" else os
    monkeypatch.setattr(owner, function, failing(getattr(owner, function), 1, error))
    with pytest.raises(StorageError if isinstance(error, OSError) else KeyboardInterrupt):
        write_bytes(tmp_path / "a", b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}


def test_a_full_disk_is_a_storage_error_that_names_the_file(tmp_path: Path) -> None:
    with full_disk(100), pytest.raises(StorageError, match="big") as caught:
        write_bytes(tmp_path / "big", bytes(1000))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_absent_or_no_text_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xfd")
    for name in ("absent", "bytes"):
        with pytest.raises(StorageError, match=name):
            read_text(tmp_path / name)
    with pytest.raises(StorageError):
        write_bytes(tmp_path / "absent" / "a", b"x")


class TestNewFolder:
    def test_it_appears_when_the_block_ends(self, tmp_path: Path) -> None:
        target = tmp_path / "deep" / "made"
        with new_folder(target) as folder:
            (folder / "a").write_text("x")
            assert not target.exists()
        assert {path.name for path in target.iterdir()} == {"a"}
        assert [path.name for path in target.parent.iterdir()] == ["made"]

    def test_it_takes_the_place_of_the_old_one(self, tmp_path: Path) -> None:
        for name in ("old", "new"):
            with new_folder(tmp_path / "made") as folder:
                (folder / name).write_text("x")
        assert [path.name for path in (tmp_path / "made").iterdir()] == ["new"]
        assert [path.name for path in tmp_path.iterdir()] == ["made"]

    def test_it_does_not_where_it_must_not(self, tmp_path: Path) -> None:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "old").write_text("x")
        before = snapshot(tmp_path)
        with pytest.raises(StorageError), new_folder(tmp_path / "made", replace=False) as folder:
            (folder / "new").write_text("x")
        assert snapshot(tmp_path) == before

    @pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
    def test_a_block_that_fails_leaves_nothing(self, error: BaseException, tmp_path: Path) -> None:
        (tmp_path / "made").mkdir()
        before = snapshot(tmp_path)
        expected = StorageError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected):  # noqa: PT012, SIM117
            with new_folder(tmp_path / "made") as folder:
                (folder / "a").write_text("x")
                raise error
        assert snapshot(tmp_path) == before

    @pytest.mark.parametrize("call", [1, 2])
    def test_a_rename_that_fails_leaves_the_old_folder(
        self, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "old").write_text("x")
        before = snapshot(tmp_path)
        monkeypatch.setattr(files.os, "rename", failing(os.rename, call, OSError(errno.EIO, "broken")))
        with pytest.raises(StorageError), new_folder(tmp_path / "made") as folder:
            (folder / "new").write_text("x")
        assert snapshot(tmp_path) == before


class TestNewTree:
    def test_a_block_that_fails_leaves_the_folder_as_it_was(self, tmp_path: Path) -> None:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "a").write_text("x")
        (tmp_path / "b").write_text("y")
        before = snapshot(tmp_path)
        with pytest.raises(StorageError):  # noqa: PT012, SIM117
            with new_tree(tmp_path, ("kept", "made")):
                (tmp_path / "made" / "c").write_text("z")
                (tmp_path / "d").write_text("z")
                raise OSError(errno.ENOSPC, "full")
        assert snapshot(tmp_path) == before

    def test_a_folder_that_was_not_there_is_gone_again(self, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt), new_tree(tmp_path / "new" / "er", ("made",)):
            raise KeyboardInterrupt
        assert not (tmp_path / "new" / "er").exists()
