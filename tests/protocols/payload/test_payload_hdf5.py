"""The HDF5 payload, and the files that break naive readers of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from protocols.errors import BoundsError, ProtocolError, SchemaError, VersionError
from protocols.payload.hdf5 import Extent, Hdf5PayloadReader
from protocols.payload.opening import open_payload
from tests.protocols.payload.blocks import DIM, make_block, write_payload
from tests.protocols.payload.payload_contract import PayloadContract

ROWS = 9
SOUND: dict[str, Any] = {
    "values": np.zeros((ROWS, DIM), dtype="<f2"),
    "tags": np.zeros(ROWS, dtype="u1"),
    "casing": np.zeros(ROWS, dtype="u1"),
    "offsets": np.array([0, 3, 7, 9], dtype="<i8"),
    "blocks": np.array([0, 2, 3], dtype="<i8"),
}


class TestHdf5Payload(PayloadContract):
    suffix = ".h5"


def write(
    path: Path,
    arrays: dict[str, Any] | None = None,
    *,
    spoil: Callable[[h5py.File], None] | None = None,
    skip: str = "",
) -> Path:
    """An HDF5 file as a stranger would write it."""
    with h5py.File(path, "w", libver=("v108", "v110")) as file:
        file.attrs.create("format_version", 1, dtype="<i4")
        for name, array in {**SOUND, **(arrays or {})}.items():
            if name != skip:
                plain(file, name, array)
        if spoil:
            spoil(file)
    return path


def plain(file: h5py.File, name: str, array: Any, **options: Any) -> None:
    settings = {"chunks": (4096, *array.shape[1:]), "maxshape": (None, *array.shape[1:]), "fletcher32": True}
    file.create_dataset(name, data=array, **{**settings, **options})


def refused(path: Path, error: type[ProtocolError] = SchemaError) -> None:
    with pytest.raises(error):
        PayloadContract.read_all(path)


def test_a_sound_file_of_a_stranger_is_read(tmp_path: Path) -> None:
    with open_payload(write(tmp_path / "share")) as reader:
        assert reader.read_block(0).lengths.tolist() == [3, 4]
        assert reader.read_block(1).lengths.tolist() == [2]


def test_external_storage_does_not_read_a_local_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\x11" * ROWS)

    def spoil(file: h5py.File) -> None:
        file.create_dataset("tags", shape=(ROWS,), dtype="u1", external=[(str(secret), 0, ROWS)])

    path = write(tmp_path / "share", skip="tags", spoil=spoil)
    with h5py.File(path) as file:
        assert file["tags"][0] == 0x11
    refused(path)


def link_to(other: Path) -> dict[str, Callable[[h5py.File], None]]:
    def virtual(file: h5py.File) -> None:
        layout = h5py.VirtualLayout(shape=(ROWS,), dtype="u1")
        layout[:] = h5py.VirtualSource(other, "tags", shape=(ROWS,))
        file.create_virtual_dataset("tags", layout)

    def soft(file: h5py.File) -> None:
        file["tags"] = h5py.SoftLink("/casing")

    def external(file: h5py.File) -> None:
        file["tags"] = h5py.ExternalLink(str(other), "/tags")

    def hard(file: h5py.File) -> None:
        file["tags"] = file["casing"]

    return {"virtual": virtual, "soft": soft, "external": external, "hard": hard}


@pytest.mark.parametrize("kind", ["virtual", "soft", "external", "hard"])
def test_links_and_virtual_datasets_are_refused(tmp_path: Path, kind: str) -> None:
    other = write(tmp_path / "other")
    path = write(tmp_path / "share", skip="tags", spoil=link_to(other)[kind])
    with h5py.File(path) as file:
        assert len(file["tags"]) == ROWS
    refused(path)


def test_a_link_to_where_its_dataset_would_lie_is_refused(tmp_path: Path) -> None:
    other = write(tmp_path / "other")

    def spoil(file: h5py.File) -> None:
        del file["tags"]
        file["tags"] = h5py.ExternalLink(str(other), "/tags")

    path = write(tmp_path / "share", spoil=spoil)
    with h5py.File(path) as file, h5py.File(other) as read:
        assert file["tags"].id.get_chunk_info(0) == read["tags"].id.get_chunk_info(0)
    with pytest.raises(SchemaError, match="a link to elsewhere"):
        open_payload(path)


def test_a_small_file_that_claims_gigabytes_is_refused(tmp_path: Path) -> None:
    def spoil(file: h5py.File) -> None:
        file.create_dataset(
            "values", shape=(2**31, DIM), maxshape=(None, DIM), chunks=(4096, DIM), dtype="<f2", fletcher32=True
        )

    path = write(tmp_path / "share", skip="values", spoil=spoil)
    assert path.stat().st_size < 100_000
    refused(path)


def test_rows_without_stored_chunks_are_refused(tmp_path: Path) -> None:
    def spoil(file: h5py.File) -> None:
        file["tags"].resize(20_000, axis=0)
        file["casing"].resize(20_000, axis=0)

    refused(write(tmp_path / "share", spoil=spoil))


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (2**20, DIM)},
        {"chunks": (1, DIM)},
        {"chunks": (4096, 1)},
        {"compression": "gzip"},
        {"compression": "lzf"},
        {"shuffle": True},
        {"fletcher32": False},
        {"chunks": None, "fletcher32": False, "maxshape": None},
        {"dtype": "<f4"},
        {"dtype": ">f2"},
        {"dtype": "<i2"},
    ],
)
def test_other_storage_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    refused(
        write(tmp_path / "share", skip="values", spoil=lambda file: plain(file, "values", SOUND["values"], **options))
    )


def test_a_compact_dataset_is_refused(tmp_path: Path) -> None:
    def spoil(file: h5py.File) -> None:
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((ROWS,))
        h5py.h5d.create(file.id, b"tags", h5py.h5t.STD_U8LE, space, dcpl=plan)

    refused(write(tmp_path / "share", skip="tags", spoil=spoil))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.create_dataset("names", data=[1]),
        lambda file: file.create_group("more"),
        lambda file: file.attrs.create("site", "a"),
        lambda file: file["tags"].attrs.create("site", 1),
        lambda file: file.attrs.pop("format_version"),
        lambda file: file.attrs.create("format_version", 1, dtype="<i8"),
        lambda file: file.attrs.create("format_version", [1], dtype="<i4"),
        lambda file: file.move("tags", "Tags"),
        lambda file: (file.pop("tags"), file.create_group("tags")),
        lambda file: file["tags"].resize(ROWS - 1, axis=0),
        lambda file: file["casing"].resize(ROWS + 1, axis=0),
        lambda file: file["blocks"].resize(1, axis=0),
        lambda file: file["offsets"].resize(0, axis=0),
    ],
)
def test_other_objects_attributes_and_shapes_are_refused(tmp_path: Path, spoil: Callable[[h5py.File], None]) -> None:
    path = write(tmp_path / "share", spoil=spoil)
    with pytest.raises((SchemaError, BoundsError)):
        open_payload(path)


def test_a_named_type_is_refused(tmp_path: Path) -> None:
    def spoil(file: h5py.File) -> None:
        kind = h5py.h5t.STD_U8LE.copy()
        kind.commit(file.id, b"kind")
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((4096,))
        plan.set_fletcher32()
        dataset = h5py.h5d.create(
            file.id, b"tags", kind, h5py.h5s.create_simple((ROWS,), (h5py.h5s.UNLIMITED,)), dcpl=plan
        )
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, SOUND["tags"])
        file.id.unlink(b"kind")

    refused(write(tmp_path / "share", skip="tags", spoil=spoil))


def test_another_version_is_its_own_error(tmp_path: Path) -> None:
    refused(write(tmp_path / "share", spoil=lambda file: file.attrs.modify("format_version", 3)), VersionError)


@pytest.mark.parametrize(
    "arrays",
    [
        {"offsets": [0, 3, 3, 9]},
        {"offsets": [0, 7, 3, 9]},
        {"offsets": [1, 3, 7, 9]},
        {"offsets": [0, 3, 7, 8]},
        {"offsets": [0, 3, 7, 10]},
        {"offsets": [-1, 3, 7, 9]},
        {"offsets": [0, 3, -(2**62), 9]},
        {"offsets": [0, 2**62, -(2**62), 9]},
        {"blocks": [0, 2, 2, 3]},
        {"blocks": [1, 2, 3]},
        {"blocks": [0, 2, 4]},
        {"blocks": [0, 5, 3]},
        {"blocks": [0, -1, 3]},
        {"blocks": [0, 1, 2, 3, 4]},
        # As 64 bits have them, these starts rise all the way.
        {"offsets": [*range(10)], "blocks": [0, 2**62, 2**63 - 1, -(2**63), -(2**62), 9]},
    ],
)
def test_offsets_that_contradict_each_other_are_refused(tmp_path: Path, arrays: dict[str, list[int]]) -> None:
    path = write(tmp_path / "share", {name: np.array(array, dtype="<i8") for name, array in arrays.items()})
    with pytest.raises((SchemaError, BoundsError)):
        open_payload(path)


def test_a_block_of_sentences_that_are_not_there_is_no_fault_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a reader overlooks: what numpy says of it has no business with who reads a stranger's file."""
    monkeypatch.setattr(Hdf5PayloadReader, "_offsets", lambda self, index: np.zeros(0, "<i8"))
    with pytest.raises(SchemaError, match="IndexError"):
        open_payload(write(tmp_path / "share"))


