from __future__ import annotations

import os
from pathlib import Path

import pytest

from foundation.errors import StorageError
from protocols.bounded_reading import read_bounded
from protocols.errors import BoundsError


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
            read_bounded(path, 10)
