from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.folders import new_folder, new_tree
from tests.foundation.failing import failing
from tests.loop import snapshot


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

    @pytest.mark.parametrize("kind", ["link", "link to nothing", "root of a disk"])
    def test_what_no_folder_can_replace_is_told_before_the_work(
        self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = tmp_path / "made"
        (tmp_path / "elsewhere").mkdir()
        if kind == "root of a disk":
            target.mkdir()
            monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == target)
        else:
            target.symlink_to("elsewhere" if kind == "link" else "nothing")
        begun = False
        with (
            pytest.raises(StorageError, match=r"made: expected .*link.* within it"),
            new_folder(target, replace=False),
        ):
            begun = True
        assert not begun
        assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "made"}

    @pytest.mark.parametrize("name", [".", "", "../here", "{here}"])
    def test_the_folder_in_which_the_command_runs_is_told_before_the_work(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The system would not rename over its dot, and whoever stands in it would not see what has replaced it."""
        here = tmp_path / "here"
        here.mkdir()
        monkeypatch.chdir(here)
        target = Path(name.format(here=here))
        with (
            pytest.raises(StorageError, match=r"expected a new folder, received .*runs.* within it"),
            new_folder(target, replace=False),
        ):
            raise AssertionError
        assert list(tmp_path.rglob("*")) == [here]

    def test_who_comes_second_is_told_before_the_work_and_the_first_goes_on(self, tmp_path: Path) -> None:
        target = tmp_path / "made"
        with new_folder(target, replace=False) as folder:
            (folder / "one").write_text("x")
            with (
                pytest.raises(StorageError, match=r"made: expected .* no other command .*choose another"),
                new_folder(target, replace=False),
            ):
                raise AssertionError
            with new_folder(tmp_path / "other", replace=False):
                pass
        assert [path.name for path in target.iterdir()] == ["one"]
        assert {path.name for path in tmp_path.iterdir()} == {"made", "other"}

    def test_without_locks_who_comes_second_is_told_at_the_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def none(handle: int, *, wait: bool) -> None:
            raise OSError(errno.ENOLCK, "no locks")

        monkeypatch.setattr("foundation.reservations.lock", none)
        monkeypatch.setattr("foundation.leftovers.lock", none)
        target = tmp_path / "made"
        with pytest.raises(StorageError), new_folder(target, replace=False):  # noqa: PT012
            with new_folder(target, replace=False) as folder:
                (folder / "first").write_text("x")
            assert target.exists()
        assert [path.name for path in target.iterdir()] == ["first"]
        with new_folder(tmp_path / "next", replace=False):
            pass
        assert {path.name for path in tmp_path.iterdir()} == {"made", "next"}

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

    def test_a_block_that_has_used_up_all_open_files_leaves_nothing(self, tmp_path: Path) -> None:
        limits, held = resource.getrlimit(resource.RLIMIT_NOFILE), []
        try:
            with pytest.raises(StorageError, match="one more file"), new_folder(tmp_path / "made") as folder:  # noqa: PT012
                (folder / "deep").mkdir()
                for name in ("a", "deep/b"):
                    (folder / name).write_text("x")
                resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/dev/fd"))) + 3, limits[1]))
                while True:
                    held.append(os.open(os.devnull, os.O_RDONLY))
        finally:
            for one in held:
                os.close(one)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("call", [1, 2])
    def test_a_rename_that_fails_leaves_the_old_folder(
        self, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "old").write_text("x")
        before = snapshot(tmp_path)
        monkeypatch.setattr(os, "rename", failing(os.rename, call, OSError(errno.EIO, "broken")))
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
