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


class ProgressBar:
    """Called with a stage, the steps done and the steps in all (0 where unknown); draws at most five times a second."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._began = time.monotonic()
        self._task = None if progress is None else progress.add_task("", total=None, visible=False)

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
        visible = time.monotonic() - self._began > _PATIENCE_S
        self._progress.update(self._task, description=stage, completed=done, total=total or None, visible=visible)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[ProgressBar]:
    """A bar on standard error, where that is a terminal and nobody asked for quiet."""
    if quiet or not sys.stderr.isatty():
        yield ProgressBar(None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5) as progress:
        yield ProgressBar(progress)
