"""Progress bars: on a terminal, for what takes longer than two seconds; silent elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE_S = 2.0
# Of a job with phases, so fine is what the bar shows of the whole.
_WHOLE = 10_000


class ProgressBar:
    """Called with a stage, the steps done and the steps in all (0 where unknown); draws at most five times a second."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._began = time.monotonic()
        self._task = None
        if progress is not None:
            self._task = progress.add_task("", total=None, visible=False, count="", left="")

    @property
    def drawn(self) -> bool:
        """Whether anybody sees it, so that a total is worth counting."""
        return self._progress is not None

    def begin(self, stage: str) -> None:
        """Show at once that something begins that is known to take a while, such as loading."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=stage, completed=0, total=None, visible=True)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that so many are done; without a total it is not known."""
        if self._progress is None or self._task is None:
            return
        self._update(stage, done, total or None, f"{done}/{total}" if total else str(done))
        remaining = self._progress.tasks[0].time_remaining if total else None
        self._progress.update(self._task, left=_left_words(remaining))

    def watch(self, phase: str, share: float, left_s: float | None) -> None:
        """Show how far a job with phases is; see `shared.progress.Watch`."""
        if self._progress is not None and self._task is not None:
            known = left_s is not None
            self._update(phase, int(share * _WHOLE), _WHOLE if known else None, f"{share:4.0%}" if known else "")
            self._progress.update(self._task, left=_left_words(left_s))

    def _update(self, stage: str, completed: int, total: int | None, count: str) -> None:
        assert self._progress is not None
        assert self._task is not None
        visible = time.monotonic() - self._began > _PATIENCE_S
        self._progress.update(
            self._task, description=stage, completed=completed, total=total, visible=visible, count=count
        )


def _left_words(seconds: float | None) -> str:
    """How long it still takes, in words that do not change every second."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"about {f'{hours} h {rest:02} min' if hours else f'{minutes} min'} left"


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[ProgressBar]:
    """A bar on standard error, where that is a terminal and nobody asked for quiet."""
    if quiet or not sys.stderr.isatty():
        yield ProgressBar(None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5) as progress:
        yield ProgressBar(progress)
