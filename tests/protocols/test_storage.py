from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from protocols.errors import BoundsError, StorageError
from protocols.storage import file_sha256, locked, read_bounded, regular_size, staged, write_whole
from tests.protocols.payload.blocks import full_disk


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with full_disk(1000), pytest.raises(StorageError, match="full disk"):
        write_whole(path, b"n" * 5000)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_an_error_of_the_flush_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="full disk"):
        write_whole(tmp_path / "file", b"data")
    assert os.listdir(tmp_path) == []


def test_errors_of_the_block_pass_through_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), staged(tmp_path / "file"):
        raise FileNotFoundError("another file")
    assert os.listdir(tmp_path) == []


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", b"data")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        write_whole(tmp_path / "absent" / "file", b"data")


def test_reads_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(BoundsError):
        read_bounded(path, 4)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent"):
        with pytest.raises(StorageError):
            regular_size(path)
        with pytest.raises(StorageError):
            read_bounded(path, 10)


def test_digest_of_a_known_message(tmp_path: Path) -> None:
    # FIPS 180-2, appendix B.1.
    (tmp_path / "abc").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_sha256(tmp_path / "abc") == expected


def test_a_locked_folder_is_changed_by_one_at_a_time(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(50):
            with locked(tmp_path):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "200"


def test_a_folder_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    with pytest.raises(StorageError), locked(tmp_path / "none"):
        pass


def test_a_lock_does_not_outlive_its_block_whatever_the_closing_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"), locked(tmp_path):
        patch.setattr(os, "close", failing)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
