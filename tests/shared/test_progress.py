"""The phases of a long job: how far it is, and how long it still takes."""

from __future__ import annotations

import pytest

from shared.progress import Phase, Phases


class Watched:
    """A job whose steps take the seconds that it is told; keeps what was said."""

    def __init__(self, *planned: Phase) -> None:
        self.now = 0.0
        self.told: list[tuple[str, float, float | None]] = []
        self.phases = Phases(planned, lambda *said: self.told.append(said), lambda: self.now)

    def run(self, name: str, steps: int, seconds: float, *, first: int = 0, total: int | None = None) -> None:
        """A phase of so many steps."""
        step = self.phases.begin(name)
        for done in range(first + 1, steps + 1):
            self.now += seconds
            step("training", done, total or steps)

    @property
    def left(self) -> float | None:
        return self.told[-1][2]


def test_every_phase_has_its_name_and_place() -> None:
    job = Watched(Phase("head", 2), Phase("scores", 1))
    job.run("head", 2, 1.0)
    job.run("scores", 1, 1.0)
    assert [name for name, _, _ in job.told] == ["head (1 of 2)"] * 3 + ["scores (2 of 2)"] * 2


def test_what_is_left_is_that_of_all_phases_at_the_pace_of_this_run() -> None:
    job = Watched(Phase("head", 10, "tagger"), Phase("again", 5, "tagger"))
    step = job.phases.begin("head")
    assert job.left is None
    job.now += 3
    step("training", 1, 10)
    assert job.left == pytest.approx(3 * (9 + 5))
    assert job.told[-1][1] == pytest.approx(3 / 45)


def test_a_kind_that_has_not_begun_costs_what_the_plan_says_until_it_is_measured() -> None:
    job = Watched(Phase("head", 10), Phase("small one", 10, "small", 0.5), Phase("small two", 10, "small", 0.5))
    job.run("head", 10, 2.0)
    assert job.left == pytest.approx(20 * 1.0)
    job.run("small one", 5, 4.0, total=10)
    assert job.left == pytest.approx(15 * 4.0)


def test_an_estimate_holds_where_steps_take_what_the_plan_says() -> None:
    plan = (Phase("head", 40, "a"), Phase("alone", 20, "a"), Phase("without north", 60, "b", 0.25))
    job = Watched(*plan)
    for phase, seconds in zip(plan, (2.0, 2.0, 0.5), strict=True):
        step = job.phases.begin(phase.name)
        for done in range(1, phase.steps + 1):
            job.now += seconds
            step("training", done, phase.steps)
            assert job.left == pytest.approx(150 - job.now)
            assert job.told[-1][1] == pytest.approx(job.now / 150)


def test_a_training_that_was_taken_up_again_is_measured_by_what_it_does_now() -> None:
    job = Watched(Phase("head", 10))
    step = job.phases.begin("head")
    job.now += 5
    step("training", 8, 10)
    assert job.left is None
    job.now += 2
    step("training", 9, 10)
    assert job.left == pytest.approx(2.0)


def test_a_phase_that_was_there_already_says_nothing_of_the_pace() -> None:
    job = Watched(Phase("head", 10, "tagger"), Phase("again", 10, "tagger"))
    job.phases.begin("head")("training", 10, 10)
    job.run("again", 1, 2.0, total=10)
    assert job.left == pytest.approx(2.0 * 9)


def test_two_trainings_in_one_phase_count_together() -> None:
    job = Watched(Phase("head", 30))
    step = job.phases.begin("head")
    for steps in (10, 20):
        for done in range(1, steps + 1):
            job.now += 1
            step("training", done, steps)
    assert job.left == 0


def test_trainings_that_are_known_to_come_in_a_phase_count_from_its_first_step() -> None:
    job = Watched(Phase("head", 35, trainings=3))
    step = job.phases.begin("head")
    for steps in (10, 10, 15):
        for done in range(1, steps + 1):
            job.now += 1
            step("training", done, steps)
            assert job.left == pytest.approx(35 - job.now)


def test_the_last_training_of_a_phase_says_how_many_steps_it_has() -> None:
    job = Watched(Phase("head", 40, trainings=2))
    step = job.phases.begin("head")
    for steps in (10, 5):
        for done in range(1, steps + 1):
            job.now += 1
            step("training", done, steps)
    assert job.left == 0


def test_each_training_of_a_phase_that_was_there_before_says_nothing_of_the_pace() -> None:
    job = Watched(Phase("head", 35, trainings=3))
    step = job.phases.begin("head")
    step("going on", 10, 10)
    step("going on", 10, 10)
    assert job.left is None
    step("going on", 13, 15)
    job.now += 3
    step("training", 14, 15)
    assert job.left == pytest.approx(3)


def test_a_bar_never_goes_back() -> None:
    job = Watched(Phase("head", 10), Phase("rest", 10))
    job.run("head", 10, 1.0)
    job.run("rest", 10, 9.0)
    shares = [share for _, share, _ in job.told]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_phase_without_steps_is_over_when_the_next_one_begins() -> None:
    job = Watched(Phase("reading", 1), Phase("head", 10))
    job.phases.begin("reading")
    job.now += 5
    job.run("head", 10, 1.0)
    name, *rest = job.told[1]
    assert name == "head (2 of 2)"
    assert rest == pytest.approx([5 / 55, 50.0])
    assert job.left == 0


def test_a_phase_that_nobody_has_planned_is_a_mistake() -> None:
    job = Watched(Phase("head", 10))
    with pytest.raises(ValueError, match="planned"):
        job.phases.begin("tail")
