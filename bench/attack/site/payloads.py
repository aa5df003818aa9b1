"""Files that hold more than sentences, less, or elsewhere than they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aggregator.ingestion.ingest import Decision
from bench.attack.share import Liar, Lie

_TEXT = "seen on the ward and sent home"
_OURS: dict[str, Any] = {
    "compression": "none",
    "use_dictionary": False,
    "column_encoding": "PLAIN",
    "data_page_version": "1.0",
    "write_statistics": False,
    "store_schema": False,
}


def _parquet(change: Callable[[pa.Table], pa.Table] = lambda table: table, **options: Any) -> Lie:
    """The honest table, changed or written in another way."""

    def lie(liar: Liar) -> Decision:
        table = pq.ParquetFile(liar.world.honest, binary_type=pa.large_binary()).read()
        path = liar.world.root / "forged.parquet"
        pq.write_table(change(table), path, **(_OURS | options))
        return liar.send_payload(path)

    return lie


def _with_column(table: pa.Table) -> pa.Table:
    return table.append_column("text", pa.array([_TEXT] * len(table)))


def _with_metadata(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({**(table.schema.metadata or {}), b"text": _TEXT.encode()})


def _in_another_order(table: pa.Table) -> pa.Table:
    return table.select(table.column_names[::-1])


def _hdf5(change: Callable[[h5py.File], object]) -> Lie:
    """The honest sentences as HDF5, changed."""

    def lie(liar: Liar) -> Decision:
        path = liar.write(liar.block(), ".h5")
        with h5py.File(path, "r+") as file:
            change(file)
        return liar.send_payload(path)

    return lie


def _link_outside(file: h5py.File) -> None:
    del file["tags"]
    file["tags"] = h5py.ExternalLink("/etc/passwd", "/tags")


def _store_outside(file: h5py.File) -> None:
    count = len(file["tags"])
    del file["tags"]
    file.create_dataset("tags", (count,), "u1", external=[("/etc/passwd", 0, count)])


def _replaced(name: str, **options: Any) -> Callable[[h5py.File], None]:
    """One dataset, written in another way."""

    def change(file: h5py.File) -> None:
        data = file[name][:]
        del file[name]
        kind = options.pop("dtype", data.dtype)
        file.create_dataset(name, data=data.astype(kind), **options)

    return change


def _bomb(file: h5py.File) -> None:
    del file["codes"]
    file.create_dataset("codes", (1 << 38,), "<u4", chunks=(4096,), compression="gzip", fillvalue=0)


def _bytes(change: Callable[[bytes], bytes]) -> Lie:
    """The honest file, its bytes changed; the manifest signs for them."""

    def lie(liar: Liar) -> Decision:
        path = liar.world.root / "forged.bin"
        path.write_bytes(change(Path(liar.world.honest).read_bytes()))
        return liar.send_payload(path)

    return lie


def _with_inner_bytes(data: bytes) -> bytes:
    half = len(data) // 2
    return data[:half] + _TEXT.encode() + data[half:]


LIES: Mapping[str, Lie] = {
    "Parquet: a column of text": _parquet(_with_column),
    "Parquet: text among the metadata": _parquet(_with_metadata),
    "Parquet: columns in another order": _parquet(_in_another_order),
    "Parquet: compressed": _parquet(compression="zstd"),
    "Parquet: pages by a dictionary": _parquet(use_dictionary=True, column_encoding=None),
    "Parquet: statistics, which hold values": _parquet(write_statistics=True),
    "Parquet: text behind the end": _bytes(lambda data: data + _TEXT.encode()),
    "Parquet: text between the columns": _bytes(_with_inner_bytes),
    "Parquet: cut in half": _bytes(lambda data: data[: len(data) // 2]),
    "neither Parquet nor HDF5": _bytes(lambda data: b"PK\x03\x04" + data),
    "HDF5: a link to a file of the provider": _hdf5(_link_outside),
    "HDF5: values that lie in a file of the provider": _hdf5(_store_outside),
    "HDF5: an attribute with text": _hdf5(lambda file: file["codes"].attrs.create("text", _TEXT)),
    "HDF5: a dataset with text": _hdf5(
        lambda file: file.create_dataset("text", data=np.frombuffer(_TEXT.encode(), "u1"))
    ),
    "HDF5: compressed": _hdf5(_replaced("tags", compression="gzip", chunks=(4096,), maxshape=(None,))),
    "HDF5: numbers of another byte order": _hdf5(_replaced("codes", dtype=">u4")),
    "HDF5: numbers of double width": _hdf5(_replaced("codes", dtype="<u8")),
    "HDF5: a terabyte in a kilobyte": _hdf5(_bomb),
}
