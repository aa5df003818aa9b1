"""Pre-labels the notes of a review in the background, the one that a person has open first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from foundation.errors import DeidError
from site_client.review.project import Project

if TYPE_CHECKING:
    # It loads networks; the page is there before them.
    from site_client.review.prelabel import Finder

# Whoever opens the page waits for it less than for what loads beside it.
_PAGE_FIRST_S = 5.0


class Finding:
    """One thread that goes through the notes.

    Args:
        project: whose notes.
        load: makes what pre-labels; it is called in the thread, so that the page need not wait for it.
    """

    def __init__(self, project: Project, load: Callable[[], Finder]) -> None:
        self._project, self._load = project, load
        self._wanted: list[int] = []
        self._failed: set[int] = set()
        self._stopped = threading.Event()
        self._page_shown = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="finding", daemon=True)
        self.problem = ""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the note that is being looked at."""
        self._stopped.set()
        self._page_shown.set()
        self._thread.join()

    @property
    def working(self) -> bool:
        """Whether it will still pre-label notes."""
        return self._thread.is_alive()

    def will_find(self, number: int) -> bool:
        """Whether it is worth to wait for what it says of a note."""
        state = self._project.state(number)
        return self.working and number not in self._failed and not state.looked_for and not state.version

    def shown(self) -> None:
        """The page is there: now it may begin."""
        self._page_shown.set()

    def want(self, number: int) -> None:
        """A person waits for this note."""
        with self._lock:
            self._wanted.append(number)

    def _run(self) -> None:
        self._page_shown.wait(_PAGE_FIRST_S)
        try:
            if self._stopped.is_set():
                return
            finder = self._load()
        except Exception as error:
            self.problem = _told(error)
            return
        for number in self._numbers():
            try:
                self._project.find(number, finder.find(self._project.document(number)))
            except Exception as error:
                # One note is not pre-labelled; a person reads it as it came.
                self._failed.add(number)
                self.problem = f"{_told(error)} (note {number + 1} as they came)"

    def _numbers(self) -> Iterator[int]:
        """Notes nobody has looked at, those that are waited for first."""
        states = self._project.states()
        rest = iter(range(len(states)))
        while not self._stopped.is_set():
            number = self._next_wanted()
            if number is None:
                number = next(rest, None)
            if number is None:
                return
            if number not in self._failed and not states[number].looked_for and not states[number].version:
                yield number

    def _next_wanted(self) -> int | None:
        with self._lock:
            return self._wanted.pop() if self._wanted else None


def _told(error: Exception) -> str:
    """For the page; what nobody foresaw could hold text of a note."""
    return str(error) if isinstance(error, DeidError) else f"a fault in the program ({type(error).__name__})"
