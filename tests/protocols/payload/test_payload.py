from __future__ import annotations

import os
from pathlib import Path

import pytest

from foundation.errors import StorageError
from protocols.errors import BoundsError, SchemaError
from protocols.payload.opening import PayloadLimits, create_payload, open_payload
from tests.protocols.payload.blocks import make_block, write_payload


@pytest.mark.parametrize("name", ["share", "share.pkl", "share.parquet.gz", "share.txt"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SchemaError, match=r"\.parquet, \.h5, \.hdf5"):
        create_payload(tmp_path / name, dim=3)


@pytest.mark.parametrize("name", ["share.PARQUET", "share.h5", "share.hdf5"])
def test_the_suffix_decides_the_format_and_the_bytes_decide_the_reader(tmp_path: Path, name: str) -> None:
    path = write_payload(tmp_path / name, [make_block([2])])
    path = path.rename(tmp_path / "payload")
    with open_payload(path) as reader:
        assert reader.format == ("parquet" if name.endswith("PARQUET") else "hdf5")


@pytest.mark.parametrize("dim", [-1, 4097])
def test_widths_are_bounded(tmp_path: Path, dim: int) -> None:
    with pytest.raises(BoundsError):
        create_payload(tmp_path / "share.h5", dim=dim)


def test_pipes_and_folders_and_nothing_are_no_payloads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent"):
        with pytest.raises(StorageError):
            open_payload(path)


def test_limits_are_positive() -> None:
    with pytest.raises(BoundsError):
        PayloadLimits(max_sentences=0)
