from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.files import atomic_file, stage_file, write_bytes, write_text
from tests.foundation.failing import failing
from tests.protocols.payload.blocks import full_disk


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def _staged(path: Path, **options: bool) -> None:
    with stage_file(path, **options) as draft:
        draft.write_bytes(b"data")


def _streamed(path: Path, **options: bool) -> None:
    with atomic_file(path, **options) as stream:
        stream.write(b"data")


WAYS = [
    _staged,
    _streamed,
    lambda path, **options: write_bytes(path, b"data", **options),
    lambda path, **options: write_text(path, "data", **options),
]


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "first")
    write_text(tmp_path / "a", "säcönd")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "säcönd"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.usefixtures("usual_umask")
@pytest.mark.parametrize("write", WAYS)
class TestRights:
    """Of a new file, and of one in the place of another that had others."""

    @pytest.mark.parametrize("before", [None, 0o644, 0o600])
    def test_a_file_is_its_owners_alone_by_default(
        self, write: Callable[..., None], before: int | None, tmp_path: Path
    ) -> None:
        assert self._mode(tmp_path / "file", write, before) == 0o600

    @pytest.mark.parametrize("before", [None, 0o644, 0o600])
    @pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0o002, 0o664)])
    def test_another_has_the_rights_that_the_umask_leaves(
        self, write: Callable[..., None], before: int | None, umask: int, mode: int, tmp_path: Path
    ) -> None:
        os.umask(umask)
        assert self._mode(tmp_path / "file", write, before, private=False) == mode

    @staticmethod
    def _mode(path: Path, write: Callable[..., None], before: int | None, **options: bool) -> int:
        if before is not None:
            path.write_bytes(b"old")
            path.chmod(before)
        write(path, **options)
        assert path.read_bytes() == b"data"
        return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("usual_umask")
def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    with stage_file(tmp_path / "key") as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("function", ["open", "fsync", "replace"])
def test_a_file_that_fails_leaves_the_old_one_alone(
    function: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes(tmp_path / "a", b"old")
    expected = StorageError if isinstance(error, OSError) else KeyboardInterrupt
    monkeypatch.setattr(os, function, failing(getattr(os, function), 1, error))
    with pytest.raises(expected, match="full disk" if expected is StorageError else None):
        write_bytes(tmp_path / "a", b"new")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_bytes(tmp_path / "big", b"old")
    with full_disk(1000), pytest.raises(StorageError, match=r"^big: .*full disk.*; free some space") as caught:
        write_bytes(tmp_path / "big", b"n" * 5000)
    assert "\n" not in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"big": b"old"}


def test_bytes_are_on_the_disk_before_their_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, replace, calls = os.fsync, os.replace, []

    def noted(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("name"), replace(*names)))
    write_bytes(tmp_path / "a", b"data")
    assert calls == ["file", "name", "folder"]


def test_errors_of_the_block_pass_through_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), stage_file(tmp_path / "file"):
        raise FileNotFoundError("another file")
    assert os.listdir(tmp_path) == []


def test_those_of_a_stream_are_about_its_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"^file: "), atomic_file(tmp_path / "file"):
        raise OSError(errno.EIO, "Input/output error")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        write_bytes(tmp_path / "absent" / "file", b"data")


@pytest.mark.parametrize("letter", ["a", "ß", "𝔞"])
def test_the_longest_name_that_there_can_be(letter: str, tmp_path: Path) -> None:
    name = letter * (255 // len(letter.encode()))
    write_bytes(tmp_path / name, b"data")
    assert os.listdir(tmp_path) == [name]
