"""Private noise: normal, independent, never twice the same. Thresholds are such that a right source fails once in 10^9 runs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from shared.models import noise_source
from shared.models.noise_source import PrivateNoise


def test_the_numbers_are_standard_normal() -> None:
    numbers = PrivateNoise().standard_normal((400_001,)).astype(np.float64)
    assert stats.kstest(numbers, "norm").pvalue > 1e-9
    # Beyond 4 standard deviations, where a poor transform would fail first: a binomial count.
    far = int((np.abs(numbers) > 4).sum())
    assert stats.binomtest(far, len(numbers), 2 * stats.norm.sf(4)).pvalue > 1e-9


def test_the_numbers_of_a_pair_and_of_neighbouring_pieces_are_independent() -> None:
    numbers = PrivateNoise().standard_normal((8, noise_source._PIECE)).astype(np.float64)
    half = noise_source._PIECE // 2
    bound = 6 / np.sqrt(numbers.size / 2)
    for first, second in ((numbers[:, :half], numbers[:, half:]), (numbers[:-1], numbers[1:])):
        assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < bound * 1.5
        assert abs(np.corrcoef(first.ravel() ** 2, second.ravel() ** 2)[0, 1]) < bound * 1.5


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (2, noise_source._PIECE + 1), ()])
def test_any_shape_is_filled_with_finite_numbers(shape: tuple[int, ...]) -> None:
    numbers = PrivateNoise().standard_normal(shape)
    assert numbers.shape == shape
    assert numbers.dtype == np.float32
    assert np.isfinite(numbers).all()


def test_no_two_draws_and_no_two_sources_are_alike() -> None:
    source = PrivateNoise()
    draws = [source.standard_normal((8,)), source.standard_normal((8,)), PrivateNoise().standard_normal((8,))]
    assert len({draw.tobytes() for draw in draws}) == 3


def test_every_bit_of_the_key_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # A torch.Generator takes the lowest 32 bits of its seed: noise that can be found by trying all of them.
    streams = set()
    for bit in (None, 0, 31, 32, 63, 64, 127, 128, 255):
        key = (0 if bit is None else 1 << bit).to_bytes(32, "big")
        monkeypatch.setattr(noise_source.secrets, "token_bytes", lambda size, key=key: key)
        streams.add(PrivateNoise().standard_normal((4,)).tobytes())
    assert len(streams) == 9


def test_a_source_is_never_stored() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(PrivateNoise())
