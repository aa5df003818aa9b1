"""A site's part of a round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.federated.local import LocalRecipe, StoppedError, learn_round
from shared.federated.weights import count_weights, describe_shape, read_shape, set_weights, weights_of
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger

SHAPE = BiLSTMCRFConfig(4, 3, hidden=5)
RECIPE = LocalRecipe(batch=4, learning_rate=0.02)


def sentences(count: int = 12) -> RaggedSentences:
    """A first token with a large first number is PHI."""
    dice = np.random.default_rng(1)
    values = dice.standard_normal((3 * count, 4)).astype(np.float32)
    tags = np.zeros(3 * count, np.uint8)
    tags[::3] = 1
    values[::3, 0] += 4
    return RaggedSentences(values, np.zeros(3 * count, np.uint8), tags, np.full(count, 3, np.int64))


def start() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return weights_of(build_tagger(SHAPE))


def test_weights_go_into_a_vector_and_back() -> None:
    one, other = build_tagger(SHAPE), build_tagger(SHAPE)
    set_weights(other, weights_of(one))
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())
    assert len(weights_of(one)) == count_weights(SHAPE) == sum(value.numel() for value in one.parameters())
    with pytest.raises(ConfigurationError, match="numbers for this tagger"):
        set_weights(one, weights_of(one)[:-1])


def test_a_shape_travels_by_its_numbers() -> None:
    assert read_shape("bilstm-crf", describe_shape(SHAPE)) == SHAPE
    for kind, numbers in (
        ("pickle", describe_shape(SHAPE)),
        ("bilstm-crf", describe_shape(SHAPE) | {"more": 1}),
        ("bilstm-crf", describe_shape(SHAPE) | {"hidden": 2.5}),
    ):
        with pytest.raises(ConfigurationError):
            read_shape(kind, numbers)


def test_a_round_learns_and_begins_with_the_weights_that_it_is_given() -> None:
    begin = start()
    kept = begin.copy()
    tagger = build_tagger(SHAPE).eval()

    def loss(weights: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
        set_weights(tagger, weights)
        return float(sum(tagger.loss(batch).sum() for batch in sentences().batches(12)).detach())  # type: ignore[union-attr]

    learned = learn_round(SHAPE, begin, sentences(), replace(RECIPE, epochs=4))
    assert loss(learned) < 0.7 * loss(begin)
    np.testing.assert_array_equal(begin, kept)
    np.testing.assert_array_equal(learned, learn_round(SHAPE, begin, sentences(), replace(RECIPE, epochs=4)))


def test_the_proximal_term_holds_a_site_near_where_the_round_began() -> None:
    begin = start()
    moved = [
        np.linalg.norm(learn_round(SHAPE, begin, sentences(), replace(RECIPE, epochs=3, proximal=mu)) - begin)
        for mu in (0.0, 1.0, 100.0)
    ]
    assert moved[0] > moved[1] > moved[2]


def test_a_stop_ends_the_training_between_two_steps() -> None:
    asked: list[None] = []

    def stopped() -> bool:
        asked.append(None)
        return len(asked) > 2

    with pytest.raises(StoppedError):
        learn_round(SHAPE, start(), sentences(), RECIPE, stopped)
    assert len(asked) == 3


def test_without_sentences_nothing_is_learned() -> None:
    with pytest.raises(TrainingError, match="labelled sentence"):
        learn_round(SHAPE, start(), sentences().select(np.zeros(0, np.int64)), RECIPE)
    with pytest.raises(ConfigurationError, match="above 0"):
        LocalRecipe(learning_rate=float("nan"))
