from __future__ import annotations

import errno
import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.locks import hold_scratch, lock_folder, lock_number


def test_a_locked_folder_is_changed_by_one_at_a_time(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(50):
            with lock_folder(tmp_path):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "200"


def test_a_folder_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    with pytest.raises(StorageError), lock_folder(tmp_path / "none"):
        pass


def test_a_lock_does_not_outlive_its_block_whatever_the_closing_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"), lock_folder(tmp_path):
        patch.setattr(os, "close", failing)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


def test_a_number_keeps_others_off_the_same_number_only(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    with lock_number(file, 7) as held:
        assert held
        with lock_number(file, 7, wait=False) as again, lock_number(file, 2**40, wait=False) as other:
            assert (again, other) == (False, True)
    with lock_number(file, 7, wait=False) as free:
        assert free


def test_who_waits_for_a_number_gets_it_when_it_is_given_back(tmp_path: Path) -> None:
    file, order = tmp_path / "numbers", []
    begun = threading.Event()

    def wait() -> None:
        begun.set()
        with lock_number(file, 3):
            order.append("second")

    with lock_number(file, 3):
        thread = threading.Thread(target=wait)
        thread.start()
        begun.wait()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def open_files() -> list[str]:
    """What this process holds open."""
    found = []
    for descriptor in os.listdir("/dev/fd"):
        # The one that lists them is closed by now.
        with suppress(OSError):
            found.append(os.readlink(f"/dev/fd/{descriptor}"))
    return found


@pytest.mark.parametrize("call", ["flock", "fcntl"])
def test_a_disk_without_locks_is_told_as_that(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, call, without)
    entered = False
    with (
        pytest.raises(StorageError, match="a system and a disk that have file locks"),
        lock_folder(tmp_path) if call == "flock" else lock_number(tmp_path / "numbers", 7),
    ):
        entered = True
    assert not entered
    # Not how many are open: those of earlier tests may be collected meanwhile.
    assert not [name for name in open_files() if name.startswith(str(tmp_path))]


def test_attack_a_folder_that_another_user_made_ahead_is_not_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "theirs").touch()
    someone_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone_else)
    with pytest.raises(StorageError, match="not permitted"), hold_scratch(tmp_path / "scratch"):
        pytest.fail("filled it")
    assert (tmp_path / "scratch" / "theirs").exists()