def test_a_sentence_that_is_too_long_is_refused(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "values": np.zeros((513, DIM), "<f2"),
        "tags": np.zeros(513, "u1"),
        "casing": np.zeros(513, "u1"),
    }
    offsets, blocks = np.array([0, 513], "<i8"), np.array([0, 1], "<i8")
    refused(write(tmp_path / "share", {**arrays, "offsets": offsets, "blocks": blocks}), BoundsError)


def test_a_flipped_byte_of_a_value_fails_its_checksum(tmp_path: Path) -> None:
    block = make_block([3, 4])
    path = write_payload(tmp_path / "share.h5", [block])
    data = path.read_bytes()
    place = data.index(block.values.tobytes())
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    refused(path)


def test_bytes_before_the_file_are_refused(tmp_path: Path) -> None:
    data = write(tmp_path / "sound").read_bytes()
    (tmp_path / "share").write_bytes(bytes(512) + data)
    assert h5py.is_hdf5(tmp_path / "share")
    refused(tmp_path / "share")


def test_the_old_superblock_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "share", "w", libver="earliest") as file:
        file.attrs.create("format_version", 1, dtype="<i4")
        for name, array in SOUND.items():
            plain(file, name, array)
    refused(tmp_path / "share")


def test_bytes_hidden_within_the_file_are_refused(tmp_path: Path) -> None:
    def spoil(file: h5py.File) -> None:
        file.create_dataset("hidden", data=np.ones(200_000, dtype="u1"))
        file.flush()
        plain(file, "tags", SOUND["tags"])
        file.flush()
        del file["hidden"]

    path = write(tmp_path / "share", skip="tags", spoil=spoil)
    assert path.stat().st_size > 300_000
    refused(path)


def test_overlapping_chunks_are_refused(tmp_path: Path) -> None:
    rows = 4096 * 3
    arrays: dict[str, Any] = {
        "values": np.zeros((rows, 1), "<f2"),
        "tags": np.zeros(rows, "u1"),
        "casing": np.zeros(rows, "u1"),
    }
    offsets, blocks = np.arange(0, rows + 1, 8, dtype="<i8"), np.array([0, rows // 8], "<i8")
    path = write(tmp_path / "share", {**arrays, "offsets": offsets, "blocks": blocks})
    PayloadContract.read_all(path)
    with open_payload(path) as reader:
        assert isinstance(reader, Hdf5PayloadReader)
        extents = [Extent(4000, 12_000), Extent(11_999, 20_000)]
        with pytest.raises(SchemaError, match="overlap"):
            reader.check_extents(extents)
        with pytest.raises(SchemaError, match="behind"):
            reader.check_extents([Extent(reader.file_bytes - 1, reader.file_bytes + 1)])
