"""Private noise: normal, independent, never twice the same. Thresholds are such that a right source fails once in 10^9 runs."""

from __future__ import annotations

import pickle
import secrets

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shared.errors import ConfigurationError
from shared.models import noise_source
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.encoding import embed_sentences, noise_for, represent
from shared.sentences.tokenised import TokenisedSentences
from tests.shared.embeddings.made import table


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


def test_the_tails_do_not_end_where_32_bits_do() -> None:
    # Of numbers that begin with 32 bits of 0 the squared distance exceeds 64 ln 2 by an exponential number of mean 2.
    chance = np.random.default_rng(0)
    angles = chance.integers(0, 1 << 32, (40, 500), dtype=np.uint32)
    out = np.empty((40, 1000), dtype=np.float32)
    noise_source._normal(
        np.zeros_like(angles), angles, out, lambda _, rows, __: chance.integers(0, 1 << 32, len(rows), dtype=np.uint32)
    )
    squared = out[:, :500].astype(np.float64) ** 2 + out[:, 500:].astype(np.float64) ** 2
    assert stats.kstest(squared.ravel() - 64 * np.log(2), "expon", args=(0, 2)).pvalue > 1e-9
    # There is no end: as many bits of 0 as it takes.
    zeros = np.zeros((1, 1), dtype=np.uint32)
    far = np.empty((1, 2), dtype=np.float32)
    noise_source._normal(
        zeros, zeros, far, lambda which, rows, __: np.array([0 if which < 700 else 9], dtype=np.uint32)
    )
    assert far[0, 0] > 170
    assert np.isfinite(far).all()


@pytest.mark.parametrize("tail", [1 << 12, 1 << 28])
def test_numbers_of_the_tail_join_the_others_without_a_seam(tail: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_source, "_TAIL", tail)
    for numbers in (
        PrivateNoise().standard_normal((300_000,)),
        MemoisedNoise(SECRET, b"r")
        .for_sentences([f"w{n}" for n in range(3000)], np.full(750, 4))
        .standard_normal((3000, 100)),
    ):
        assert stats.kstest(numbers.ravel().astype(np.float64), "norm").pvalue > 1e-9


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
        monkeypatch.setattr(secrets, "token_bytes", lambda size, key=key: key)
        streams.add(PrivateNoise().standard_normal((4,)).tobytes())
    assert len(streams) == 9


def test_a_source_is_never_stored() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(PrivateNoise())


def test_uniform_numbers_are_uniform_and_below_one() -> None:
    numbers = PrivateNoise().random((300, 700))
    assert numbers.dtype == np.float64
    assert numbers.shape == (300, 700)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-9
    assert len(np.unique(numbers)) > 0.999 * numbers.size


SECRET = bytes(range(32))
WORDS = "Ana came on Monday . Ana came on Monday . She left Ana".split()
LENGTHS = np.array([5, 5, 2, 1])


def drawn(words: list[str], lengths: list[int], secret: bytes = SECRET, context: bytes = b"release") -> list[bytes]:
    """The noise of each sentence, drawn twice in different shapes, and uniform numbers behind it."""
    source = MemoisedNoise(secret, context).for_sentences(words, np.array(lengths))
    parts: list[np.ndarray] = [source.standard_normal((sum(lengths), 7)), source.standard_normal((sum(lengths), 3, 2))]
    parts.append(source.random((sum(lengths), 3)))
    numbers = np.concatenate([part.reshape(sum(lengths), -1) for part in parts], axis=1)
    return [sentence.tobytes() for sentence in np.split(numbers, np.cumsum(lengths)[:-1])]


