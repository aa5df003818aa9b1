from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.secret_files import SECRET_BYTES, read_kept_secret, read_secret


def test_a_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.key"
    first = read_secret(path)
    assert len(first) == SECRET_BYTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_secret(path) == first == path.read_bytes()
    assert read_secret(tmp_path / "other.key") != first


def test_all_who_make_it_at_once_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(read_secret, [tmp_path / "own.key"] * 32))
    assert len(found) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["own.key"]


def test_one_that_has_to_be_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        read_kept_secret(tmp_path / "own.key")
    assert not list(tmp_path.iterdir())
    assert read_secret(tmp_path / "own.key") == read_kept_secret(tmp_path / "own.key")


@pytest.mark.parametrize("length", [0, SECRET_BYTES - 1, SECRET_BYTES + 1])
def test_a_damaged_one_is_refused_and_not_made_anew(length: int, tmp_path: Path) -> None:
    path = tmp_path / "own.key"
    path.write_bytes(bytes(length))
    path.chmod(0o600)
    with pytest.raises(StorageError, match="backup"):
        read_secret(path)
    assert path.stat().st_size == length


def test_one_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.key"
    read_secret(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        read_secret(path)


def test_no_folder_is_a_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        read_secret(tmp_path / "none" / "own.key")
