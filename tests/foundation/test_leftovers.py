"""What killed programs left is removed by the next; what another is writing is not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from foundation import leftovers
from foundation.errors import StorageError
from foundation.files import stage_file, write_bytes
from foundation.folders import new_folder
from foundation.locks import hold_scratch


@pytest.fixture(autouse=True)
def another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process looks through a folder once; here, each step stands for a process of its own."""
    monkeypatch.setattr(leftovers, "_swept", set())


def fill_folder(path: Path) -> Iterator[None]:
    with new_folder(path, private=True) as folder:
        (folder / "note.txt").write_text("Ana")
        yield


def fill_file(path: Path) -> Iterator[None]:
    with stage_file(path) as draft:
        draft.write_text("Ana")
        yield


def fill_scratch(path: Path) -> Iterator[None]:
    with hold_scratch(path) as folder:
        (folder / "release").mkdir()
        yield


@contextmanager
def at_work(work: Callable[[Path], Iterator[None]], path: Path) -> Iterator[int]:
    """A process that has begun and waits; its number."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        for _ in work(path):
            os.write(writing, b"x")
            signal.pause()
    os.close(writing)
    os.read(reading, 1)
    try:
        yield child
    finally:
        kill(child)
        os.close(reading)


def kill(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


@pytest.mark.parametrize("work", [fill_folder, fill_file])
def test_the_next_program_removes_what_a_killed_one_left_and_nothing_else(
    work: Callable[[Path], Iterator[None]], tmp_path: Path
) -> None:
    others = [".bashrc", ".notes.partial", ".x.0123456789abcdef.partial.bak", "y.0123456789abcdef.partial"]
    for name in others:
        (tmp_path / name).write_text("x")
    with at_work(work, tmp_path / "made") as child:
        [staged] = [path for path in tmp_path.iterdir() if path.name not in others]
        # As long as it runs, nobody touches it.
        write_bytes(tmp_path / "first", b"x")
        assert staged.exists()
        kill(child)
        leftovers._swept.clear()
        write_bytes(tmp_path / "second", b"x")
    assert {path.name for path in tmp_path.iterdir()} == {*others, "first", "second"}


def test_links_and_pipes_of_such_a_name_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").write_text("x")
    (tmp_path / ".a.0123456789abcdef.partial").symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / ".b.0123456789abcdef.partial")
    write_bytes(tmp_path / "c", b"x")
    assert (tmp_path / "kept" / "a").exists()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_temporary_that_was_swept_before_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []
    real = leftovers._take_lock

    def late(handle: int) -> bool:
        if not taken:
            [swept] = tmp_path.iterdir()
            swept.unlink()
            taken.append(swept)
        return real(handle)

    monkeypatch.setattr(leftovers, "_take_lock", late)
    write_bytes(tmp_path / "a", b"data")
    assert taken
    assert (tmp_path / "a").read_bytes() == b"data"


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_was_being_exchanged_goes_back_or_goes(there: bool, tmp_path: Path) -> None:
    old = tmp_path / ".head.0123456789abcdef.partial.old"
    old.mkdir()
    (old / "weights").write_text("old")
    if there:
        (tmp_path / "head").mkdir()
        (tmp_path / "head" / "weights").write_text("new")
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "head"):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["head"]
    assert (tmp_path / "head" / "weights").read_text() == ("new" if there else "old")


def test_a_folder_that_is_being_exchanged_is_left_alone(tmp_path: Path) -> None:
    with at_work(fill_folder, tmp_path / "head"):
        [staged] = tmp_path.iterdir()
        old = staged.with_name(staged.name + ".old")
        old.mkdir()
        with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "head"):
            raise KeyboardInterrupt
        assert {path.name for path in tmp_path.iterdir()} == {staged.name, old.name}


class TestScratch:
    def test_a_second_process_is_told_who_has_it(self, tmp_path: Path) -> None:
        with at_work(fill_scratch, tmp_path / "scratch") as child:
            with pytest.raises(StorageError, match=f"process {child} .*wait"), hold_scratch(tmp_path / "scratch"):
                raise AssertionError
            assert (tmp_path / "scratch" / "release").exists()

    def test_what_a_killed_one_left_goes_first(self, tmp_path: Path) -> None:
        with at_work(fill_scratch, tmp_path / "scratch") as child:
            kill(child)
            with hold_scratch(tmp_path / "scratch") as folder:
                assert not (folder / "release").exists()
        assert not (tmp_path / "scratch").exists()

    def test_it_goes_whatever_happens(self, tmp_path: Path) -> None:
        with suppress(KeyboardInterrupt), hold_scratch(tmp_path / "scratch") as folder:
            (folder / "a").write_text("x")
            raise KeyboardInterrupt
        assert not list(tmp_path.iterdir())
