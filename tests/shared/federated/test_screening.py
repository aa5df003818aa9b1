"""What sites may send: what is no update is refused, by name and with its reason, and one that goes too far is clipped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.federated.local import LocalRecipe, learn_round
from shared.federated.private import NoteNoise, learn_privately
from shared.federated.screening import Limits, Refusal, Screened, Sent, screen
from shared.federated.weights import Vector, weights_of
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger
from shared.training.loop import seed_training

START = np.zeros(4, np.float32)
LIMITS = Limits()
RECIPE = LocalRecipe(batch=4, learning_rate=4e-3)
SHAPE = BiLSTMCRFConfig(8, 11, hidden=8)
FEW, MORE, MANY, NOISY = "few", "more", "many", "noisy"


def screened(results: Mapping[str, Vector], limits: Limits = LIMITS, start: Vector = START) -> Screened:
    """Of sites of one size."""
    return screen(start, {site: Sent(weights, 40) for site, weights in results.items()}, RECIPE, limits)


def honest(sites: int = 4) -> dict[str, Vector]:
    dice = np.random.default_rng(0)
    return {f"site-{number}": dice.standard_normal(4).astype(np.float32) for number in range(sites)}


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (np.zeros(3, np.float32), Refusal.SHAPE),
        (np.zeros((2, 2), np.float32), Refusal.SHAPE),
        (np.zeros(4, np.float64), Refusal.SHAPE),
        (np.array([0, np.nan, 0, 0], np.float32), Refusal.NOT_FINITE),
        (np.array([0, np.inf, 0, 0], np.float32), Refusal.NOT_FINITE),
        (np.full(4, 1e30, np.float32), Refusal.TOO_LONG),
    ],
)
def test_what_cannot_be_used_is_refused_and_the_others_stay(sent: Vector, reason: Refusal) -> None:
    found = screened(honest() | {"liar": sent})
    assert found.refused == {"liar": reason}
    assert set(found.norms) == set(honest())


@given(st.floats(5, 1e30))
def test_an_update_counts_for_no_more_than_the_limit_however_long_it_is(times: float) -> None:
    honest_ones = honest()
    usual = max(float(np.linalg.norm(one)) for one in honest_ones.values())
    liar = np.array([min(times * usual, 3e38), 0, 0, 0], np.float32)
    found = screened(honest_ones | {"liar": liar})
    assert found.refused in ({}, {"liar": Refusal.TOO_LONG})
    if not found.refused:
        assert set(found.clipped) == {"liar"}
        median = sorted(found.norms.values())[2]
        assert found.clipped["liar"] == pytest.approx(LIMITS.times_median * median)


def test_many_that_are_too_long_do_not_make_long_updates_usual() -> None:
    long = {f"liar-{number}": np.full(4, 1e30, np.float32) for number in range(5)}
    assert set(screened(honest() | long).norms) == set(honest())


def test_of_two_results_nobody_can_tell_which_is_wrong() -> None:
    two = {"one": np.full(4, 0.01, np.float32), "other": np.full(4, 10, np.float32)}
    assert not screened(two).refused
    assert screened(two, Limits(most_norm=1.0)).refused == {"other": Refusal.TOO_LONG}


def test_norms_are_those_of_the_update_and_not_of_the_weights() -> None:
    start = np.full(4, 100, np.float32)
    assert screened({"one": start + np.float32(1)}, start=start).norms == {"one": pytest.approx(2.0)}


def sentences(count: int) -> RaggedSentences:
    """Of eight words each, one in ten of them PHI that can be learned."""
    known = np.random.default_rng(0).standard_normal((400, 8)).astype(np.float32)
    words = np.random.default_rng(count).integers(0, 400, count * 8)
    tags = np.where(words < 40, 2 * (words % 5) + 1, 0).astype(np.uint8)
    return RaggedSentences(known[words], np.zeros(len(words), np.uint8), tags, np.full(count, 8, np.int64))


@pytest.fixture(scope="module")
def learned() -> tuple[Vector, dict[str, Sent]]:
    """Honest rounds of sites of 40 to 1200 sentences without noise, and of two with it."""
    with seed_training(0):
        start = weights_of(build_tagger(SHAPE))
    sizes = {FEW: 40, MORE: 60, MANY: 1200}
    came = {name: Sent(learn_round(SHAPE, start, sentences(count), RECIPE), count) for name, count in sizes.items()}
    whole = sentences(400)
    notes = [whole.select(np.arange(first, first + 20)) for first in range(0, 400, 20)]
    for name in (NOISY, f"{NOISY} too"):
        weights = learn_privately(SHAPE, start, notes, RECIPE, NoteNoise(2.0), np.random.default_rng(len(name)))
        came[name] = Sent(weights, 400, noisy=True)
    return start, came


def among(learned: tuple[Vector, dict[str, Sent]], *names: str, **liar: Sent) -> Screened:
    start, came = learned
    return screen(start, {name: came[name] for name in names} | liar, RECIPE, Limits())


def boast(learned: tuple[Vector, dict[str, Sent]], name: str, times: float, sentences: int | None = None) -> Sent:
    start, came = learned
    honest = came[name]
    longer = start + np.float32(times) * (honest.weights - start)
    return Sent(longer, honest.sentences if sentences is None else sentences, honest.noisy)


@pytest.mark.parametrize(
    "names",
    [
        (FEW, MORE, MANY),
        (NOISY, f"{NOISY} too", MANY),
        (NOISY, f"{NOISY} too", FEW),
        (NOISY, MORE, MANY),
        (NOISY, f"{NOISY} too", FEW, MORE, MANY),
    ],
)
def test_honest_sites_of_sizes_that_are_not_far_apart_count_whole_with_noise_or_without(
    names: tuple[str, ...], learned: tuple[Vector, dict[str, Sent]]
) -> None:
    found = among(learned, *names)
    assert not found.refused
    assert not found.clipped


@pytest.mark.parametrize("name", [FEW, MANY, NOISY])
def test_a_step_of_ten_times_the_length_is_clipped_whoever_takes_it(
    name: str, learned: tuple[Vector, dict[str, Sent]]
) -> None:
    found = among(learned, FEW, MORE, NOISY, f"{NOISY} too", liar=boast(learned, name, 10))
    assert set(found.clipped) == {"liar"}
    assert found.clipped["liar"] < found.norms["liar"]


@pytest.mark.parametrize("claimed", [600, 10**9])
def test_attack_a_boast_of_sentences_does_not_allow_ten_times_the_step(
    claimed: int, learned: tuple[Vector, dict[str, Sent]]
) -> None:
    found = among(learned, FEW, MORE, liar=boast(learned, MORE, 10, claimed))
    assert set(found.clipped) == {"liar"}
    assert found.clipped["liar"] < 10 * sorted(found.norms.values())[1]


def test_half_of_the_sites_together_do_not_make_long_updates_usual() -> None:
    one = np.array([1, 0, 0, 0], np.float32)
    found = screened({"a": one, "b": one, "liar": 9 * one, "other liar": 9 * one})
    assert found.clipped == {"liar": pytest.approx(4.0), "other liar": pytest.approx(4.0)}


def of_norm(norm: float, sentences: int, *, noisy: bool = False) -> Sent:
    return Sent(np.array([norm, 0, 0, 0], np.float32), sentences, noisy)


SMALL, MIDDLE, LARGE = of_norm(16.6, 200), of_norm(115, 4000), of_norm(259, 16_000)
QUIET = of_norm(7.9, 200, noisy=True)


@pytest.mark.parametrize(
    ("sites", "clipped"),
    [
        pytest.param({"a": SMALL, "b": SMALL, "large": LARGE}, {"large"}, id="two small ones and a large one"),
        pytest.param({"a": SMALL, "b": SMALL, "large": LARGE, "too": LARGE}, {"large", "too"}, id="two of each"),
        pytest.param({"a": SMALL, "b": MIDDLE, "large": LARGE}, set(), id="one of each size"),
        pytest.param({"a": SMALL, "large": LARGE, "too": LARGE}, set(), id="most are large"),
        pytest.param({"a": SMALL, "large": LARGE, "liar": SMALL}, {"large"}, id="a liar that says it is small"),
        pytest.param({"a": QUIET, "b": QUIET, "c": QUIET, "large": LARGE}, {"large"}, id="one alone without noise"),
    ],
)
def test_a_hospital_far_larger_than_the_others_takes_part_with_a_shorter_step(
    sites: dict[str, Sent], clipped: set[str]
) -> None:
    """With what docs/federated.md states of the default head in a first round."""
    found = screen(START, sites, RECIPE, LIMITS)
    assert not found.refused
    assert set(found.norms) == set(sites)
    assert set(found.clipped) == clipped
    # Nor is it made small: it still goes several times as far as the median hospital.
    usual = sorted(found.norms.values())[(len(sites) - 1) // 2]
    assert all(to > 4 * usual for to in found.clipped.values())


def test_attack_who_says_it_has_next_to_nothing_takes_no_step_away_from_the_others() -> None:
    liar = of_norm(0.0, 1)
    found = screen(START, {"a": SMALL, "large": LARGE, "liar": liar}, RECIPE, LIMITS)
    assert (found.refused, set(found.clipped)) == ({}, {"large"})
    assert found.clipped["large"] > found.norms["a"]
