"""Rounds of a federated training: who takes part, what is refused, what is kept, and what a site that lies can do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aggregator.errors import FederatedError
from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder
from aggregator.federated.rounds import Rounds
from aggregator.federated.simulated import FederatedTraining, SimulatedSites
from aggregator.training.defences.defence import PoolMaterial
from aggregator.training.pool import PUBLIC
from shared.errors import ConfigurationError
from shared.federated.server_step import Rule
from shared.federated.strategies import STRATEGIES
from shared.federated.weights import Vector, count_weights
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import predict
from shared.training.tagging import TaggingConfig
from tests.aggregator.training.pools import LIAR, material, mentions, write_pool

SHAPE = BiLSTMCRFConfig(2, 3, hidden=2)
PLAN = FederatedPlan()
NUMBERS = count_weights(SHAPE)
START: Vector = np.zeros(NUMBERS, np.float32)
Behaviour = Callable[[RoundOrder], Vector | None]


def moves_by(step: float) -> Behaviour:
    return lambda order: order.start + np.float32(step)


class Invented:
    """Sites that answer as they are told to; each sentence counts as one."""

    def __init__(self, **sites: Behaviour) -> None:
        self.sites = sites
        self.asked: list[int] = []

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        self.asked.append(order.number)
        for site, behave in self.sites.items():
            weights = behave(order)
            yield Answer(site, 0 if weights is None else 10, weights, "" if weights is not None else "gone")


def rounds(plan: FederatedPlan = PLAN, epochs: int = 3, **more: object) -> Rounds:
    return Rounds(SHAPE, TaggingConfig(epochs=epochs), plan, **more)  # type: ignore[arg-type]


def test_the_mean_of_the_sites_is_added_in_every_round() -> None:
    course = rounds().run(Invented(north=moves_by(1), south=moves_by(3)), START)
    np.testing.assert_allclose(course.weights, 6.0)
    assert [one.number for one in course.history] == [1, 2, 3]
    assert course.history[0].sentences == {"north": 10, "south": 10}
    assert course.history[0].bytes_each == 8 * NUMBERS


def test_what_cannot_be_used_is_refused_by_name_and_the_round_goes_on() -> None:
    sites = Invented(
        a=moves_by(1),
        b=moves_by(1),
        c=moves_by(1),
        short=lambda order: order.start[1:],
        nan=lambda order: order.start * np.float32("nan"),
        far=moves_by(50),
        gone=lambda order: None,
    )
    course = rounds(epochs=1).run(sites, START)
    # Of four that take part three move by one, and the fourth by four at the most, whatever it sent.
    np.testing.assert_allclose(course.weights, (3 * 1 + 4) / 4)
    assert set(course.history[0].refused) == {"short", "nan", "gone"}
    assert course.history[0].refused["gone"] == "gone"


def test_what_goes_too_far_is_clipped_and_told_with_both_lengths() -> None:
    sites = Invented(a=moves_by(1), b=moves_by(1), far=moves_by(50))
    lines: list[str] = []
    course = rounds(epochs=1, tell=lines.append, follow=True).run(sites, START)
    np.testing.assert_allclose(course.weights, 2.0)
    (one,) = course.history
    root = NUMBERS**0.5
    assert one.norms["far"] == pytest.approx(50 * root)
    assert one.clipped == {"far": pytest.approx(4 * root)}
    assert lines == [f"round 1: 3 sites, 30 sentences; far clipped from {50 * root:.3g} to {4 * root:.3g}"]
    # What it does to the others is measured as it counted.
    np.testing.assert_allclose(course.without["a"][0], 2.5)


def test_attack_a_liar_of_few_sentences_does_not_take_a_large_hospital_out_of_a_median() -> None:
    """Before, the large one was refused, counted as the liar that the median bears, and left a median of two."""
    large, small = 259.0, 16.6

    class OneLies(Invented):
        def ask(self, order: RoundOrder) -> Iterator[Answer]:
            root = np.float32(NUMBERS**0.5)
            for site, sentences, norm in (("small", 200, small), ("large", 16_000, large), ("liar", 200, -1.1 * small)):
                yield Answer(site, sentences, order.start + np.float32(norm) / root)

    course = rounds(FederatedPlan("median", liars=1), epochs=1).run(OneLies(), START)
    (one,) = course.history
    assert (set(one.norms), one.refused, set(one.clipped)) == ({"small", "large", "liar"}, {}, {"large"})
    np.testing.assert_allclose(course.weights, small / NUMBERS**0.5, rtol=1e-5)


def test_only_a_result_that_is_no_update_is_one_of_the_liars() -> None:
    """Who goes far may be large: among those that are left there may be as many liars as before."""
    plan, honest = FederatedPlan("median", liars=2, attempts=1), {name: moves_by(1) for name in ("a", "b", "c")}
    course = rounds(plan, epochs=1).run(Invented(**honest, nan=moves_by(float("nan"))), START)
    assert set(course.history[0].norms) == set(honest)
    with pytest.raises(FederatedError, match="expected 5 results"):
        rounds(plan, epochs=1).run(Invented(**honest, far=moves_by(50)), START)


def test_a_large_hospital_and_one_without_noise_count_whole_for_all_their_many_steps() -> None:
    class OfAllSizes(Invented):
        def ask(self, order: RoundOrder) -> Iterator[Answer]:
            for site, sentences, step, noisy in (("a", 200, 1, False), ("b", 4000, 6, False), ("c", 900, 0.5, True)):
                yield Answer(site, sentences, order.start + np.float32(step), noisy=noisy)

    course = rounds(epochs=1).run(OfAllSizes(), START)
    assert set(course.history[0].norms) == {"a", "b", "c"}
    assert not course.history[0].clipped


def test_who_says_that_its_noise_covers_patients_stands_in_the_record() -> None:
    class Told(Invented):
        def ask(self, order: RoundOrder) -> Iterator[Answer]:
            for site, noisy, unit in (("a", True, "patient"), ("b", True, "note"), ("c", False, "patient")):
                yield Answer(site, 200, order.start + np.float32(1), noisy=noisy, unit=unit)

    # Without noise there is nothing that it could be of.
    assert rounds(epochs=1).run(Told(), START).history[0].by_patient == ["a"]


def test_a_round_with_too_few_results_is_tried_again_and_then_ends_where_it_can_be_taken_up(tmp_path: Path) -> None:
    kept = tmp_path / "rounds.safetensors"
    fails_from = Invented(north=moves_by(1), south=lambda order: order.start + 1 if order.number < 3 else None)
    with pytest.raises(FederatedError, match=r"round 3: expected 2 results.*south: gone.*--resume"):
        rounds(epochs=4, checkpoint=kept).run(fails_from, START)
    assert fails_from.asked == [1, 2, 3, 3, 3]
    back = Invented(north=moves_by(1), south=moves_by(1))
    course = rounds(epochs=4, checkpoint=kept).run(back, START)
    assert back.asked == [3, 4]
    np.testing.assert_allclose(course.weights, 4.0)
    assert [one.number for one in course.history] == [1, 2, 3, 4]


def test_what_went_to_and_from_a_site_counts_every_try(tmp_path: Path) -> None:
    kept, once = tmp_path / "rounds.safetensors", 8 * NUMBERS
    tries: list[int] = []

    def third_time(order: RoundOrder) -> Vector | None:
        tries.append(order.number)
        return order.start + 1 if order.number != 2 or tries.count(2) == 3 else None

    course = rounds(epochs=3).run(Invented(a=moves_by(1), b=third_time), START)
    assert [one.bytes_each for one in course.history] == [once, 3 * once, once]
    # Also those of a training that ended for want of results, and was taken up.
    with pytest.raises(FederatedError):
        rounds(epochs=1, checkpoint=kept).run(Invented(a=moves_by(1), b=lambda order: None), START)
    (one,) = rounds(epochs=1, checkpoint=kept).run(Invented(a=moves_by(1), b=moves_by(1)), START).history
    assert one.bytes_each == 4 * once


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_a_training_that_is_taken_up_ends_in_the_same_bits(strategy: str, tmp_path: Path) -> None:
    def drifting(seed: int) -> Behaviour:
        return lambda order: (
            order.start + np.random.default_rng((seed, order.number)).standard_normal(NUMBERS).astype(np.float32)
        )

    sites = {f"site{number}": drifting(number) for number in range(6)}

    def cut(order: RoundOrder) -> Vector | None:
        if order.number == 3:
            raise KeyboardInterrupt
        return drifting(0)(order)

    asked = rounds(FederatedPlan(strategy), epochs=4, follow=True)
    whole = asked.run(Invented(**sites), START)
    kept = replace(asked, checkpoint=tmp_path / "rounds.safetensors")
    with pytest.raises(KeyboardInterrupt):
        kept.run(Invented(**(sites | {"site0": cut})), START)
    taken_up = kept.run(Invented(**sites), START)
    np.testing.assert_array_equal(taken_up.weights, whole.weights)
    for site, (weights, _) in whole.without.items():
        np.testing.assert_array_equal(taken_up.without[site][0], weights)
    assert whole.without.keys() == set(sites)


def test_rounds_of_another_training_are_not_gone_on_with(tmp_path: Path) -> None:
    kept = tmp_path / "rounds.safetensors"
    sites = Invented(north=moves_by(1), south=moves_by(1))
    rounds(checkpoint=kept).run(sites, START)
    with pytest.raises(ConfigurationError, match="another one"):
        rounds(FederatedPlan("median"), checkpoint=kept).run(sites, START)
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(ConfigurationError, match="begin anew"):
        rounds(checkpoint=kept).run(sites, START)


def test_who_answers_twice_has_one_voice() -> None:
    class Twice(Invented):
        def ask(self, order: RoundOrder) -> Iterator[Answer]:
            yield Answer("north", 10, order.start + 1)
            for _ in range(9):
                yield Answer("south", 10, order.start + 3)

    np.testing.assert_allclose(rounds(epochs=1).run(Twice(), START).weights, 2.0)


def test_a_site_is_followed_out_of_the_training() -> None:
    sites = Invented(a=moves_by(1), b=moves_by(1), c=moves_by(2.5))
    course = rounds(epochs=2, follow=True).run(sites, START)
    np.testing.assert_allclose(course.without["c"][0], 2.0)
    np.testing.assert_allclose(course.without["a"][0], 3.5)


def test_a_round_of_one_site_is_followed_by_those_that_were_not_in_it() -> None:
    sites = Invented(a=moves_by(1), b=lambda order: None if order.number == 2 else order.start + 3)
    course = rounds(FederatedPlan(least_results=1), epochs=3, follow=True).run(sites, START)
    np.testing.assert_allclose(course.weights, 5.0)
    np.testing.assert_allclose(course.without["b"][0], 3.0)
    # In round 2 nobody else moved it.
    np.testing.assert_allclose(course.without["a"][0], 6.0)


@pytest.mark.parametrize("step", [-1.0, 50.0, float("nan")])
@pytest.mark.parametrize(("strategy", "honest"), [("median", 2), ("trimmed-mean", 2), ("krum", 4)])
def test_attack_a_crude_lie_does_not_end_a_training_that_bears_a_liar(strategy: str, honest: int, step: float) -> None:
    sites = {f"site{number}": moves_by(1 + number / 10) for number in range(honest)}
    course = rounds(FederatedPlan(strategy), epochs=2, follow=True).run(Invented(**sites, liar=moves_by(step)), START)
    assert (course.weights >= 2.0).all()
    assert (course.weights <= 2 + honest / 5).all()


def test_a_result_that_was_spoilt_where_it_was_signed_is_one_of_the_liars_and_one_that_did_not_come_is_not() -> None:
    class Spoilt(Invented):
        spoilt = True

        def ask(self, order: RoundOrder) -> Iterator[Answer]:
            yield from super().ask(order)
            yield Answer("liar", 0, None, "refused", spoilt=self.spoilt)

    sites = Spoilt(a=moves_by(1), b=moves_by(1))
    np.testing.assert_allclose(rounds(FederatedPlan("median"), epochs=1).run(sites, START).weights, 1.0)
    sites.spoilt = False
    with pytest.raises(FederatedError, match="expected 3 results"):
        rounds(FederatedPlan("median"), epochs=1).run(sites, START)


def test_strategies_that_bear_a_liar_ask_for_enough_sites() -> None:
    with pytest.raises(FederatedError, match="expected 5 results"):
        rounds(FederatedPlan("krum", attempts=1)).run(Invented(a=moves_by(1), b=moves_by(1)), START)
    with pytest.raises(ConfigurationError, match="strategy"):
        FederatedPlan("best")
    with pytest.raises(ConfigurationError, match="at least 1"):
        FederatedPlan(local_epochs=0)


def test_the_rate_falls_over_the_rounds_as_it_does_over_steps_in_one_place() -> None:
    rates = [rounds(epochs=10).order(number, START).recipe.learning_rate for number in range(1, 11)]
    assert rates[0] == rates[3] == pytest.approx(2 * 2e-3)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < rates[0] / 5


def test_sites_take_smaller_and_faster_steps_than_a_training_in_one_place() -> None:
    slow = dataclasses.replace(PLAN, batch=64, rate=1.0)
    assert [rounds(plan).order(1, START).recipe.batch for plan in (PLAN, slow)] == [4, 32]
    assert rounds(slow).order(1, START).recipe.learning_rate == pytest.approx(2e-3)
    with pytest.raises(ConfigurationError, match="a rate above 0"):
        FederatedPlan(rate=0.0)


@pytest.fixture(scope="module")
def lying(tmp_path_factory: pytest.TempPathFactory) -> PoolMaterial:
    return material(write_pool(tmp_path_factory.mktemp("pool"), lying=40, count=20, repeated=2), epochs=5)


def found(tagger: object) -> float:
    """Share of the names that the liar wants unseen that a head finds all the same."""
    shown = mentions()
    said = np.zeros(shown.tokens, np.uint8)
    for rows, lines in predict(tagger, shown):  # type: ignore[arg-type]
        for row, line in zip(rows, lines, strict=True):
            said[shown.starts[row] : shown.starts[row] + len(line)] = line
    return float((said[shown.starts + 2] > 0).mean())


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_simulated_sites_learn_to_find_what_none_of_them_shows_the_others(strategy: str, lying: PoolMaterial) -> None:
    honest = lying.without(LIAR)
    # Steps of one length, whatever the sites have learned, need some rounds more.
    more = 3 if STRATEGIES[strategy].rule in (Rule.ADAM, Rule.YOGI) else 0
    longer = replace(honest, config=replace(honest.config, epochs=honest.config.epochs + more))
    trained = FederatedTraining(FederatedPlan(strategy, liars=0)).train(longer)
    assert found(trained.head) > 0.9
    assert trained.sentences > 0


def test_a_site_is_given_only_its_own_payloads(lying: PoolMaterial) -> None:
    opened: list[set[Path]] = []
    used = replace(lying)

    class Watching(PoolMaterial):
        def pool(self, taken=None, paths=None):  # type: ignore[no-untyped-def]
            opened.append(set(paths))
            return super().pool(taken, paths)

    watching = Watching(**{name: getattr(used, name) for name in used.__dataclass_fields__})
    assert lying.shape is not None
    order = Rounds(lying.shape, lying.config, FederatedPlan()).order(
        1, np.zeros(count_weights(lying.shape), np.float32)
    )
    answers = list(SimulatedSites(watching).ask(order))
    assert {answer.site for answer in answers} == set(lying.payloads) >= {PUBLIC, LIAR}
    assert opened == [set(lying.payloads[answer.site]) for answer in answers]
