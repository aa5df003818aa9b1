"""What our reader of fastText's `.bin` gains over gensim's: `python -m bench.speed.fasttext_bin [--record]`.

Both give the same vectors (tests/shared/embeddings/test_fasttext_format.py). Here they read the same file in processes of
their own, turn by turn, and the same damaged files. With a reader and files as arguments the module is such a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.results import ROOT, Entry, record
from bench.speed.memory import peak_kib
from bench.speed.ratio import ratio

COMMAND = "python -m bench.speed.fasttext_bin --record"
# A tenth of a published model: 60,000 words of 100 dimensions, 200,000 buckets.
WORDS, DIM, BUCKETS = 60_000, 100, 200_000
TURNS = 3
CUTS = 40
_NOTE = "the published models have 2 million words and as many buckets of 300 dimensions"


def _ours(path: Path) -> int:
    from shared.embeddings.files.fasttext_format import read_bin

    return len(read_bin(path))


def _gensim(path: Path) -> int:
    from gensim.models.fasttext import load_facebook_vectors

    return len(load_facebook_vectors(str(path)))


READERS: dict[str, Callable[[Path], int]] = {"ours": _ours, "gensim": _gensim}


def write_model(path: Path, words: int = WORDS, buckets: int = BUCKETS) -> None:
    """A model of random vectors."""
    from shared.embeddings.files.fasttext_format import save_bin
    from shared.embeddings.subwords import Subwords
    from shared.embeddings.vectors import WordVectors, unit_rows

    generator = np.random.default_rng(0)
    spelled = [f"word{number:x}" for number in range(words)]
    matrix = unit_rows(generator.standard_normal((words, DIM), dtype=np.float32))
    grams = Subwords(3, 6, generator.standard_normal((buckets, DIM), dtype=np.float32))
    save_bin(WordVectors(spelled, matrix, grams), path)


def measure(folder: Path) -> list[Entry]:
    """Ratios of CPU seconds and of peak memory, and how many damaged files each reader refuses."""
    whole = folder / "model.bin"
    write_model(whole)
    runs = {name: [_read_by(name, whole) for _ in range(TURNS)] for name in READERS}
    data = f"{WORDS} words, {BUCKETS} buckets of {DIM} dimensions, random"
    cpu, peak = (
        ratio([run[key] for run in runs["gensim"]], [run[key] for run in runs["ours"]]) for key in ("cpu", "peak")
    )
    refused = _refused(folder)
    what = f"{CUTS} files cut short, and one with NaN for its first number"
    return [
        Entry(
            "CPU of gensim's reader of .bin over ours",
            cpu.value,
            None,
            "",
            "times",
            (cpu.low, cpu.high),
            TURNS,
            data,
            COMMAND,
            _NOTE,
        ),
        Entry(
            "peak memory of gensim's reader of .bin over ours",
            peak.value,
            None,
            "",
            "times",
            (peak.low, peak.high),
            TURNS,
            data,
            COMMAND,
            _NOTE,
        ),
        *(
            Entry(f"damaged .bin files that are refused: {name}", count, None, "", "files", None, 1, what, COMMAND, "")
            for name, count in refused.items()
        ),
    ]


def _refused(folder: Path) -> dict[str, int]:
    small = folder / "small.bin"
    write_model(small, words=300, buckets=500)
    content = small.read_bytes()
    damaged = [content[:length] for length in np.linspace(60, len(content) - 1, CUTS, dtype=int).tolist()]
    # The matrix starts after the last word, its count and kind, a flag and two sizes.
    start = content.index(b"\0", content.rindex(b"word")) + 1 + 9 + 1 + 16
    damaged.append(content[:start] + np.float32("nan").tobytes() + content[start + 4 :])
    paths = [folder / f"damaged{number}.bin" for number in range(len(damaged))]
    for path, data in zip(paths, damaged, strict=True):
        path.write_bytes(data)
    return {name: int(_read_by(name, *paths)["refused"]) for name in READERS}


def _read_by(name: str, *paths: Path) -> dict[str, float]:
    command = (sys.executable, "-m", "bench.speed.fasttext_bin", name, *map(str, paths))
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    return {str(key): float(value) for key, value in answer.items()}


def _be_reader(name: str, paths: list[Path]) -> None:
    began = time.process_time()
    refused = 0
    for path in paths:
        try:
            READERS[name](path)
        except Exception:
            refused += 1
    print(json.dumps({"cpu": time.process_time() - began, "peak": peak_kib(), "refused": refused}))


def main(arguments: list[str]) -> int:
    """Measure and print, or be one reader; returns the exit code."""
    if arguments and arguments[0] in READERS:
        _be_reader(arguments[0], [Path(name) for name in arguments[1:]])
        return 0
    if arguments not in ([], ["--record"]):
        print("usage: python -m bench.speed.fasttext_bin [--record]", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        entries = measure(Path(folder))
    for entry in entries:
        print(f"{entry.value:7.2f} {entry.unit:6} {entry.measure}")
    if arguments:
        record("house", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