class TestMemoisedNoise:
    def test_a_sentence_gets_the_same_noise_in_whatever_company(self) -> None:
        together = drawn(WORDS, [5, 5, 2, 1])
        assert together[0] == together[1]
        assert drawn(WORDS[5:], [5, 2, 1]) == together[1:]
        assert drawn(["She", "left"], [2]) == [together[2]]

    @pytest.mark.parametrize(
        ("words", "secret", "context"),
        [
            (["She", "lefs"], SECRET, b"release"),
            (["left", "She"], SECRET, b"release"),
            (["She\x00", "left"], SECRET, b"release"),
            (['She", "left', "x"], SECRET, b"release"),
            (["She", "left"], SECRET[:-1] + b"\x20", b"release"),
            (["She", "left"], SECRET, b"releasf"),
            (["She", "left"], SECRET, b""),
        ],
    )
    def test_another_sentence_key_or_release_gets_independent_noise(
        self, words: list[str], secret: bytes, context: bytes
    ) -> None:
        first = MemoisedNoise(SECRET, b"release").for_sentences(["She", "left"], np.array([2]))
        second = MemoisedNoise(secret, context).for_sentences(words, np.array([2]))
        one, two = (source.standard_normal((2, 20_000)).ravel() for source in (first, second))
        assert abs(np.corrcoef(one, two)[0, 1]) < 7 / np.sqrt(len(one))
        assert abs(np.corrcoef(one**2, two**2)[0, 1]) < 7 / np.sqrt(len(one))

    def test_no_two_lists_of_words_are_the_same_sentence(self) -> None:
        tricky = [["a b"], ["a", "b"], ['a", "b'], ["a\x00b"], ["a,b"], ["ab"], ["ab", ""], ["", "ab"]]
        nonces = {MemoisedNoise(SECRET, b"")._nonce(words) for words in tricky}
        assert len(nonces) == len(tricky)

    def test_the_numbers_are_standard_normal(self) -> None:
        words = [f"word{number}" for number in range(4000)]
        source = MemoisedNoise(SECRET, b"r").for_sentences(words, np.full(1000, 4))
        numbers = source.standard_normal((4000, 101)).astype(np.float64)
        assert stats.kstest(numbers.ravel(), "norm").pvalue > 1e-9
        far = int((np.abs(numbers) > 4).sum())
        assert stats.binomtest(far, numbers.size, 2 * stats.norm.sf(4)).pvalue > 1e-9
        for first, second in ((numbers[:-1], numbers[1:]), (numbers[:, :50], numbers[:, 50:100])):
            assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 7 / np.sqrt(first.size)
        assert stats.kstest(source.random((4000, 50)).ravel(), "uniform").pvalue > 1e-9

    def test_the_tail_is_the_same_in_whatever_company(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Every number takes the way of the tail, and four out of five have another 32 bits of 0.
        monkeypatch.setattr(noise_source, "_TAIL", 1 << 32)
        drawn = noise_source._numbers
        monkeypatch.setattr(noise_source, "_numbers", lambda blocks: drawn(blocks) * (drawn(blocks) % 5 == 0))
        noise = MemoisedNoise(SECRET, b"r")
        whole = noise.for_sentences(WORDS, LENGTHS).standard_normal((13, 6))
        parts = noise.for_sentences(WORDS, LENGTHS)
        starts = np.cumsum(LENGTHS) - LENGTHS
        for row in (2, 0, 3, 1):
            tokens = np.arange(starts[row], starts[row] + LENGTHS[row])
            np.testing.assert_array_equal(
                parts.select_sentences(np.array([row])).standard_normal((len(tokens), 6)), whole[tokens]
            )
        assert np.abs(whole).max() > 10

    @given(st.permutations(range(4)), st.integers(1, 4), st.integers(1, 40))
    def test_batches_of_any_sentences_draw_what_the_whole_draws(self, order: list[int], cut: int, dim: int) -> None:
        noise = MemoisedNoise(SECRET, b"r")
        whole = noise.for_sentences(WORDS, LENGTHS)
        first, second = whole.standard_normal((13, dim)), whole.random((13,))
        parts = noise.for_sentences(WORDS, LENGTHS)
        starts = np.cumsum(LENGTHS) - LENGTHS
        for rows in (np.array(order[:cut]), np.array(order[cut:], dtype=np.int64)):
            tokens = np.concatenate(
                [np.arange(0), *(np.arange(starts[row], starts[row] + LENGTHS[row]) for row in rows)]
            )
            source = parts.select_sentences(rows)
            np.testing.assert_array_equal(source.standard_normal((len(tokens), dim)), first[tokens])
            np.testing.assert_array_equal(source.random((len(tokens),)), second[tokens])

    def test_raised_noise_is_the_noise_below_and_independent_noise_on_top(self) -> None:
        # One draw at two scales could be solved for, and two draws averaged: what is added must tell nothing of what is
        # below, so that both shares together tell what the one with less noise tells alone.
        words, lengths = [f"word{number}" for number in range(900)], np.full(300, 3)
        factors = [2.0 ** (rung / 4) for rung in (0, 1, 4, 9, 16)]
        draws = []
        for factor in factors:
            source = MemoisedNoise(SECRET, b"r").for_sentences(words, lengths)
            source.standard_normal((900, 7))
            draws.append(source.raised_normal((900, 50), np.full(900, factor)).astype(np.float64))
        source = MemoisedNoise(SECRET, b"r").for_sentences(words, lengths)
        source.standard_normal((900, 7))
        np.testing.assert_array_equal(draws[0], source.standard_normal((900, 50)))
        for lower, factor, upper, above in zip(draws, factors, draws[1:], factors[1:], strict=False):
            more = upper - lower
            assert stats.kstest(upper.ravel() / above, "norm").pvalue > 1e-9
            assert stats.kstest(more.ravel() / np.sqrt(above**2 - factor**2), "norm").pvalue > 1e-9
            for seen in (more, more**2):
                assert abs(np.corrcoef(lower.ravel(), seen.ravel())[0, 1]) < 7 / np.sqrt(more.size)

    @given(st.permutations(range(4)), st.lists(st.integers(0, 16), min_size=4, max_size=4), st.integers(1, 4))
    def test_raised_noise_is_the_same_in_whatever_company(self, order: list[int], rungs: list[int], cut: int) -> None:
        factors = np.repeat(2.0 ** (np.array(rungs) / 4), LENGTHS).astype(np.float32)
        noise, starts = MemoisedNoise(SECRET, b"r"), np.cumsum(LENGTHS) - LENGTHS
        whole = noise.for_sentences(WORDS, LENGTHS).raised_normal((13, 5), factors)
        parts = noise.for_sentences(WORDS, LENGTHS)
        for rows in (np.array(order[:cut]), np.array(order[cut:], dtype=np.int64)):
            tokens = np.concatenate(
                [np.arange(0), *(np.arange(starts[row], starts[row] + LENGTHS[row]) for row in rows)]
            )
            drawn_here = parts.select_sentences(rows).raised_normal((len(tokens), 5), factors[tokens])
            np.testing.assert_array_equal(drawn_here, whole[tokens])

    @pytest.mark.parametrize("wrong", [0.5, 1.1, 2.0])
    def test_a_factor_off_the_ladder_or_of_half_a_sentence_is_refused(self, wrong: float) -> None:
        factors = np.ones(13)
        factors[6] = wrong
        with pytest.raises(ConfigurationError, match="one factor"):
            MemoisedNoise(SECRET, b"r").for_sentences(WORDS, LENGTHS).raised_normal((13, 5), factors)

    def test_long_sentences_are_drawn_in_pieces(self) -> None:
        source = MemoisedNoise(SECRET, b"r").for_sentences(["x"] * 900, np.array([900]))
        numbers = source.standard_normal((900, 100))
        assert len(np.unique(numbers, axis=0)) == 900
        assert np.isfinite(numbers).all()

    def test_what_is_drawn_once_is_not_drawn_again_by_the_same_source(self) -> None:
        source = MemoisedNoise(SECRET, b"r").for_sentences(WORDS, LENGTHS)
        rows = np.arange(4)
        draws = [source.standard_normal((13, 8)), source.select_sentences(rows).standard_normal((13, 8))]
        assert not np.isin(draws[0], draws[1]).any()

    def test_a_shape_of_other_tokens_is_refused(self) -> None:
        source = MemoisedNoise(SECRET, b"r").for_sentences(WORDS, LENGTHS)
        for shape in ((12, 3), (4, 5, 3), ()):
            with pytest.raises(ConfigurationError, match="13 tokens"):
                source.standard_normal(shape)

    @pytest.mark.parametrize("length", [0, 16, 31, 33])
    def test_a_secret_of_another_length_is_refused(self, length: int) -> None:
        with pytest.raises(ConfigurationError) as caught:
            MemoisedNoise(b"s" * length, b"")
        assert "ss" not in str(caught.value)

    def test_no_source_is_stored_or_shows_its_secret(self) -> None:
        noise = MemoisedNoise(SECRET, b"r")
        for source in (noise, noise.for_sentences(WORDS, LENGTHS)):
            with pytest.raises(TypeError):
                pickle.dumps(source)
            assert repr(source) in ("MemoisedNoise()", "SentenceNoise(4 sentences)")

    def test_a_representation_is_the_same_again_in_another_share(self) -> None:
        torch.manual_seed(0)
        model = Representer(RepresenterConfig(8, dim=5, hidden=4)).eval().requires_grad_(False)
        noise, vectors = MemoisedNoise(SECRET, b"r"), table(sorted(set(WORDS)))

        def shown(words: list[str], lengths: list[int]) -> np.ndarray:
            chunk = TokenisedSentences(words, np.zeros(len(words), dtype=np.uint8), np.array(lengths))
            return represent(embed_sentences(chunk, vectors), model, noise_for(chunk, noise)).values.astype(np.float32)

        whole, alone = shown(WORDS, [5, 5, 2, 1]), shown(["She", "left"], [2])
        np.testing.assert_allclose(whole[10:12], alone, atol=0.01)
        assert np.abs(whole[:5] - whole[5:10]).max() < 0.01
        fresh = represent(
            embed_sentences(TokenisedSentences(WORDS, np.zeros(13, dtype=np.uint8), LENGTHS), vectors),
            model,
            PrivateNoise(),
        )
        assert np.abs(whole - fresh.values).max() > 0.05
