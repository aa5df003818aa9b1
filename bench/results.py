"""What was measured, in `docs/results/<topic>.json` and rendered beside it; DESIGN, section Results, gives the form.

Figures come from the commands that measure them, never from a hand. Entries are known by their measure: a second command
adds its own to a topic, and measuring again replaces. An entry that misses its target stays, with its true value.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from foundation.files import write_text
from foundation.reading import read_text
from shared.errors import ConfigurationError

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
TOPICS = (
    "loop",
    "privacy",
    "friedrich2019",
    "trust",
    "house",
    "gate",
    "first-day",
    "generalise",
    "workbench",
    "federated",
    "taggers",
    "show",
)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, target: value >= target,
    "<=": lambda value, target: value <= target,
}


@dataclass(frozen=True)
class Entry:
    """One figure.

    Args:
        measure: what was measured, in words that no other figure of the topic has.
        value: the figure.
        target: what an issue asks for; None where it asks for none.
        direction: ">=" or "<=", the side of the target that is good; "" without a target.
        unit: "F1", "times", "s"...
        interval: what `note` says it is, as lower and upper end; None where there is none.
        seeds: independent runs that the value rests on.
        data: what it was measured on.
        command: what anyone can type to measure it again.
        note: what a reader must know besides.
        commit: state of the code that measured; `record` fills in that of now where it is empty.

    Raises:
        ConfigurationError: a figure that is not finite, or a target without a direction.
    """

    measure: str
    value: float
    target: float | None
    direction: str
    unit: str
    interval: tuple[float, float] | None
    seeds: int
    data: str
    command: str
    note: str = ""
    commit: str = ""

    def __post_init__(self) -> None:
        if not self.measure or self.direction not in (("",) if self.target is None else tuple(_HOLDS)):
            raise ConfigurationError(
                f"entry {self.measure!r}: expected a measure, and >= or <= exactly where there is a target; correct it"
            )
        figures = [self.value, *(self.interval or ()), *(() if self.target is None else (self.target,))]
        if not all(math.isfinite(figure) for figure in figures):
            raise ConfigurationError(f"entry {self.measure!r}: expected finite figures, got others; measure again")

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None without a target."""
        return None if self.target is None else _HOLDS[self.direction](self.value, self.target)


def record(topic: str, entries: Sequence[Entry], folder: Path = RESULTS, *, whole: bool = False) -> None:
    """Put entries into a topic, in the place of those of the same measure, and render it.

    Args:
        topic: one of TOPICS.
        entries: each without a commit gets the one that is checked out, with "+dirty" where tracked files differ from it.
        folder: where the results lie.
        whole: whether these are all that their commands measure, so that what the same commands measured before goes.

    Raises:
        ConfigurationError: no such topic, one measure twice, or a file that is not in the form of the results.
        StorageError: the file can't be written.
    """
    if topic not in TOPICS or len({entry.measure for entry in entries}) != len(entries):
        raise ConfigurationError(f"{topic}: expected a topic among {', '.join(TOPICS)}, and each measure once")
    path = folder / f"{topic}.json"
    kept = {entry.measure: entry for entry in read(topic, folder)} if path.exists() else {}
    if whole:
        commands = {entry.command for entry in entries}
        kept = {measure: entry for measure, entry in kept.items() if entry.command not in commands}
    state = commit()
    kept |= {entry.measure: replace(entry, commit=entry.commit or state) for entry in entries}
    folder.mkdir(parents=True, exist_ok=True)
    write_text(
        path,
        json.dumps([_as_json(entry) for entry in kept.values()], indent=1, ensure_ascii=False) + "\n",
        private=False,
    )
    write_text(folder / f"{topic}.md", render(topic, folder), private=False)


QUICK = "-quick"
"""How the name of a part ends that does some of the same, prints what it finds, and records nothing."""


def measure_parts(
    topic: str, program: str, parts: Mapping[str, Callable[[], Iterable[Entry]]], wanted: Sequence[str]
) -> int:
    """Measure parts of a topic on one torch thread, print what each finds, and record it; returns the exit code.

    Args:
        topic: of TOPICS.
        program: how the command line calls it.
        parts: what measures each.
        wanted: their names; none for all that are whole.
    """
    if not set(wanted) <= set(parts):
        print(f"usage: python -m {program} [{'|'.join(parts)}]...", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    for part in wanted or [name for name in parts if not name.endswith(QUICK)]:
        entries = []
        for entry in parts[part]():
            entries.append(entry)
            missed = ", MISSED" if entry.reached is False else ""
            print(f"{entry.value:8g} {entry.unit:12} {entry.measure}{missed} ({entry.note})", flush=True)
        if not part.endswith(QUICK):
            record(topic, entries)
    return 0


def read(topic: str, folder: Path = RESULTS) -> list[Entry]:
    """The entries of a topic.

    Raises:
        ConfigurationError: the file is not in the form of the results.
    """
    path = folder / f"{topic}.json"
    try:
        items = json.loads(read_text(path))
        return [
            Entry(**{**item, "interval": None if item["interval"] is None else tuple(item["interval"])})
            for item in items
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{path.name}: expected a list of entries; restore the file from git") from error


def render(topic: str, folder: Path = RESULTS) -> str:
    """The topic as Markdown: how many targets are reached, and a table."""
    entries = read(topic, folder)
    aimed = [entry for entry in entries if entry.target is not None]
    missed = [entry.measure for entry in aimed if not entry.reached]
    lines = [
        f"# Results: {topic}",
        "",
        f"Written by the commands in the table; do not edit. {len(aimed) - len(missed)} of {len(aimed)} targets are reached"
        + (f"; missed: {'; '.join(missed)}." if missed else "."),
        "",
        "| measure | value | target | interval | seeds | data | command | commit | note |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_row(entry) for entry in entries),
        "",
    ]
    return "\n".join(lines)


def _row(entry: Entry) -> str:
    interval = "" if entry.interval is None else f"{entry.interval[0]:g} to {entry.interval[1]:g}"
    target = (
        ""
        if entry.target is None
        else f"{entry.direction} {entry.target:g}, {'reached' if entry.reached else 'MISSED'}"
    )
    cells = (
        entry.measure,
        f"{entry.value:g} {entry.unit}",
        target,
        interval,
        str(entry.seeds),
        entry.data,
        f"`{entry.command}`",
        entry.commit,
        entry.note,
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def commit() -> str:
    """The commit that is checked out, short, with "+dirty" where tracked files differ from it; "unknown" without git."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        # The results themselves change with every measurement.
        dirty = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)docs/results")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + "+dirty" * bool(dirty)


def _git(*arguments: str) -> str:
    done = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _as_json(entry: Entry) -> dict[str, object]:
    """The entry with its keys in the order that DESIGN gives."""
    values = asdict(entry)
    note = values.pop("note")
    return {**values, "note": note}
