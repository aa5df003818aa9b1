"""Measures docs/results/federated.json: `python -m bench.federated [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does a tenth of the same, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.federated import compared, growth, leakage, matrix, strategies
from bench.federated.held_out import chosen, followed
from bench.results import QUICK, Entry, measure_parts

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "matrix": matrix.matrix,
    f"matrix{QUICK}": lambda: matrix.matrix(rounds=1),
    "deployment": matrix.deployment,
    "chosen": chosen.measure,
    "chosen-long": lambda: chosen.measure(chosen.LONG),
    f"chosen{QUICK}": lambda: chosen.measure(chosen.QUICK),
    "compared": compared.measure,
    f"compared{QUICK}": lambda: compared.measure(compared.QUICK),
    "longer": compared.measure_longer,
    f"longer{QUICK}": lambda: compared.measure_longer(compared.QUICK),
    "unseen": compared.measure_unseen,
    f"unseen{QUICK}": lambda: compared.measure_unseen(compared.QUICK),
    "followed": followed.measure,
    f"followed{QUICK}": lambda: followed.measure(followed.QUICK),
    "strategies": strategies.measure,
    f"strategies{QUICK}": lambda: strategies.measure(strategies.QUICK),
    "growth": growth.measure,
    f"growth{QUICK}": lambda: growth.measure(3, 5),
    "leakage": leakage.measure,
    f"leakage{QUICK}": lambda: leakage.measure(leakage.QUICK),
}


if __name__ == "__main__":
    sys.exit(measure_parts("federated", "bench.federated", PARTS, sys.argv[1:]))
