"""The mechanisms: what comes out with which probability, by going every way that they can go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.surrogates.mechanisms import discrete_laplace as laplace
from shared.surrogates.mechanisms import permute_and_flip as module
from shared.surrogates.mechanisms.discrete_laplace import bernoulli_exp, discrete_laplace
from shared.surrogates.mechanisms.permute_and_flip import permute_and_flip
from shared.surrogates.mechanisms.randomness import KeyedRandomness, Randomness, choose
from tests.shared.surrogates.enumerating import enumerate_draws

LEAST = Fraction(1, 200_000)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 2), (3, 2), (5, 1)])
def test_the_coin_falls_with_its_exact_probability(numerator: int, denominator: int) -> None:
    found, given_up = enumerate_draws(lambda chance: bernoulli_exp(chance, numerator, denominator), LEAST)
    truth = mpmath.exp(mpmath.mpf(-numerator) / denominator)
    assert given_up < Fraction(1, 100)
    assert float(found[True]) - 1e-12 <= truth <= float(found[True] + given_up) + 1e-12


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3, 2)])
def test_the_noise_has_its_exact_distribution_and_so_its_epsilon(
    epsilon: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With powers of a half in the place of exp, every probability is a fraction; the coin itself is held to exp above."""

    def coin(chance: Randomness, numerator: int, denominator: int) -> bool:
        return all(chance.below(2) == 0 for _ in range(numerator * epsilon.denominator // denominator))

    monkeypatch.setattr(laplace, "_bernoulli_exp_to_one", coin)
    found, given_up = enumerate_draws(lambda chance: discrete_laplace(chance, epsilon), Fraction(1, 300_000))
    assert given_up < Fraction(1, 10)
    falling = Fraction(1, 2**epsilon.numerator)
    for size in range(-3, 4):
        truth = (1 - falling) / (1 + falling) * falling ** abs(size)
        assert found[size] <= truth <= found[size] + given_up


def test_the_noise_falls_as_often_as_it_should_with_its_own_coin() -> None:
    chance, epsilon, draws = KeyedRandomness(b"key", "noise"), Fraction(2, 3), 30_000
    counts = Counter(discrete_laplace(chance, epsilon) for _ in range(draws))
    falling = float(mpmath.exp(-mpmath.mpf(2) / 3))
    for size in range(-4, 5):
        truth = (1 - falling) / (1 + falling) * falling ** abs(size)
        assert abs(counts[size] / draws - truth) < 0.015


@given(st.integers(1, 10**9), st.binary(min_size=1, max_size=8))
def test_keyed_numbers_are_within_their_bound_and_come_again(bound: int, key: bytes) -> None:
    one, other = KeyedRandomness(key, "a"), KeyedRandomness(key, "a")
    numbers = [one.below(bound) for _ in range(20)]
    assert numbers == [other.below(bound) for _ in range(20)]
    assert all(0 <= number < bound for number in numbers)


def test_another_key_or_purpose_is_another_stream() -> None:
    streams = [
        [KeyedRandomness(key, *purpose).below(1 << 64)]
        for key, purpose in ((b"k", ("ab", "c")), (b"k", ("a", "bc")), (b"k", ("abc",)), (b"l", ("ab", "c")))
    ]
    assert len({tuple(stream) for stream in streams}) == 4


def test_keyed_numbers_are_uniform() -> None:
    chance = KeyedRandomness(b"key", "test")
    counts = Counter(choose(chance, range(5)) for _ in range(20_000))
    assert max(abs(counts[number] - 4000) for number in range(5)) < 300


def by_definition(distances: Sequence[int], falling: Fraction) -> list[Fraction]:
    """Permute-and-flip as McKenna and Sheldon define it: over every order, the first that is taken. `falling` is exp(-epsilon / 2)."""
    found = [Fraction(0)] * len(distances)
    orders = list(permutations(range(len(distances))))
    for order in orders:
        left = Fraction(1, len(orders))
        for candidate in order:
            taken = falling ** distances[candidate]
            found[candidate] += left * taken
            left *= 1 - taken
    return found


@st.composite
def metrics(draw: st.DrawFn) -> list[list[int]]:
    """Points of a grid, with whole distances that are a metric."""
    points = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5, unique=True))
    return [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]


@given(metrics(), st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1, 10)]))
def test_no_output_tells_two_places_apart_by_more_than_the_bound(distances: list[list[int]], falling: Fraction) -> None:
    """Exact: exp(epsilon d) is falling ** (-2 d), a fraction."""
    rows = [by_definition(row, falling) for row in distances]
    for one, row in enumerate(rows):
        assert sum(row) == 1
        for other, held in enumerate(rows):
            bound = falling ** (-2 * distances[one][other])
            assert all(a <= bound * b for a, b in zip(row, held, strict=True))


@pytest.mark.parametrize("distances", [[0, 1, 2], [1, 0, 3, 1], [2, 2, 0]])
def test_the_walk_is_the_mechanism_of_the_definition(distances: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coin that falls with probability 2 ** -d in the place of exp(-epsilon d / 2), every probability is a fraction."""
    monkeypatch.setattr(
        module, "bernoulli_exp", lambda chance, top, bottom: chance.below(2 ** (2 * top // bottom)) == 0
    )
    found, _ = enumerate_draws(
        lambda chance: permute_and_flip(chance, len(distances), distances.__getitem__, Fraction(1))
    )
    assert [found[number] for number in range(len(distances))] == by_definition(distances, Fraction(1, 2))


def test_the_walk_falls_as_often_as_it_should_with_its_own_coin() -> None:
    chance = KeyedRandomness(b"key", "walk")
    distances, epsilon, draws = [0, 1, 3], Fraction(1), 20_000
    counts = Counter(permute_and_flip(chance, 3, distances.__getitem__, epsilon) for _ in range(draws))
    falling = Fraction(mpmath.nstr(mpmath.exp(-0.5), 20))
    for number, truth in enumerate(by_definition(distances, falling)):
        assert abs(counts[number] / draws - float(truth)) < 0.02


def test_the_normaliser_of_the_paper_does_not_cancel() -> None:
    """Tchouka et al. (2023, property 1) claim epsilon d for weights exp(-epsilon d): a third place near one of two breaks it."""
    falling = Fraction(1, 2)
    distances = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    rows = [[falling**d / sum(falling**one for one in row) for d in row] for row in distances]
    assert max(a / b for a, b in zip(rows[0], rows[1], strict=True)) > falling**-1
    # Nor is there any bound where the candidates are those near the true place.
    near = [
        [weight if d <= 1 else Fraction(0) for weight, d in zip(row, apart, strict=True)]
        for row, apart in zip(rows, distances, strict=True)
    ]
    assert near[0][2] == 0 < near[1][2]


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1)])
def test_noise_of_nothing_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(ValueError, match="above 0"):
        discrete_laplace(KeyedRandomness(b"k"), epsilon)
