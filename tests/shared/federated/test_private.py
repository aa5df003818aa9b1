"""Noise by the note: gradients, clipping, the grid, the accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from shared.errors import ConfigurationError, TrainingError
from shared.federated import accounting
from shared.federated.accounting import Spent, epsilon, multiplier_for
from shared.federated.grid_noise import NoisySum
from shared.federated.local import LocalRecipe, StoppedError
from shared.federated.private import NoteNoise, learn_privately, noisy_update, note_gradient
from shared.federated.weights import set_weights, weights_of
from shared.models.noise import Draws
from shared.models.noise_source import PrivateNoise
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger
from shared.training.loop import seed_training

# Without dropout a gradient is one number.
SHAPE = BiLSTMCRFConfig(3, 3, hidden=2, input_dropout=0, variational_dropout=0, dropout=0)


def note(seed: int, sentences: int = 3) -> RaggedSentences:
    dice = np.random.default_rng(seed)
    lengths = dice.integers(1, 4, sentences)
    tokens = int(lengths.sum())
    values = dice.standard_normal((tokens, 3)).astype(np.float32)
    return RaggedSentences(values, np.zeros(tokens, np.uint8), dice.integers(0, 2, tokens).astype(np.uint8), lengths)


class NoNoise:
    """Takes every note, and adds nothing."""

    def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.zeros(shape, np.float32)

    def random(self, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.zeros(shape)


def test_the_gradient_of_a_note_is_that_of_differences() -> None:
    tagger, shown = build_tagger(SHAPE).train(), note(0)
    start, found = weights_of(tagger).astype(np.float64), note_gradient(tagger, note(0))

    def loss(weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        set_weights(tagger, weights.astype(np.float32))
        # With gradients: without them the LSTM may run in half the precision.
        return sum(float(tagger.loss(batch).sum().detach()) for batch in shown.batches(8)) / shown.sentences

    for index in range(0, len(start), 7):
        moved = np.zeros_like(start)
        moved[index] = 1e-2
        slope = (loss(start + moved) - loss(start - moved)) / 2e-2
        assert slope == pytest.approx(found[index], abs=3e-3)


def test_a_sample_of_many_sentences_has_the_gradient_of_their_mean_and_can_be_stopped_within() -> None:
    """As all notes of a patient are, whose losses need not lie in memory at once."""
    tagger = build_tagger(SHAPE).eval()
    notes = [note(number) for number in range(60)]
    together = RaggedSentences.concatenate(notes)
    assert together.sentences > 128
    parts = sum(note_gradient(tagger, one).astype(np.float64) * one.sentences for one in notes)
    np.testing.assert_allclose(note_gradient(tagger, together), parts / together.sentences, atol=1e-5)
    asked: list[int] = []
    with pytest.raises(StoppedError):
        note_gradient(tagger, together, lambda: bool(asked) or asked.append(1) is not None)


def test_without_noise_a_step_is_the_mean_of_the_clipped_gradients() -> None:
    """The CRF's own backward pass, sentence by sentence, clipped by hand."""
    notes = [note(seed) for seed in range(4)]
    start = weights_of(build_tagger(SHAPE))
    asked = NoteNoise(1.0, bound=0.3, rate=1.0, steps=1)
    moved = learn_privately(SHAPE, start, notes, LocalRecipe(learning_rate=0.1), asked, NoNoise())
    tagger = build_tagger(SHAPE).train()
    set_weights(tagger, start)
    gradients = [note_gradient(tagger, one).astype(np.float64) for one in notes]
    assert max(np.linalg.norm(one) for one in gradients) > 0.3
    mean = np.mean([one * min(1.0, 0.3 / float(np.linalg.norm(one))) for one in gradients], 0)
    optimizer = torch.optim.NAdam([weight := torch.nn.Parameter(torch.from_numpy(start.copy()))], lr=0.1)
    weight.grad = torch.from_numpy(np.asarray(mean, np.float32))
    optimizer.step()
    # Nadam divides by the root of the square: where the gradient is nothing, the grid's last step is a step.
    sure = np.abs(mean) > 1e-5
    assert sure.sum() > 50
    np.testing.assert_allclose(moved[sure], weight.detach().numpy()[sure], atol=1e-3)


