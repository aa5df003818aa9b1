"""Divergences against whole forward passes, and the accuracy they stand for against a simulated likelihood-ratio test."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.models import divergence, lstm
from shared.models.divergence import Replacements, divergences
from shared.models.representer import Representer, RepresenterConfig
from tests.shared.models.no_noise import NoNoise

INPUTS = 6


@pytest.fixture(autouse=True)
def _single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)


def representer(seed: int = 0, input_noise: float = 0.3) -> Representer:
    torch.manual_seed(seed)
    config = RepresenterConfig(INPUTS, dim=4, hidden=5, input_noise=input_noise, output_noise=0.5)
    made = Representer(config).eval().requires_grad_(False)
    # Beyond the unit ball in places, and noise of different strength in each dimension.
    made.output.weight.mul_(4)
    made.output_noise.raw.add_(torch.linspace(-0.5, 0.5, 4))
    return made


def case(lengths: list[int], pairs: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64], Replacements]:
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((sum(lengths), INPUTS)).astype(np.float32)
    tokens = np.sort(generator.integers(0, sum(lengths), pairs))
    rows = generator.standard_normal((7, INPUTS)).astype(np.float32)
    return vectors, np.array(lengths), Replacements(tokens, generator.integers(0, 7, pairs), rows)


@torch.no_grad()
def means(model: Representer, vectors: torch.Tensor) -> NDArray[np.float64]:
    """Of one sentence of noisy vectors, by the plain forward pass."""
    return model.noise_free(vectors[None], torch.tensor([len(vectors)]))[0].double().numpy()


def by_whole_passes(
    model: Representer, vectors: NDArray[np.float32], lengths: NDArray[np.int64], replaced: Replacements, seed: int
) -> list[float]:
    scale = model.output_noise.scale.double().numpy()
    clean = torch.from_numpy(vectors)
    drift = model.input_noise(clean, torch.Generator().manual_seed(seed)) - clean
    ends = np.cumsum(lengths)
    found = []
    for token, row in zip(replaced.tokens.tolist(), replaced.ids.tolist(), strict=True):
        end = int(ends[np.searchsorted(ends, token, side="right")])
        start = end - int(lengths[np.searchsorted(ends, token, side="right")])
        changed = clean.clone()
        changed[token] = torch.from_numpy(replaced.rows[row])
        apart = means(model, (clean + drift)[start:end]) - means(model, (changed + drift)[start:end])
        found.append(float(np.sqrt(((apart / scale) ** 2).sum())))
    return found


@settings(deadline=None, max_examples=12)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 30), st.integers(0, 99))
def test_it_is_the_distance_of_two_whole_forward_passes(lengths: list[int], pairs: int, seed: int) -> None:
    model = representer(seed)
    vectors, sizes, replaced = case(lengths, pairs, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divergence, "_SLAB_ROWS", 1 + seed % 20)
        patch.setattr(divergence, "_BATCH_CELLS", 1 + seed % 50)
        patch.setattr(divergence, "_STATE_CELLS", 1 + seed % 30)
        found = divergences(model, vectors, sizes, replaced, torch.Generator().manual_seed(seed))
    np.testing.assert_allclose(found, by_whole_passes(model, vectors, sizes, replaced, seed), rtol=1e-4, atol=1e-5)


def test_the_best_attacker_is_right_as_often_as_it_says() -> None:
    model = representer()
    vectors, lengths, replaced = case([5, 6, 7], 6, 3)
    delta = divergences(model, vectors, lengths, replaced, NoNoise())
    scale, generator, draws = model.output_noise.scale.double().numpy(), np.random.default_rng(0), 40_000
    ends = np.cumsum(lengths)
    for token, row, found in zip(replaced.tokens.tolist(), replaced.ids.tolist(), delta.tolist(), strict=True):
        one = int(np.searchsorted(ends, token, side="right"))
        inside = slice(int(ends[one] - lengths[one]), int(ends[one]))
        sentence = torch.from_numpy(vectors[inside])
        other = sentence.clone()
        other[token - inside.start] = torch.from_numpy(replaced.rows[row])
        true, false = means(model, sentence), means(model, other)
        shown = true + scale * generator.standard_normal((draws, *true.shape))
        # The exact log likelihood ratio of two Gaussians, written out.
        ratio = ((((shown - false) / scale) ** 2) - (((shown - true) / scale) ** 2)).sum((1, 2)) / 2
        expected = 0.5 * (1 + math.erf(found / 2 / math.sqrt(2)))
        assert abs((ratio > 0).mean() - expected) < 6 * math.sqrt(0.25 / draws)


@pytest.mark.parametrize("narrow", [False, True])
def test_a_word_replaced_by_its_like_changes_exactly_nothing(narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: narrow)
    vectors, lengths, _ = case([4, 9, 1, 30], 0, 0)
    tokens = np.arange(44)
    found = divergences(
        representer(), vectors, lengths, Replacements(tokens, tokens, vectors), torch.Generator().manual_seed(0)
    )
    assert found.tolist() == [0.0] * 44


def test_the_precision_of_an_encoding_is_close_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, lengths, replaced = case([4, 9, 1, 30], 60, 0)
    model = representer()
    wide = divergences(model, vectors, lengths, replaced, NoNoise())
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: True)
    np.testing.assert_allclose(divergences(model, vectors, lengths, replaced, NoNoise()), wide, atol=0.1)


def test_twice_the_noise_is_half_the_divergence() -> None:
    vectors, lengths, replaced = case([4, 9, 1, 30], 60, 0)
    model = representer()
    before = divergences(model, vectors, lengths, replaced, NoNoise())
    model.output_noise.raw.copy_(torch.log(torch.expm1(2 * model.output_noise.scale - model.output_noise.floor)))
    np.testing.assert_allclose(divergences(model, vectors, lengths, replaced, NoNoise()), before / 2, rtol=1e-4)
