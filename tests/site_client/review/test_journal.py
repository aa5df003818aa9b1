"""Journals that are cut, damaged, and held by two."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from foundation.errors import StorageError
from site_client.errors import ReviewError
from site_client.review.journal import NAME, Journal

LINES: list[dict[str, object]] = [{"do": "a", "n": number, "more": "x" * (number * 7)} for number in range(4)]


def written(folder: Path) -> bytes:
    folder.mkdir(exist_ok=True)
    journal = Journal(folder)
    journal.add(LINES[0], LINES[1])
    for line in LINES[2:]:
        journal.add(line)
    journal.close()
    return (folder / NAME).read_bytes()


def read(folder: Path, data: bytes) -> list[dict[str, object]]:
    (folder / NAME).write_bytes(data)
    journal = Journal(folder)
    try:
        return list(journal.read())
    finally:
        journal.close()


def test_a_program_killed_at_any_byte_leaves_every_line_that_was_whole(tmp_path: Path) -> None:
    data = written(tmp_path)
    for length in range(len(data) + 1):
        kept = data[:length].count(b"\n")
        assert read(tmp_path, data[:length]) == LINES[:kept]


def test_what_is_written_behind_a_torn_line_takes_its_place(tmp_path: Path) -> None:
    data = written(tmp_path)
    (tmp_path / NAME).write_bytes(data[:-3])
    journal = Journal(tmp_path)
    assert list(journal.read()) == LINES[:3]
    journal.add({"do": "b"})
    journal.close()
    assert read(tmp_path, (tmp_path / NAME).read_bytes()) == [*LINES[:3], {"do": "b"}]


def test_a_whole_line_with_any_byte_changed_is_named_and_never_passed_over(tmp_path: Path) -> None:
    data = written(tmp_path)
    # The last line end is left: without it the line is a torn one.
    for place in range(len(data) - 1):
        for other in (data[place] ^ 1, ord("\n")):
            changed = data[:place] + bytes([other]) + data[place + 1 :]
            if changed == data:
                continue
            line = data[:place].count(b"\n") + 1
            with pytest.raises(ReviewError, match=f"line {line}: expected it as it was written"):
                read(tmp_path, changed)


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (0, 2, 3), (0, 1, 1, 2, 3), (1, 2, 3)])
def test_lines_that_are_missing_twice_or_in_another_order_are_noticed(order: tuple[int, ...], tmp_path: Path) -> None:
    lines = written(tmp_path).splitlines(keepends=True)
    with pytest.raises(ReviewError, match="expected it as it was written"):
        read(tmp_path, b"".join(lines[index] for index in order))


def test_it_is_its_owners_alone_and_one_programs_at_a_time(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    with pytest.raises(ReviewError, match="has open"):
        Journal(tmp_path)
    journal.close()
    Journal(tmp_path).close()


@pytest.mark.parametrize("fails", ["write", "fsync"])
def test_on_a_full_disk_nothing_counts_and_nothing_is_left(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(tmp_path)
    journal = Journal(tmp_path)
    list(journal.read())

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        if fails == "fsync":
            patch.setattr(os, "fsync", full)
        else:
            patch.setattr(journal, "_file", Short(journal._file))
        with pytest.raises(StorageError, match="full disk"):
            journal.add({"do": "b"})
    assert (tmp_path / NAME).read_bytes() == before
    journal.add({"do": "c"})
    journal.close()
    assert read(tmp_path, (tmp_path / NAME).read_bytes()) == [*LINES, {"do": "c"}]


def _laid_over(path: Path, older: bytes) -> None:
    path.write_bytes(older)


def _replaced(path: Path, older: bytes) -> None:
    (path.parent / "synced").write_bytes(path.read_bytes())
    os.replace(path.parent / "synced", path)


def _removed(path: Path, older: bytes) -> None:
    path.unlink()


def _added_to(path: Path, older: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize("harm", [_laid_over, _replaced, _removed, _added_to])
def test_nothing_is_said_to_be_saved_in_a_file_that_another_has_changed_meanwhile(
    harm: Callable[[Path, bytes], None], tmp_path: Path
) -> None:
    data = written(tmp_path)
    journal = Journal(tmp_path)
    list(journal.read())
    harm(tmp_path / NAME, data[: data.rindex(b"\n", 0, -1) + 1])
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for _ in range(2):
        with pytest.raises(ReviewError, match="found it changed, replaced or moved"):
            journal.add({"do": "b"})
    journal.close()
    # Whoever puts the folder in order finds all that there was.
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == after


class Short:
    """A file on a disk that takes ten bytes more."""

    def __init__(self, file: object) -> None:
        self._file, self._left = file, 10

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        if not self._left:
            raise OSError(errno.ENOSPC, "full")
        taken = min(self._left, len(data))
        self._left -= taken
        return int(self._file.write(data[:taken]))  # type: ignore[attr-defined]
