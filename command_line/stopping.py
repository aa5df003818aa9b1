"""A command that is told to end, by a service manager or because its terminal went away, ends as by Ctrl+C: it cleans up.

Left alone, SIGTERM and SIGHUP end a process on the spot, with notes half-written beside their place.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class StoppedError(KeyboardInterrupt):
    """A signal came that asks the process to end. Whatever takes heed of Ctrl+C takes heed of it.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number


@contextmanager
def heed_stop_signals() -> Iterator[None]:
    """Raises `StoppedError` in the block when a signal asks the process to end.

    A signal that somebody heeds or ignores already (`nohup`, the server) stays with them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> None:
        # A second one must not cut short the cleaning up.
        for one in ours:
            signal.signal(one, signal.SIG_IGN)
        raise StoppedError(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
