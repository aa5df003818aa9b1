"""What each layer before a stranger's Parquet stops that the other does not: `python -m bench.fuzz.layers [--record]`.

The layers: our reader of footer and pages, which refuses whatever our writer would not have made, and the sandboxed child
process. Every file that our reader refuses is given to pyarrow alone, in a child with the sandbox's limit of memory: what
pyarrow then accepts only our reader stops, what kills the child only the sandbox would contain. Docs: ADR 0013.
"""

from __future__ import annotations

import io
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.fuzz.seeds import prepare
from bench.fuzz.targets import load
from bench.results import Entry, record
from foundation.errors import StorageError
from protocols.errors import ProtocolError

COMMAND = "python -m bench.fuzz.layers --record"
MUTANTS = 1500
_MEMORY_BYTES = 2 << 30
_WORDS = "Ada Lovelace, 10 December 1815"


def craft_files(sound: bytes) -> dict[str, bytes]:
    """Files that a site can write on purpose with any Parquet library: the same rows, and more beside them."""
    table = pq.read_table(io.BytesIO(sound))
    hidden = pa.array([_WORDS] * table.num_rows)
    bomb = pa.array([bytes(1 << 20)] * 512, type=pa.large_binary())
    return {
        "another column": _written(table.append_column("note", hidden)),
        "text in the metadata": _written(table.replace_schema_metadata({"note": _WORDS})),
        "compressed": _written(table, compression="zstd"),
        "dictionaries": _written(table, use_dictionary=True),
        "statistics": _written(table, write_statistics=True),
        "compressed to a thousandth": _written(pa.table({"representation": bomb}), compression="zstd"),
        "bytes between columns and footer": _with_gap(sound),
    }


def _written(table: pa.Table, **options: object) -> bytes:
    plain: dict[str, object] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    sink = io.BytesIO()
    pq.write_table(table, sink, **{**plain, **options})
    return sink.getvalue()


def _with_gap(sound: bytes) -> bytes:
    footer = int.from_bytes(sound[-8:-4], "little") + 8
    return sound[:-footer] + _WORDS.encode() + sound[-footer:]


def mutants(sound: bytes, count: int) -> Iterator[bytes]:
    """The file with one to three bytes changed, in its footer, where all structure is, every second time."""
    generator = np.random.default_rng(0)
    footer = int.from_bytes(sound[-8:-4], "little") + 8
    for number in range(count):
        data = bytearray(sound)
        first = len(sound) - footer if number % 2 else 0
        for place in generator.integers(first, len(sound), size=generator.integers(1, 4)).tolist():
            data[place] = int(generator.integers(256))
        yield bytes(data)


def outcome_alone(data: bytes) -> str:
    """What pyarrow without our reader makes of a file: "accepted", "refused" or "killed"."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)
        except (MemoryError, pa.ArrowMemoryError):
            os._exit(2)
        except Exception:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "accepted", 1: "refused"}.get(code, "killed")


def measure() -> list[Entry]:
    """Counts over crafted and mutated files."""
    found: dict[str, Counter[str]] = {"crafted": Counter(), "mutated": Counter()}
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        target = load("parquet", Path(name))
        sound = target.seeds[0]
        sources = {"crafted": craft_files(sound).values(), "mutated": mutants(sound, MUTANTS)}
        for kind, files in sources.items():
            for data in files:
                try:
                    target.take(data)
                    found[kind]["accepted by both"] += 1
                except (ProtocolError, StorageError):
                    found[kind][f"{outcome_alone(data)} by pyarrow alone"] += 1
    return [
        Entry(
            f"{kind} Parquet files, {outcome}",
            count,
            None,
            "",
            "files",
            None,
            1,
            f"{sum(counts.values())} {kind} files",
            COMMAND,
            note,
        )
        for kind, counts in found.items()
        for outcome, count in sorted(counts.items())
        for note in ["" if outcome == "accepted by both" else "our reader of footer and pages refused all of them"]
    ]


def main(arguments: list[str]) -> int:
    """Measure and print; with --record write; returns the exit code."""
    if arguments not in ([], ["--record"]):
        print("usage: python -m bench.fuzz.layers [--record]", file=sys.stderr)
        return 2
    entries = measure()
    for entry in entries:
        print(f"{entry.value:6g} {entry.measure}")
    if arguments:
        record("house", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
