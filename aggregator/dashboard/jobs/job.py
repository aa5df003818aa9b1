"""A long work that somebody began at the dashboard: what it is, how far it is, and what became of it; a file for each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from foundation.errors import DeidError
from foundation.files import write_text
from foundation.reading import read_text

_FILE = re.compile(r"[0-9a-f]{16}\.json")
KEPT = 200
"""So many jobs are remembered."""


class JobKind(StrEnum):
    """What a job does; the words are those of the command that does the same."""

    VERIFY = "audit-log verify"
    TRAIN_HEAD = "train-head"
    PUBLISH = "publish"
    RELEASE = "release"


class JobState(StrEnum):
    """What became of it; one that was cut ended with the dashboard, or was stopped by a person."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CUT = "cut"


@dataclass(frozen=True)
class Job:
    """A job.

    Args:
        id: of it.
        kind: what it does.
        by: who began it, as the audit log says.
        values: what it was begun with.
        begun_at: when.
        state: what became of it.
        ended_at: when; "" while it runs.
        phase: what it is at.
        share: of the whole that is done, in [0, 1].
        left_s: seconds that are left; None while nobody knows.
        lines: what it said at its end.
        result: the same for programs.
    """

    id: str
    kind: JobKind
    by: str
    values: Mapping[str, str]
    begun_at: str
    state: JobState = JobState.RUNNING
    ended_at: str = ""
    phase: str = ""
    share: float = 0.0
    left_s: float | None = None
    lines: tuple[str, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write it down.

        Raises:
            StorageError: no room, no permission.
        """
        write_text(folder / f"{self.id}.json", json.dumps(asdict(self)))


def load_jobs(folder: Path) -> list[Job]:
    """All jobs of a folder, oldest first; a file that is none is passed over, since nothing hangs on it."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not _FILE.fullmatch(path.name):
            continue
        with suppress(DeidError, ValueError, KeyError, TypeError, RecursionError):
            found.append(_parsed(json.loads(read_text(path))))
    return sorted(found, key=lambda job: (job.begun_at, job.id))


def _parsed(values: dict[str, Any]) -> Job:
    known = {one.name: values[one.name] for one in fields(Job)}
    words = [known[name] for name in ("id", "by", "begun_at", "ended_at", "phase")]
    words += [*known["lines"], *known["values"].values()]
    if not all(isinstance(word, str) for word in words):
        raise TypeError
    return Job(
        **known
        | {
            "kind": JobKind(known["kind"]),
            "state": JobState(known["state"]),
            "share": float(known["share"]),
            "lines": tuple(known["lines"]),
        }
    )