class Undrawn(NoNoise):
    """Seeded noise, in steps of which no note is a part."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(1)

    def random(self, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.ones(shape) if shape[0] < 10 else self._chance.random(shape)


@pytest.mark.parametrize("proximal", [0.0, 0.01, 1000.0])
def test_attack_the_size_of_the_noise_tells_how_many_notes_there_are(proximal: float) -> None:
    """Who pulls hard sees how large the noise is beside the pull: it hangs on nothing but what is public."""
    start, recipe = weights_of(build_tagger(SHAPE)), LocalRecipe(learning_rate=0.02, proximal=proximal)
    few, many = (
        learn_privately(SHAPE, start, [note(0)] * count, recipe, NoteNoise(1.0, rate=0.5, steps=3), Undrawn())
        for count in (3, 9)
    )
    np.testing.assert_array_equal(few, many)


def test_the_proximal_term_holds_a_site_with_noise_near_where_the_round_began() -> None:
    notes, start = [note(seed) for seed in range(4)], weights_of(build_tagger(SHAPE))

    def distance(proximal: float) -> float:
        recipe, noise = LocalRecipe(learning_rate=0.02, proximal=proximal), NoteNoise(1.0, rate=1.0, steps=20)
        return float(np.linalg.norm(learn_privately(SHAPE, start, notes, recipe, noise, NoNoise()) - start))

    free, held, fast = (distance(proximal) for proximal in (0.0, 0.5, 10.0))
    assert fast < held < 0.9 * free


def summed(
    notes: list[RaggedSentences], monkeypatch: pytest.MonkeyPatch
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The sum of a step of all notes, before noise, by the usual shape and with its weights made large."""
    shape = BiLSTMCRFConfig(3, 3, hidden=16)
    with seed_training(7):
        start = 3 * weights_of(build_tagger(shape))
    sums = []

    class Seen(NoisySum):
        def noisy(self, multiplier: float, source: Draws) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            sums.append(super().noisy(multiplier, source))
            return sums[-1]

    monkeypatch.setattr("shared.federated.private.NoisySum", Seen)
    learn_privately(shape, start, notes, LocalRecipe(seed=7), NoteNoise(1.0, rate=1.0, steps=1), NoNoise())
    return sums[0]


