"""`make mutants`, `python -m bench.mutants [--only AREA|NAME] [--workers 1|2] [--record]`: do the tests notice mistakes?

Each break of `bench.mutants.breaks` is put into a copy of the checkout and its tests are run; one at least must fail. What
survives is printed. What was found is kept in bench/.runs/mutants.json, so the same again goes on where a run was cut.

--only tries the breaks of one area, or one; --workers 2 tries two at a time; --record writes docs/results/house.json.
Returns 1 where fewer than 95% were noticed, or where a break could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.mutants.breaks import Break, choose, read_breaks
from bench.mutants.trials import Outcome, Trials, Verdict
from bench.results import ROOT, Entry, record
from shared.errors import ConfigurationError

COMMAND = "make mutants"
_MEMORY = ROOT / "bench" / ".runs" / "mutants.json"
# What our code and tests import that takes long. Not Hypothesis: pytest has to be there first.
_SLOW_MODULES = (
    "numpy",
    "scipy.stats",
    "torch",
    "safetensors.torch",
    "dp_accounting",
    "h5py",
    "pyarrow.parquet",
    "tuf.ngclient",
    "cryptography.hazmat.primitives.ciphers.aead",
    "sqlalchemy.orm",
    "alembic.command",
    "psycopg",
    "obstore",
    "starlette.applications",
    "uvicorn",
    "httpx",
    "prometheus_client",
    "click",
    "jinja2",
    "rich.console",
)
_LEAST_KILLED, _LEAST_BREAKS = 0.95, 120


def main(arguments: list[str]) -> int:
    """Tries, prints, and with --record writes."""
    asked = _parsed(arguments)
    try:
        breaks = choose(read_breaks(), asked.only)
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            outcomes = Trials(ROOT, Path(folder), _MEMORY, asked.workers, _SLOW_MODULES).outcomes(breaks, _say)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    print(*summary(breaks, outcomes), sep="\n")
    wrong = any(outcome.verdict is Verdict.ERROR for outcome in outcomes)
    found = entries(breaks, outcomes)
    if asked.record and (wrong or asked.only):
        print("not recorded: expected all breaks, each tried; correct those with an error", file=sys.stderr)
    elif asked.record:
        record("house", found)
    return int(wrong or found[0].value < _LEAST_KILLED)


def summary(breaks: Sequence[Break], outcomes: Sequence[Outcome]) -> list[str]:
    """How many were noticed, area by area, and by name what was not."""
    tried = list(zip(breaks, outcomes, strict=True))
    lines = [""]
    for area in dict.fromkeys(one.area for one in breaks):
        found = [outcome for one, outcome in tried if one.area == area]
        lines.append(f"{area:12} {sum(outcome.killed for outcome in found)} of {len(found)} killed")
    lines.append(f"{'all':12} {sum(outcome.killed for outcome in outcomes)} of {len(outcomes)} killed")
    for verdict in (Verdict.HUNG, Verdict.SURVIVED, Verdict.ERROR):
        lines += [_line(one, outcome) for one, outcome in tried if outcome.verdict is verdict]
    return lines


def entries(breaks: Sequence[Break], outcomes: Sequence[Outcome]) -> list[Entry]:
    """What the results tell: how many breaks there are, and which share of them was killed."""
    killed = sum(outcome.killed for outcome in outcomes)
    survivors = [one.name for one, outcome in zip(breaks, outcomes, strict=True) if not outcome.killed]
    data = f"{len(breaks)} breaks in {len({one.area for one in breaks})} areas"
    note = f"survivors: {', '.join(survivors)}" if survivors else "no survivors"
    return [
        Entry(
            "named breaks killed",
            killed / len(breaks),
            _LEAST_KILLED,
            ">=",
            "share",
            None,
            1,
            data,
            COMMAND,
            note,
        ),
        Entry(
            "named breaks",
            len(breaks),
            _LEAST_BREAKS,
            ">=",
            "breaks",
            None,
            1,
            "bench/mutants/areas",
            COMMAND,
            "each with the tests that must notice it",
        ),
    ]


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description="Do the tests notice mistakes?")
    parser.add_argument("--only", metavar="AREA|NAME", help="the breaks of one area, or one break")
    parser.add_argument("--workers", type=int, choices=(1, 2), default=1, help="breaks that are tried at once")
    parser.add_argument("--record", action="store_true", help="write the figures into docs/results/house.json")
    return parser.parse_args(arguments)


def _say(one: Break, outcome: Outcome) -> None:
    print(_line(one, outcome), flush=True)


def _line(one: Break, outcome: Outcome) -> str:
    return f"{outcome.verdict:24} {outcome.seconds:4.0f} s  {one.area}: {one.name}  {outcome.detail}".rstrip()
