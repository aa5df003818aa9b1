"""What the measurements of surrogates count sees a surrogate that leaves what it should not, and a mechanism that promises too much."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from bench.workbench.surrogates import left, measuring
from bench.workbench.surrogates.left import replace_spelt
from shared.document import Document
from shared.surrogates.mechanisms.discrete_laplace import discrete_laplace
from shared.surrogates.mechanisms.randomness import KeyedRandomness
from shared.surrogates.replacing import Replaced, Surrogates
from shared.surrogates.time import maker


def test_notes_of_every_spelling_leave_nothing_but_what_is_drawn() -> None:
    found = replace_spelt(60, 1)
    assert found.spans > 60 * 20
    assert (found.left, found.redacted) == (0, 0)
    assert min(found.chances().values()) > 1e-6
    assert {kind for kind, each in found.itself.items() if not any(each)} == {"telephone", "code", "address"}


class _Forgetful(Surrogates):
    """As the reference code does it: a second spelling of a date stays."""

    def replace(self, document: Document, redact: Callable[[str, str], str] = lambda category, text: "") -> Replaced:
        made = super().replace(document, redact)
        mapping = [
            replace(one, surrogate=one.original) if re.fullmatch(r"\d{4}-\d\d-\d\d", one.original) else one
            for one in made.mapping
        ]
        return replace(made, mapping=tuple(mapping))


def test_a_date_that_is_changed_in_one_spelling_alone_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left, "Surrogates", _Forgetful)
    assert replace_spelt(40, 1).left > 20


def test_a_mechanism_that_never_moves_is_far_from_its_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maker, "discrete_laplace", lambda chance, epsilon: 0)
    assert replace_spelt(40, 1).chances()["date"] < 1e-9


@pytest.mark.parametrize(("scale", "reached"), [(1, True), (2, False)])
def test_noise_that_is_too_small_misses_the_claimed_epsilon(scale: int, reached: bool) -> None:
    chance = KeyedRandomness(b"test")
    effort = measuring.Effort("surrogates", 20_000, 0, 0, 0)
    counts: list[Counter[object]] = [
        Counter(which + discrete_laplace(chance, Fraction(scale)) for _ in range(effort.samples)) for which in (0, 1)
    ]
    assert measuring._epsilon_entry(effort, "test", 1.0, counts).reached is reached


def test_an_output_that_one_input_alone_gives_misses_any_epsilon() -> None:
    effort = measuring.Effort("surrogates", 1000, 0, 0, 0)
    dice = random.Random(0)
    counts: list[Counter[object]] = [
        Counter(dice.choice(seen) for _ in range(effort.samples)) for seen in ("abc", "bcd")
    ]
    assert measuring._epsilon_entry(effort, "test", 1.0, counts).reached is False
