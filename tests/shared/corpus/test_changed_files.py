"""Files of many notes that somebody writes while they are read: what is behind the place of the change is never lost without a word."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foundation.errors import StorageError
from shared.corpus import read_corpus, write_corpus
from tests.shared.corpus.samples import FILE_OF_MANY, note
from tests.shared.corpus.test_round_trip import target

NOTES = 60
TEXT = "seen at noon " * 400


def _cut(path: Path) -> None:
    # Behind a whole line, as an export that begins anew would.
    data = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(data[: data.rindex(b"\n") + 1])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _added_to(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def _written(folder: Path, name: str) -> Path:
    texts = [f"{TEXT}{number}" for number in range(NOTES)]
    if name == "csv":
        path = folder / "notes.csv"
        path.write_text("id,text\n" + "".join(f"n{number},{text}\n" for number, text in enumerate(texts)))
    elif name == "parquet":
        path = folder / "notes.parquet"
        # Lines in it, so that it can be cut like the others.
        table = pa.table({"text": [f"{text}\n" for text in texts]})
        pq.write_table(table, path, compression="none", use_dictionary=False, row_group_size=4)
    else:
        path = target(folder, name)
        write_corpus(
            (note(f"n{number}", text + " ", ("Ana", "PATIENT")) for number, text in enumerate(texts)), path, name
        )
    return path


@pytest.mark.parametrize("harm", [_cut, _emptied, _added_to])
@pytest.mark.parametrize("name", [*FILE_OF_MANY, "csv", "parquet"])
def test_a_file_that_is_written_while_it_is_read_is_told(
    name: str, harm: Callable[[Path], None], tmp_path: Path
) -> None:
    path = _written(tmp_path, name)
    # Without a quarantine half a record is told as one that is damaged, where a format has such.
    rest = iter(read_corpus(path, format=name, quarantine=tmp_path / "aside"))
    next(rest)
    harm(path)
    with pytest.raises(
        StorageError, match=f"{path.name}: expected a file that nobody writes while it is read, .* changed"
    ):
        list(rest)


def test_a_file_that_another_takes_the_place_of_is_read_to_its_end(tmp_path: Path) -> None:
    path = _written(tmp_path, "jsonl")
    rest = iter(read_corpus(path))
    next(rest)
    (tmp_path / "new").write_bytes(b"")
    (tmp_path / "new").replace(path)
    assert len(list(rest)) == NOTES - 1


def test_a_compressed_file_is_looked_at_as_it_lies_there(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl.gz"
    path.write_bytes(gzip.compress(_written(tmp_path, "jsonl").read_bytes(), 0))
    assert len(list(read_corpus(path))) == NOTES
    rest = iter(read_corpus(path))
    next(rest)
    _added_to(path)
    with pytest.raises(StorageError, match="changed"):
        list(rest)
