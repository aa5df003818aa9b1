"""What a program that draws whole numbers gives, and how likely: every way it can go is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TypeVar

from shared.surrogates.mechanisms.randomness import Randomness

Result = TypeVar("Result", bound=Hashable)


class _Open(Exception):
    """The program asks for a number that has not been chosen yet."""

    def __init__(self, bound: int) -> None:
        self.bound = bound


class _Chosen:
    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers = list(numbers)

    def below(self, bound: int, /) -> int:
        if bound == 1:
            return 0
        if not self._numbers:
            raise _Open(bound)
        return self._numbers.pop(0)


def enumerate_draws(
    program: Callable[[Randomness], Result], least: Fraction = Fraction(0)
) -> tuple[Counter[Result], Fraction]:
    """The probability of every result, exactly, and that of all ways that were given up because each is less likely than `least`."""
    found: Counter[Result] = Counter()
    given_up = Fraction(0)
    waiting: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        numbers, chance = waiting.pop()
        try:
            found[program(_Chosen(numbers))] += chance  # type: ignore[assignment]
        except _Open as asked:
            each = chance / asked.bound
            if each < least:
                given_up += chance
            else:
                waiting += [((*numbers, number), each) for number in range(asked.bound)]
    return found, given_up
