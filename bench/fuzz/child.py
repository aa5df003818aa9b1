"""`python -m bench.fuzz.child ENGINE TARGET RUNS SEED FOLDER`: one engine on one target, in a process that may die of it.

The counts lie in a file that is mapped into memory, so they are right however the process ends. Its limits are those of
the process that reads payloads at the provider.
"""

from __future__ import annotations

import gc
import mmap
import resource
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from aggregator.sandbox.parent import SandboxLimits
from bench.fuzz.targets import Target, Watch, load
from foundation.errors import StorageError
from protocols.errors import ProtocolError

COUNTS = "counts"
_FIELDS = struct.Struct("<QQQQQ")
# HDF5 keeps whole chunks, however few rows they hold.
_LONGEST = 1 << 18
_INTERESTING = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


class Counts:
    """How many bytes were tried, accepted, and ran into the limit of memory; files opened outside; peak memory in bytes."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _FIELDS.size)

    def add(self, accepted: bool, no_memory: bool, outside: int) -> None:
        """Count one file that was tried."""
        tried, taken, failed, _, _ = _FIELDS.unpack(self._memory)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        self._memory[:] = _FIELDS.pack(tried + 1, taken + accepted, failed + no_memory, outside, peak)


def reset_counts(path: Path) -> None:
    """Begins to count."""
    path.write_bytes(bytes(_FIELDS.size))


def read_counts(path: Path) -> tuple[int, ...]:
    """The five counts."""
    return _FIELDS.unpack(path.read_bytes())


def count_outcomes(target: Target, counts: Counts, watch: Watch) -> Callable[[bytes], None]:
    """Takes bytes and counts; whatever it raises is a defect of a reader."""

    def take(data: bytes) -> None:
        accepted = no_memory = False
        try:
            target.take(data)
            accepted = True
        except (ProtocolError, StorageError):
            pass
        except MemoryError:
            # At the provider the child says so and the share is refused; readers in the parent never get here.
            no_memory = target.name in ("parquet", "hdf5")
            if not no_memory:
                raise
        counts.add(accepted, no_memory, watch.outside)

    return take


def by_coverage(target: Target, take: Callable[[bytes], None], runs: int, seed: int, folder: Path) -> None:
    """libFuzzer, which keeps what reaches new lines of the readers; ends the process."""
    import atheris

    found = folder / f"found-{target.name}"
    found.mkdir(exist_ok=True)
    arguments = [
        "fuzz",
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={_LONGEST}",
        "-rss_limit_mb=0",
        "-timeout=60",
        "-verbosity=0",
        f"-artifact_prefix={folder}/",
        str(found),
        str(folder / target.name),
    ]
    atheris.Setup(arguments, take)
    atheris.Fuzz()


def by_property(target: Target, take: Callable[[bytes], None], runs: int, seed: int, folder: Path) -> None:
    """Hypothesis: edits of a whole file that keep most of it sound, so that what lies deep is reached."""
    import hypothesis
    from hypothesis import strategies as st

    place = st.floats(0, 1, exclude_max=True)
    number = st.sampled_from(_INTERESTING) | st.integers(0, 2**64 - 1)
    edit = st.one_of(
        st.tuples(st.just("flip"), place, st.integers(1, 255)),
        st.tuples(st.just("number"), place, st.tuples(number, st.sampled_from((1, 2, 4, 8)))),
        st.tuples(st.just("insert"), place, st.binary(min_size=1, max_size=16)),
        st.tuples(st.just("text"), place, st.text(max_size=8)),
        st.tuples(st.just("cut"), place, st.integers(1, 64)),
        st.tuples(st.just("end"), place, st.none()),
        st.tuples(st.just("move"), place, place),
    )

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=runs, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(st.sampled_from(range(len(target.seeds))), st.lists(edit, min_size=1, max_size=4))
    def all_hold(which: int, edits: list[Any]) -> None:
        data = bytearray(target.seeds[which])
        for kind, where, what in edits:
            _apply(data, kind, int(where * len(data)), what)
        take(bytes(data))

    all_hold()


def _apply(data: bytearray, kind: str, at: int, what: Any) -> None:
    if kind == "flip" and data:
        data[at] ^= what
    elif kind == "number":
        value, width = what
        data[at : at + width] = (value % 2 ** (8 * width)).to_bytes(width, "little")
    elif kind == "insert":
        data[at:at] = what
    elif kind == "text":
        data[at : at + len(what)] = what.encode()
    elif kind == "cut":
        del data[at : at + what]
    elif kind == "end":
        del data[at:]
    elif kind == "move":
        other = int(what * len(data))
        data[at : at + 32] = data[other : other + 32]


ENGINES = {"atheris": by_coverage, "hypothesis": by_property}


def main(engine: str, name: str, runs: str, seed: str, folder: str) -> None:
    """Runs it."""
    root = Path(folder)
    if engine == "atheris":
        import atheris

        # Only now, for the imports above have brought the readers in already.
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and str(function.__module__).startswith("protocols."):
                atheris.instrument_func(function)
    limits = SandboxLimits()
    for kind, limit in ((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (limit, limit))
    target = load(name, root)
    take = count_outcomes(target, Counts(root / COUNTS), Watch(root))
    ENGINES[engine](target, take, int(runs), int(seed), root)


if __name__ == "__main__":
    main(*sys.argv[1:])
