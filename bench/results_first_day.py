"""What the first day takes, for docs/results/first-day.json, and all that a newcomer sees in it, for docs/first-day.md.

`python -m bench.results_first_day`: the demonstration, all walks from an installed wheel, and the table of bad inputs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.results import ROOT, Entry, record
from bench.walks.walk import Walked, walks
from foundation.files import write_text

COMMAND = "python -m bench.results_first_day"
_BAD_INPUTS = ["tests/test_bad_input_table.py", "-p", "no:cacheprovider"]
_INTRODUCTION = """# The first day, as a new user has it

Written by `python -m bench.results_first_day`; do not edit. Every line that was typed, and what it printed, on generated notes: the demonstration, a provider with
two hospitals over HTTPS, a hospital whose notes are a table, both tutorials, and the shortest way from nothing to two shares over HTTPS. The scripts of these are in `bench/walks`; they run from an installed
wheel, outside of the checkout, whenever CI does. What they take is in [results](results/first-day.md).
"""


def demonstration(folder: Path) -> tuple[str, list[Entry]]:
    """What `aggregator demo` prints, and what it takes and gives."""
    target = folder / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "aggregator", "demo", str(target)], capture_output=True, text=True, check=True
    )
    result = json.loads((target / "demo.json").read_text(encoding="utf-8"))
    private = next(row for row in result["rows"] if row["label"].startswith("(b)"))
    data, wall = "generated notes, English, 60 of each hospital", f"wall clock {result['seconds']:.0f} s on 2 cores"
    entries = [
        Entry(
            "demonstration, computing of all processes",
            round(result["computing"]),
            300,
            "<=",
            "s",
            None,
            1,
            data,
            COMMAND,
            wall,
        ),
        Entry(
            "demonstration, PHI entities hidden whole at the hospital that shared nothing",
            round(private["hidden"], 4),
            None,
            "",
            "",
            (round(private["hidden_interval"][0], 4), round(private["hidden_interval"][1], 4)),
            1,
            data,
            COMMAND,
            "95%, notes drawn again",
        ),
        Entry(
            "demonstration, recall at the hospital that shared nothing",
            round(private["recall"], 4),
            None,
            "",
            "",
            None,
            1,
            data,
            COMMAND,
        ),
    ]
    return done.stdout.replace(str(target), "demo"), entries


def bad_inputs() -> Entry:
    """How many bad inputs are told in a line or two with a documented exit code, and leave nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *_BAD_INPUTS], capture_output=True, text=True, check=False, cwd=ROOT
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    failed = re.search(r"(\d+) failed", done.stdout)
    return Entry(
        "bad inputs told in one plain line, with a documented exit code and nothing left behind",
        int(passed[1]) if passed else 0,
        120,
        ">=",
        "",
        None,
        1,
        "tests/test_bad_input_table.py",
        COMMAND,
        f"{failed[1] if failed else 0} told otherwise",
    )


def walked(done: list[Walked]) -> Entry:
    """How many walks ended well."""
    return Entry(
        "walks from an installed wheel that end well",
        sum(not one.code for one in done),
        2,
        ">=",
        "",
        None,
        1,
        "bench/walks",
        COMMAND,
        "every command of README and docs is in one of them: tests/test_documented_commands.py",
    )


def main() -> None:
    """Measure, record, and write the page."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed, entries = demonstration(folder)
        (folder / "walks").mkdir()
        done = list(walks(folder / "walks"))
        pages = {"The demonstration": f"$ aggregator demo\n{printed}"}
        pages |= {one.title: one.transcript.replace(str(folder / "walks"), "...") for one in done}
    # First the record: what it writes besides would make the checkout another one.
    record("first-day", [*entries, bad_inputs(), walked(done)])
    parts = [f"\n## {title}\n\n```text\n{text.strip()}\n```\n" for title, text in pages.items()]
    write_text(ROOT / "docs" / "first-day.md", _INTRODUCTION + "".join(parts), private=False)


if __name__ == "__main__":
    main()
