"""A name for a file that will be written: one program has it, and what is there is never written over."""

from __future__ import annotations

import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from foundation import reservations
from foundation.files import write_bytes
from foundation.locks import lock
from foundation.reservations import is_free, reserved
from tests.foundation.failing import failing


def test_who_comes_second_is_told_and_the_first_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with reserved(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(BlockingIOError), reserved(path):
            pass
        assert path.exists()
        write_bytes(path, b"the first")
        with pytest.raises(FileExistsError), reserved(path):
            pass
    assert path.read_bytes() == b"the first"
    assert os.listdir(tmp_path) == ["file"]


def test_without_a_file_nothing_stays(tmp_path: Path) -> None:
    for error in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(error), reserved(tmp_path / "file"):
            raise error
    with reserved(tmp_path / "file"):
        pass
    assert os.listdir(tmp_path) == []


def test_what_a_killed_program_left_makes_room(tmp_path: Path) -> None:
    path = tmp_path / "file"
    child = os.fork()
    if not child:
        with reserved(path):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.exists()
    with reserved(path):
        write_bytes(path, b"the next")
    assert path.read_bytes() == b"the next"


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling", "pipe"])
def test_whatever_else_is_there_stays(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "there"
    (tmp_path / "empty").touch()
    if kind == "file":
        path.write_bytes(b"x")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("empty" if kind == "link" else "nothing")
    before = path.lstat()
    assert not is_free(path)
    with pytest.raises(FileExistsError), reserved(path):
        pass
    assert os.path.samestat(before, path.lstat())


def test_a_name_that_goes_while_it_is_taken_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other program ended between our opening and our lock."""
    path = tmp_path / "file"
    path.touch()
    calls: list[int] = []

    def late(handle: int, *, wait: bool) -> None:
        if not calls:
            path.unlink()
        calls.append(handle)
        lock(handle, wait=wait)

    monkeypatch.setattr(reservations, "lock", late)
    with reserved(path):
        assert path.exists()
    assert len(calls) == 2


def test_without_locks_a_new_name_is_taken_and_an_empty_file_is_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(handle: int, *, wait: bool) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(reservations, "lock", none)
    path = tmp_path / "file"
    with reserved(path):
        with pytest.raises(FileExistsError), reserved(path):
            pass
        assert path.exists()
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_made_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError), reserved(tmp_path / "absent" / "file"):
        pass
    monkeypatch.setattr(os, "open", failing(os.open, 1, OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space"), reserved(tmp_path / "file"):
        pass
    assert os.listdir(tmp_path) == []
