from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.reading import file_sha256, read_at_most, read_text, regular_size


def test_text_that_is_absent_or_no_text_is_a_storage_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xfd")
    for name in ("absent", "bytes"):
        with pytest.raises(StorageError, match=f"^{name}: "):
            read_text(tmp_path / name)


def test_text_is_read_as_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"s\xc3\xa4c")
    assert read_text(tmp_path / "a") == "säc"


def test_line_ends_are_those_of_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\r\nb\rc\n")
    assert read_text(tmp_path / "a") == (tmp_path / "a").read_text() == "a\nb\nc\n"


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    with (tmp_path / "endless").open("wb") as file:
        file.truncate(1 << 36)
    with pytest.raises(StorageError, match=r"^endless: expected at most"):
        read_text(tmp_path / "endless")
    (tmp_path / "a").write_bytes(b"12345")
    assert read_text(tmp_path / "a", 5) == "12345"
    with pytest.raises(StorageError, match="at most 4 bytes"):
        read_text(tmp_path / "a", 4)


def test_a_small_file_takes_no_memory_for_all_that_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert read_text(tmp_path / "a", 1 << 30) == "12345"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_what_has_no_size_is_read_as_well(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with (tmp_path / "pipe").open("wb") as writing:
        writing.write(b"12345")
    with open(reading, "rb") as pipe:
        assert read_at_most(pipe, 4) == b"1234"
        assert read_at_most(pipe, 4) == b"5"


def test_only_regular_files_have_a_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"12345")
    assert regular_size(tmp_path / "file") == 5
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent"):
        with pytest.raises(StorageError):
            regular_size(path)


def test_digest_of_a_known_message(tmp_path: Path) -> None:
    # FIPS 180-2, appendix B.1.
    (tmp_path / "abc").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_sha256(tmp_path / "abc") == expected
    with pytest.raises(StorageError):
        file_sha256(tmp_path / "absent")
