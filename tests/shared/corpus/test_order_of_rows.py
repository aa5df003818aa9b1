"""The rows of a Parquet table are known by what they hold, whichever version of pyarrow has read them, and each by its own alone."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shared.corpus import read_corpus
from shared.corpus.formats import parquet_table
from shared.corpus.formats.parquet_table import ParquetTable


def order(path: Path, ward: pa.Array) -> str:
    """Digest of the rows of a table whose texts say nothing of their order."""
    pq.write_table(pa.table({"text": ["Seen today"] * len(ward), "ward": ward}), path)
    corpus = read_corpus(path)
    list(corpus)
    return corpus.order


def column(kind: str, *wards: str) -> pa.Array:
    """A column of the wards, as they are kept by their numbers: by themselves or within other values."""
    numbered = pa.array(wards).dictionary_encode()
    if kind == "list":
        return pa.ListArray.from_arrays(list(range(len(wards) + 1)), numbered)
    return pa.StructArray.from_arrays([numbered], ["name"]) if kind == "struct" else numbered


@pytest.mark.parametrize("kind", ["alone", "list", "struct"])
def test_the_order_of_rows_is_that_of_what_they_hold(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines have pyarrow of other versions, and each writes its own into the bytes of a row."""
    path = tmp_path / "in.parquet"
    ours = order(path, column(kind, "east", "west"))
    assert order(path, column(kind, "west", "east")) != ours
    own = parquet_table._table_bytes
    monkeypatch.setattr(parquet_table, "_table_bytes", lambda row: own(row.replace_schema_metadata({"by": "another"})))
    assert order(path, column(kind, "east", "west")) == ours


def test_what_lies_in_memory_below_a_null_is_no_part_of_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions of pyarrow leave other values there: of 21 the order was another than of 23, for any column of times with a null."""

    def read(below: int) -> str:
        seen = pa.Array.from_buffers(
            pa.timestamp("us"), 2, [pa.py_buffer(b"\1"), pa.py_buffer(struct.pack("<2q", 5, below))]
        )
        batch = pa.record_batch({"text": ["a", "b"], "ward": seen})
        monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *given: iter([batch]))
        return order(tmp_path / "in.parquet", seen)

    assert read(7) == read(8)


def test_a_row_costs_what_it_holds_whatever_stands_beside_it(tmp_path: Path) -> None:
    """Of a column of views, as other programs write them, pyarrow keeps all rows of a batch for each."""
    length = 5000
    texts = pa.array([str(number % 10) * length for number in range(100)], pa.string_view())
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    assert max(len(entry.content) for entry in ParquetTable().entries(tmp_path / "in.parquet")) < 2 * length
