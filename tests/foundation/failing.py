"""Functions that fail at a certain call."""

from __future__ import annotations

from collections.abc import Callable


def failing(function: Callable[..., object], call: int, error: BaseException) -> Callable[..., object]:
    """`function`, whose `call`-th call raises instead."""
    calls = 0

    def wrapped(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*arguments, **options)

    return wrapped