@pytest.mark.parametrize("gone", [0, 5])
def test_with_a_note_or_without_it_two_sums_lie_no_farther_apart_than_the_bound(
    gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is drawn for one note may move no other: of a shape with dropout too."""
    notes = [note(seed, 5) for seed in range(12)]
    whole, without = (summed(some, monkeypatch) for some in (notes, notes[:gone] + notes[gone + 1 :]))
    assert 0 < np.linalg.norm(whole - without) <= 1 + 1e-9


@given(st.integers(0, 200), st.floats(1e-3, 1e6), st.floats(1e-3, 1e3))
def test_no_vector_is_longer_than_the_bound_once_it_is_on_the_grid(seed: int, length: float, bound: float) -> None:
    vector = np.random.default_rng(seed).standard_normal(50)
    summed = NoisySum(50, bound)
    on_grid = summed.on_grid(vector / np.linalg.norm(vector) * length) * summed.step
    assert np.linalg.norm(on_grid) <= bound
    assert np.linalg.norm(on_grid) >= 0.99 * min(length, bound) - 1e-5 * bound


def test_what_leaves_lies_on_the_grid_whatever_went_in() -> None:
    for vector in (np.zeros(200), np.full(200, math.pi * 1e-3)):
        summed = NoisySum(200, 1.0)
        summed.add(vector)
        steps = summed.noisy(0.7, PrivateNoise()) / summed.step
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)


@pytest.mark.parametrize("multiplier", [1.0, 8.0, 30.0])
def test_noise_reaches_every_number_of_the_grid(multiplier: float) -> None:
    """Normals of single precision reach one number in two or in eight of those beyond a standard deviation: what lies between tells the sum."""
    summed = NoisySum(200_000, 1.0)
    steps = np.rint(summed.noisy(multiplier, PrivateNoise()) / summed.step).astype(np.int64)
    far = steps[np.abs(steps) * summed.step > multiplier]
    assert 0.3 < len(far) / len(steps) < 0.34
    counts = np.bincount(far % 8, minlength=8) / len(far)
    np.testing.assert_allclose(counts, 1 / 8, atol=0.01)


@pytest.mark.parametrize("numbers", [1, 2, 7])
def test_any_count_of_numbers_gets_noise(numbers: int) -> None:
    assert (NoisySum(numbers, 1.0).noisy(1.0, PrivateNoise()) != 0).all()


def test_a_gradient_that_is_not_finite_is_none() -> None:
    summed = NoisySum(3, 1.0)
    summed.add(np.array([np.nan, 1, np.inf]))
    assert not summed.noisy(1.0, NoNoise()).any()
    with pytest.raises(ConfigurationError):
        NoisySum(3, 0.0)


def test_the_noise_is_gaussian_of_the_stated_size() -> None:
    drawn = np.asarray(noisy_update(np.zeros(20_000, np.float32), 2.0, 1.5, PrivateNoise()))
    assert kstest(drawn, norm(0, 3.0).cdf).pvalue > 1e-6


def test_epsilon_is_that_of_the_gaussian_mechanism_where_every_note_takes_part() -> None:
    """Against the exact trade-off of Balle and Wang 2018, which Renyi bounds from above and nearly meets."""

    def exact(multiplier: float, value: float) -> float:
        a, b = 1 / (2 * multiplier), value * multiplier
        return float(norm.cdf(a - b) - math.exp(value) * norm.cdf(-a - b))

    for multiplier, steps in ((4.0, 1), (8.0, 10), (2.0, 3)):
        found = epsilon([Spent(multiplier, 1.0, steps)])
        together = multiplier / math.sqrt(steps)
        assert exact(together, found) <= 1e-5
        assert exact(together, 0.75 * found) > 1e-5


def test_epsilon_grows_with_all_that_was_ever_spent() -> None:
    one = Spent(1.1, 0.1, 10)
    assert epsilon([]) == 0
    assert (
        epsilon([one]) < epsilon([one, one]) == epsilon([Spent(1.1, 0.1, 20)]) < epsilon([one, one, Spent(3.0, 1.0, 1)])
    )
    assert epsilon([Spent(1.1, 0.05, 10)]) < epsilon([one])


def test_the_least_noise_for_a_budget_keeps_it() -> None:
    needed = multiplier_for(8.0, 0.1, 200)
    assert epsilon([Spent(needed, 0.1, 200)]) <= 8 < epsilon([Spent(needed - 0.02, 0.1, 200)])


def test_what_every_round_of_a_hospital_asks_for_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = multiplier_for(8.0, 0.1, 200)
    monkeypatch.setattr(accounting, "epsilon", lambda *given: pytest.fail("computed anew"))
    assert multiplier_for(8.0, 0.1, 200) == needed


def test_a_private_round_can_be_stopped_and_needs_notes() -> None:
    start = weights_of(build_tagger(SHAPE))
    # By the second rate no note is ever drawn: a round that draws none can be stopped, too.
    for rate in (1.0, 1e-12):
        noise = NoteNoise(1.0, rate=rate)
        with pytest.raises(StoppedError):
            learn_privately(SHAPE, start, [note(0)], LocalRecipe(), noise, PrivateNoise(), lambda: True)
    with pytest.raises(TrainingError):
        learn_privately(SHAPE, start, [], LocalRecipe(), NoteNoise(1.0), PrivateNoise())
    for wrong in ({"multiplier": 0.0}, {"multiplier": math.nan}, {"multiplier": 1.0, "rate": 1.5}):
        with pytest.raises(ConfigurationError):
            NoteNoise(**wrong)  # type: ignore[arg-type]
