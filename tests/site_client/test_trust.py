"""The file with what a site has verified."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from site_client.errors import WorkspaceError
from site_client.trust import FIRST_ROOT, Trust
from tests.protocols.payload.blocks import full_disk

TRUST = Trust("/media/stick", {FIRST_ROOT: b"root", "timestamp.json": b"\xff\x00", "0001-pipeline.json": b""})


def test_it_loads_what_it_saved(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    assert Trust.load(path) is None
    TRUST.save(path)
    assert Trust.load(path) == TRUST


def test_it_packs_what_it_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "metadata"
    folder.mkdir()
    TRUST.unpack(folder)
    # As `tuf.ngclient` leaves it.
    (folder / "root.json").symlink_to(FIRST_ROOT)
    assert Trust.pack(folder, TRUST.source) == TRUST


def test_every_flipped_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    TRUST.save(path)
    data = path.read_bytes()
    for offset in range(len(data)):
        path.write_bytes(data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        with pytest.raises(WorkspaceError, match="backup"):
            Trust.load(path)


def test_a_file_that_can_not_be_read_is_a_damaged_one(tmp_path: Path) -> None:
    (tmp_path / "trust.json").mkdir()
    with pytest.raises(WorkspaceError, match="backup"):
        Trust.load(tmp_path / "trust.json")


def test_metadata_that_were_taken_out_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    TRUST.save(path)
    value = json.loads(path.read_text())
    del value["files"]["timestamp.json"]
    path.write_text(json.dumps(value, separators=(",", ":"), sort_keys=True))
    with pytest.raises(WorkspaceError):
        Trust.load(path)


@pytest.mark.parametrize("name", ["../timestamp.json", "/etc/passwd", "root_history/../x.json", "x/1.root.json", ""])
def test_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    Trust("/media/stick", {FIRST_ROOT: b"root", name: b"x"}).save(path)
    with pytest.raises(WorkspaceError):
        Trust.load(path)


@settings(max_examples=10, deadline=None)
@given(st.dictionaries(st.from_regex(r"[0-9a-z-]{1,20}\.json", fullmatch=True), st.binary(max_size=50), max_size=4))
def test_any_metadata_come_back(files: dict[str, bytes]) -> None:
    trust = Trust("https://deid.example.org/releases", {FIRST_ROOT: b"root", **files})
    with tempfile.TemporaryDirectory() as folder:
        trust.save(Path(folder) / "trust.json")
        assert Trust.load(Path(folder) / "trust.json") == trust


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    TRUST.save(path)
    with full_disk(20), pytest.raises(Exception, match="full disk"):
        Trust("elsewhere", {FIRST_ROOT: b"root"}).save(path)
    assert Trust.load(path) == TRUST
    assert [one.name for one in tmp_path.iterdir()] == ["trust.json"]
