"""Two processes that train a head together, against one: tokens a second at the same batch for each process.

Turn by turn, on this machine, by torchrun on the loopback. The clock is right where a core is free for each process. Processor seconds are
right wherever they are taken: what a process computes for a token, alone and beside another one that waits for it; what two machines
of equal speed reach is twice the first over the greater of the two others. Beside both stands what two processes reach here that have
nothing to do with each other: cores that share a memory, or a host, are not two machines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.results import Entry
from bench.scale.busy import median_of, state_of_machine
from bench.scale.training_worker import write_pool

COMMAND = "python -m bench.results_show scale"
TURNS, TOKENS = 5, 48_000


def measure() -> list[Entry]:
    """Both ratios, and what a token costs."""
    alone, walls, spent, apart = [], [], [], []
    for _ in range(TURNS):
        (one,), two = run(1), run(2)
        with ThreadPoolExecutor(2) as both:
            slower = max(part["wall_s"] for (part,) in both.map(run, (1, 1)))
        apart.append(2 * one["wall_s"] / slower)
        alone.append(one["cpu_s"] / one["tokens"])
        walls.append(
            sum(part["tokens"] for part in two) / max(part["wall_s"] for part in two) * one["wall_s"] / one["tokens"]
        )
        spent.append(2 * alone[-1] / max(part["cpu_s"] / part["tokens"] for part in two))
    note = f"{TOKENS} tokens a pass and process, a pool on disk, batches of 32 sentences, the paper's head, gloo on the loopback; median and range of {TURNS} turns"
    busy = state_of_machine()
    return [
        _entry("training by two processes, over one", walls, 1.7, f"tokens a second by the clock; {note}; {busy}"),
        _entry(
            "training by two processes, over one, each on a core of its own",
            spent,
            1.7,
            f"by processor seconds a token: waiting for the other one is not in it; {note}",
        ),
        _entry(
            "training by two processes that know nothing of each other, over one",
            apart,
            None,
            f"by the clock: what this machine gives two programs at most; {note}",
        ),
        _entry(
            "training by two processes, over two that know nothing of each other",
            [one / other for one, other in zip(walls, apart, strict=True)],
            None,
            f"by the clock: what training together costs; {note}",
        ),
        _entry(
            "tokens that a core learns from",
            [1 / one for one in alone],
            None,
            f"of one pass, one process; {note}",
            "tokens a CPU second",
        ),
    ]


def run(count: int) -> list[dict[str, float]]:
    """What each of so many processes has measured."""
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder) / "pool.parquet"
        write_pool(pool, TOKENS * count)
        launcher = ["-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", str(count), "--standalone"]
        command = [
            sys.executable,
            *(launcher if count > 1 else []),
            "-m",
            "bench.scale.training_worker",
            str(pool),
            folder,
        ]
        subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
        return [json.loads((Path(folder) / f"{index}.json").read_text()) for index in range(count)]


def _entry(measure: str, values: list[float], target: float | None, note: str, unit: str = "times") -> Entry:
    value, interval = median_of(values)
    direction = "" if target is None else ">="
    return Entry(measure, value, target, direction, unit, interval, len(values), "seeded sentences", COMMAND, note)
