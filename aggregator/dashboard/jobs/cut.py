"""What is said of a work that ended and did not say how: what may have come of it all the same, and how it goes on."""

from __future__ import annotations

from pathlib import Path

from aggregator.dashboard.jobs.job import Job, JobKind
from aggregator.workspace import open_workspace
from foundation.errors import DeidError

_PUBLISHING = frozenset({JobKind.PUBLISH, JobKind.RELEASE})


def after_end(kind: JobKind) -> tuple[str, ...]:
    """What whoever ends a work of a kind should know, in sentences."""
    if kind is JobKind.TRAIN_HEAD:
        return ("A training can go on later.",)
    return ("A release that is out by then stays out.",) if kind in _PUBLISHING else ()


def tell_cut(job: Job, root: Path, ended: str) -> str:
    """How a work that was cut stands.

    Args:
        job: it.
        root: folder of the workspace.
        ended: what is known of its end, in words.
    """
    if job.kind is JobKind.TRAIN_HEAD:
        return f"{ended}; a training that had begun goes on with --resume"
    return f"{ended}; {_out(job, root)}" if job.kind in _PUBLISHING else ended


def _out(job: Job, root: Path) -> str:
    """Which releases are out that were not when it was confirmed: a release is out by one rename, before anything is said of it."""
    unknown = "it may be out all the same: see Releases before you publish again"
    try:
        names = open_workspace(root).repository().release_names()
    except DeidError:
        return unknown
    newest = job.values.get("newest", "")
    if newest and newest not in names:
        return unknown
    since = names[names.index(newest) + 1 :] if newest else names
    if not since:
        return "nothing is published"
    return f"{', '.join(since)} {'is' if len(since) == 1 else 'are'} out since it was confirmed: see Releases"
