"""For what another thread or process does in a moment."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


def until(condition: Callable[[], bool]) -> None:
    """Waits for what is to come soon, and fails rather than wait for ever."""
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it never came")
