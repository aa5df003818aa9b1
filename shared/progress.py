"""How a long job tells how far it is: by the steps of one stage, or, where it has several phases, by all of them together.

    phases = Phases((Phase("head", 400), Phase("scores", 3, cost=20)), watch)
    train(..., progress=phases.begin("head"))
    for done, site in enumerate(sites, 1):
        ...

What is left is the steps that are left at the pace of this very run. Steps of one kind take as long in every phase; a kind that has
not begun is taken to cost what the plan says, against the kinds that have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the steps done and the steps in all."""

Watch = Callable[[str, float, float | None], None]
"""Called with the name of the phase, the share of the whole job that is done, and the seconds that are left; None while nobody knows."""


Begin = Callable[[str], Progress]
"""Called with the name of a phase that begins; gives what is to be called in it."""


def silent(stage: str, done: int, total: int) -> None:
    """A progress that nobody watches."""


def unwatched(phase: str, done: float, left_s: float | None) -> None:
    """The same of a job with phases."""


def in_no_phase(name: str) -> Progress:
    """Whatever begins, nobody watches it."""
    return silent


@dataclass
class Phase:
    """A part of a job.

    Args:
        name: for people; no other phase has it.
        steps: how many it will take, as far as that is known ahead.
        kind: phases of one kind take as long for a step.
        cost: what a step takes against a step of other kinds, until one of its kind was measured.
        staged: whether people are told its stages, too.
        trainings: how many are known to run in it one after the other; `steps` are of all of them together.
    """

    name: str
    steps: int
    kind: str = ""
    cost: float = 1.0
    staged: bool = False
    trainings: int = 1


class Phases:
    """The phases of a job, one after the other.

    Args:
        planned: all of them, in their order.
        watch: is told how far the whole is.
        clock: seconds that only grow.
    """

    def __init__(
        self, planned: Sequence[Phase], watch: Watch = unwatched, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._planned, self._watch, self._clock = list(planned), watch, clock
        self._now = -1
        # Steps of this phase that are done, and those of them that an earlier run has done.
        self._done = self._taken_up = 0
        self._began_s = self._first_s = clock()
        self._share = 0.0
        # Seconds and steps of each kind, measured in this run.
        self._measured: dict[str, tuple[float, int]] = {}

    def begin(self, name: str) -> Progress:
        """The next phase; the one before is over.

        Args:
            name: of a phase that is planned and comes later; those between are left out.

        Returns:
            what is to be called in it. Where it runs several trainings one after the other, all count.
        """
        self._end()
        following = [index for index in range(self._now + 1, len(self._planned)) if self._planned[index].name == name]
        if not following:
            raise ValueError(f"expected one of the planned phases that are still to come, got {name!r}")
        self._now = following[0]
        self._tell()
        # Of the trainings before this one all steps; of this one, what was told last.
        begun = last = count = 0
        ended = True

        def step(stage: str, done: int, total: int) -> None:
            nonlocal begun, last, count, ended
            phase = self._planned[self._now]
            # Steps of one training come one by one.
            if not count or done < last or (ended and done != last + 1):
                begun, count = self._done, count + 1
                if done > 1:
                    # What is told of at once was there before: a training that was taken up again.
                    if self._done == self._taken_up:
                        self._began_s = self._clock()
                    self._taken_up += done
            last, ended = done, done >= total
            phase.steps = begun + total if count >= phase.trainings else max(phase.steps, begun + total)
            self._done = begun + done
            self._tell(f", {stage}" if phase.staged else "")

        return step

    def end(self) -> None:
        """All is done."""
        self._end()
        self._now = len(self._planned)

    def _end(self) -> None:
        if 0 <= self._now < len(self._planned):
            phase = self._planned[self._now]
            # A phase that tells of no step has taken all of them.
            self._measured = self._with_this(self._done - self._taken_up if self._done else phase.steps)
        self._done = self._taken_up = 0
        self._began_s = self._clock()

    def _with_this(self, steps: int) -> dict[str, tuple[float, int]]:
        """What was measured, with so many steps of this phase."""
        kind = _kind(self._planned[self._now])
        before_s, before = self._measured.get(kind, (0.0, 0))
        return self._measured | {kind: (before_s + self._clock() - self._began_s, before + steps)}

    def _tell(self, stage: str = "") -> None:
        left_s = self._left_s()
        elapsed_s = self._clock() - self._first_s
        if left_s is not None and elapsed_s + left_s > 0:
            # A bar that goes back would be read as a fault.
            self._share = max(self._share, elapsed_s / (elapsed_s + left_s))
        name = f"{self._planned[self._now].name}{stage} ({self._now + 1} of {len(self._planned)})"
        self._watch(name, self._share, left_s)

    def _left_s(self) -> float | None:
        """Of this phase and all that follow; None where nothing was measured yet."""
        done = self._done - self._taken_up
        measured = self._with_this(done) if done else self._measured
        costs = {_kind(one): one.cost for one in self._planned}
        spent_s = sum(seconds for seconds, steps in measured.values() if steps)
        paid = sum(steps * costs[kind] for kind, (_, steps) in measured.items())
        if not paid:
            return None
        left_s = 0.0
        for index, one in enumerate(self._planned[self._now :]):
            seconds, steps = measured.get(_kind(one), (0.0, 0))
            pace_s = seconds / steps if steps else spent_s / paid * one.cost
            left_s += pace_s * max(0, one.steps - (0 if index else self._done))
        return left_s


def _kind(phase: Phase) -> str:
    return phase.kind or phase.name
