"""One figure that was measured, and the files that hold them: `docs/results/<topic>.json`; DESIGN, section Results, gives the form."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foundation.reading import read_text
from shared.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]
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
    "peers",
    "papers",
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
