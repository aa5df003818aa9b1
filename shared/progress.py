"""How a long job tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the steps done and the steps in all."""


def silent(stage: str, done: int, total: int) -> None:
    """A progress that nobody watches."""
