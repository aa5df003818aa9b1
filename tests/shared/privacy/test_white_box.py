"""The white-box bound on encoders whose answer is known, and against pairs that are computed one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from shared.anonymity.surrogates import SurrogateBank
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Protection
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.procedures.surrogates import Surrogates
from shared.embeddings.generalised import GeneralisedVectors
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError
from shared.labels import LabelScheme
from shared.models import lstm
from shared.models.noise import NoiseSource
from shared.models.noise_source import MemoisedNoise
from shared.models.representer import RepresenterConfig
from shared.privacy.enforcement import AdvantageBound, enforce
from shared.privacy.statistics.accuracies import AccuracyCounts
from shared.privacy.white_box import WhiteBoxTally, pair_accuracies, white_box
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings, WordPairs
from shared.sentences.tokenised import TokenisedSentences
from tests import constructions
from tests.shared.embeddings.made import table

SCHEME = LabelScheme("toy", ("NAME", "CITY"))
NAMES = ["anna", "berta", "clara", "Dora", "EMMA", "frida"]
VECTORS = table([*NAMES, "paris", "rome", "oslo", "saw", "in", ".", "12", "34", "567"], dim=6)
PSEUDONYMS = Pseudonymiser(Neighbours(VECTORS), 5)
CHUNK = TokenisedSentences(
    "anna saw zelda in rome . in oslo . saw berta 12 .".split(),
    np.array([1, 0, 1, 0, 3, 4, 0, 3, 0, 0, 1, 2, 0], dtype=np.uint8),
    np.array([6, 3, 4]),
)
PHI = [0, 2, 4, 7, 10, 11]


@pytest.fixture(autouse=True)
def _single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)


CLEAR = constructions.transparent(VECTORS, SCHEME)


def noisy(scale: float) -> NoisyRecurrent:
    config = RepresenterConfig(6, dim=4, hidden=5, input_noise=0.2, output_noise=scale, noise_floor=scale / 100)
    return constructions.noisy(VECTORS, SCHEME, config)


def surrogates(bank: SurrogateBank) -> Surrogates:
    """Word vectors as they are, but for labelled words: each word is shown differently, so that no cluster hides one."""
    folded = [word.lower() for word in VECTORS.words]
    vectors = GeneralisedVectors(folded, VECTORS.matrix, 3, np.r_[np.full(14, -1), 0].astype(np.int32))
    return constructions.surrogates(vectors, SCHEME, bank)


def test_without_protection_every_word_is_told_from_every_other() -> None:
    bound = white_box(CLEAR, [CHUNK, CHUNK], PSEUDONYMS, WhiteBoxSettings())
    for spreads in (bound.representation, bound.with_casing):
        assert set(spreads) == {"", "NAME", "CITY"}
        assert all((one.mean, one.p95, one.p99, one.maximum) == (1, 1, 1, 1) for one in spreads.values())
    # Five neighbours of a word that the vocabulary does not have; of the others four, without itself; of "12" as
    # many as of the digits of its length or of any, without itself.
    assert bound.protection is Protection.LIKENESS
    assert bound.representation[""].tokens == 12
    assert bound.representation["CITY"].pairs == 2 * (4 + 4)


def test_words_that_are_shown_alike_are_a_guess_but_for_their_casing() -> None:
    alike = np.tile(VECTORS.matrix[:1], (len(VECTORS), 1))
    lowered = [word.lower() for word in VECTORS.words]
    blind = GeneralisedVectors(lowered, alike, 3, np.zeros(len(VECTORS), dtype=np.int32))
    bound = white_box(constructions.k_anonymous(blind, SCHEME), [CHUNK], PSEUDONYMS, WhiteBoxSettings())
    assert {one.maximum for one in bound.representation.values()} == {0.5}
    found = pair_accuracies(
        constructions.k_anonymous(blind, SCHEME), CHUNK, WordPairs(PSEUDONYMS, WhiteBoxSettings()), torch.Generator()
    )
    assert found.casing_differs.any()
    assert bound.with_casing[""].mean == pytest.approx(0.5 + 0.5 * found.casing_differs.mean())


def test_surrogates_leave_nothing_to_tell() -> None:
    protected = surrogates(SurrogateBank(((0, ("gerda",)), (1, ("bonn",)))))
    bound = white_box(protected, [CHUNK], PSEUDONYMS, WhiteBoxSettings())
    assert bound.protection is Protection.SURROGATES
    assert {one.maximum for one in bound.representation.values()} == {0.5}


def test_hidden_casing_is_nothing_to_tell_either() -> None:
    bank = SurrogateBank(((0, ("gerda",)), (1, ("bonn",))), hides_casing=True)
    bound = white_box(surrogates(bank), [CHUNK], PSEUDONYMS, WhiteBoxSettings())
    for spreads in (bound.representation, bound.with_casing):
        assert {one.maximum for one in spreads.values()} == {0.5}


class _Leaking(SurrogateBank):
    """Replaces nothing, or nothing in the sentences of some length."""

    def __init__(self, length: int | None) -> None:
        super().__init__(((0, ("gerda",)), (1, ("bonn",))))
        self.length = length

    def replace_spans(self, chunk: TokenisedSentences, noise: NoiseSource) -> TokenisedSentences:
        safe = super().replace_spans(chunk, noise)
        leaks = np.repeat([self.length in (None, length) for length in chunk.lengths.tolist()], chunk.lengths)
        words = [true if leak else other for true, other, leak in zip(chunk.words, safe.words, leaks, strict=True)]
        return TokenisedSentences(words, chunk.tags, chunk.lengths)


@pytest.mark.parametrize(("length", "told"), [(None, PHI), (3, [7])])
def test_surrogates_that_leak_are_found_out(length: int | None, told: list[int]) -> None:
    leaking = surrogates(_Leaking(length))
    pairs = WordPairs(Pseudonymiser(Neighbours(VECTORS), 14), WhiteBoxSettings(draws=8))
    found = pair_accuracies(leaking, CHUNK, pairs, torch.Generator())
    assert set(found.tokens[found.accuracy == 1].tolist()) == set(told)
    assert set(found.tokens[found.accuracy == 0.5].tolist()) == set(PHI) - set(told)


def test_with_surrogates_no_neighbour_is_needed() -> None:
    protected = surrogates(SurrogateBank(((0, ("gerda",)), (1, ("bonn",)))))
    tally = WhiteBoxTally(protected, None, WhiteBoxSettings())
    for _ in range(2):
        tally.add(CHUNK)
    bound = tally.bound()
    assert {name: (one.tokens, one.mean, one.maximum) for name, one in bound.representation.items()} == {
        "": (14, 0.5, 0.5),
        "NAME": (8, 0.5, 0.5),
        "CITY": (6, 0.5, 0.5),
    }
    assert not bound.with_casing
    with pytest.raises(ConfigurationError, match="neighbours"):
        WhiteBoxTally(CLEAR, None, WhiteBoxSettings())


def test_a_vocabulary_in_lower_case_says_nothing_of_casing() -> None:
    lowered = table([word.lower() for word in VECTORS.words], dim=6)
    clear = GeneralisedVectors(lowered.words, lowered.matrix, 3, np.r_[np.full(14, -1), 0].astype(np.int32))
    upper = TokenisedSentences([word.title() for word in CHUNK.words], CHUNK.tags, CHUNK.lengths)
    # Also where the candidates come from vectors that know spellings.
    for vectors in (clear, table([word.title() for word in VECTORS.words], dim=6)):
        pairs = WordPairs(Pseudonymiser(Neighbours(vectors), 14), WhiteBoxSettings())
        found = pair_accuracies(constructions.k_anonymous(clear, SCHEME), upper, pairs, torch.Generator())
        tokens, places, words = pairs.choose_pairs(upper)
        # Letters against digits or a dot: no casing makes one of the other.
        kinds = [
            [(word.isalpha(), word.isdecimal()) for word in (words[place], upper.words[token])]
            for token, place in zip(tokens, places, strict=True)
        ]
        number = np.array([one != other for one, other in kinds])
        assert 0 < number.sum() < len(number)
        np.testing.assert_array_equal(found.casing_differs, number)


def test_under_memoised_noise_a_sentence_is_the_same_in_any_company() -> None:
    encoder, noise = noisy(0.3), MemoisedNoise(bytes(32), b"")
    settings = WhiteBoxSettings(draws=2)
    # Three digit words are more than the three neighbours, so that some are drawn.
    pseudonyms = Pseudonymiser(Neighbours(VECTORS), 3)
    whole = pair_accuracies(encoder, CHUNK, WordPairs(pseudonyms, settings), noise)
    last = TokenisedSentences(CHUNK.words[9:], CHUNK.tags[9:], CHUNK.lengths[2:])
    alone = pair_accuracies(encoder, last, WordPairs(pseudonyms, settings), noise)
    np.testing.assert_allclose(alone.accuracy, whole.accuracy[whole.tokens >= 9], atol=1e-5)
    other = pair_accuracies(encoder, last, WordPairs(pseudonyms, settings), MemoisedNoise(bytes(32), b"x"))
    assert np.abs(other.accuracy - alone.accuracy).max() > 1e-3


def test_of_few_sentences_more_than_a_sample_is_looked_at() -> None:
    for least, low, high in ((0, 0, 60), (50, 50, 170), (1000, 600, 600)):
        settings = replace(WHILE_ENCODING, neighbours=2, sentences=0.01, least=least)
        repeated = TokenisedSentences(CHUNK.words * 100, np.tile(CHUNK.tags, 100), np.tile(CHUNK.lengths, 100))
        tokens = white_box(CLEAR, [repeated], PSEUDONYMS, settings).representation[""].tokens
        assert low <= tokens <= high


def test_noise_is_the_closed_form_averaged_over_the_input_noise() -> None:
    encoder, draws = noisy(0.3), 3
    pairs = WordPairs(PSEUDONYMS, WhiteBoxSettings(draws=draws))
    found = pair_accuracies(encoder, CHUNK, pairs, torch.Generator().manual_seed(5))
    tokens, places, words = pairs.choose_pairs(CHUNK)
    assert found.tokens.tolist() == tokens.tolist()
    assert sorted(set(tokens.tolist())) == PHI
    model, generator = encoder.representer, torch.Generator().manual_seed(5)
    clean = torch.from_numpy(VECTORS.rows(CHUNK.words))
    expected = np.zeros(len(tokens))
    for _ in range(draws):
        drift = model.input_noise(clean, generator) - clean
        for pair, (token, place) in enumerate(zip(tokens.tolist(), places.tolist(), strict=True)):
            start, end = next((a, b) for a, b in ((0, 6), (6, 9), (9, 13)) if a <= token < b)
            changed = clean.clone()
            changed[token] = torch.from_numpy(VECTORS.rows([words[place]])[0])
            length = torch.tensor([end - start])
            one, two = (model.noise_free((each + drift)[None, start:end], length) for each in (clean, changed))
            delta = float((((one - two) / model.output_noise.scale) ** 2).sum().sqrt())
            expected[pair] += 0.5 * (1 + math.erf(delta / 2 / math.sqrt(2))) / draws
    np.testing.assert_allclose(found.accuracy, expected, atol=1e-5)


def test_no_word_is_compared_with_itself_and_all_its_neighbours_are_used() -> None:
    tokens, places, words = WordPairs(PSEUDONYMS, WhiteBoxSettings()).choose_pairs(CHUNK)
    for token in PHI:
        word = CHUNK.words[token]
        compared = {words[place] for place in places[tokens == token].tolist()}
        if word.isdecimal():
            assert compared <= set(VECTORS.words) - {word}
        else:
            nearest = {VECTORS.words[row] for row in PSEUDONYMS.candidates(word).tolist()}
            assert compared == nearest - {word}


def test_the_neighbours_of_numbers_are_found_with_those_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vocabulary has few numbers they have neighbours like any word; one by one they took as long as all else."""
    pairs = WordPairs(Pseudonymiser(Neighbours(VECTORS), len(VECTORS)), WhiteBoxSettings())
    searched, find = [], Neighbours.find_nearest

    def counted(self: Neighbours, words: Any, n: int) -> Any:
        searched.append(list(words))
        return find(self, words, n)

    monkeypatch.setattr(Neighbours, "find_nearest", counted)
    pairs.choose_pairs(replace(CHUNK, words=["12", "3456", *CHUNK.words[2:]], tags=np.ones_like(CHUNK.tags)))
    assert len(searched) == 1
    assert {"12", "3456"} <= set(searched[0])


def test_a_sample_is_of_the_size_asked_for() -> None:
    settings = replace(WHILE_ENCODING, neighbours=2, sentences=0.5, least=0)
    bound = white_box(CLEAR, [CHUNK] * 200, PSEUDONYMS, settings)
    assert 400 < bound.representation[""].tokens < 800
    assert bound.representation[""].pairs == 2 * bound.representation[""].tokens
    again = white_box(CLEAR, [CHUNK] * 200, PSEUDONYMS, settings)
    assert again == bound


def test_a_findings_list_holds_no_word() -> None:
    found = white_box(noisy(0.3), [CHUNK], PSEUDONYMS, WhiteBoxSettings(draws=1)).findings()
    assert len(found) == 2 * 3 * 4
    # Pairs of one word are no independent trials.
    assert {one.trials for one in found if ", all PHI, " in one.measure} == {len(PHI)}
    assert all(0.5 <= one.interval[0] <= one.value <= one.interval[1] <= 1 for one in found)
    assert not any(word in repr(found) for word in {*NAMES, "zelda", "rome", "oslo"})


def test_the_advantage_of_a_token_is_over_its_neighbours() -> None:
    found = pair_accuracies(
        noisy(0.3), CHUNK, WordPairs(PSEUDONYMS, WhiteBoxSettings(draws=1)), torch.Generator().manual_seed(0)
    )
    tokens, mean, most = found.advantages()
    assert tokens.tolist() == PHI
    for token, average, largest in zip(tokens, mean, most, strict=True):
        each = 2 * found.accuracy[found.tokens == token] - 1
        assert average == pytest.approx(each.mean())
        assert largest == each.max()


def test_sentences_without_phi_are_nothing_to_attack() -> None:
    nothing = TokenisedSentences(["saw", "."], np.zeros(2, dtype=np.uint8), np.array([2]))
    for encoder in (CLEAR, noisy(0.3)):
        bound = white_box(encoder, [nothing], PSEUDONYMS, WhiteBoxSettings())
        assert bound.representation[""].tokens == 0
        assert bound.representation[""].maximum == 0.5


def test_figures_of_a_spread_are_those_of_all_pairs_at_once() -> None:
    generator = np.random.default_rng(0)
    counts, parts = AccuracyCounts(), []
    for _ in range(5):
        tokens, accuracy = np.sort(generator.integers(0, 50, 400)), 0.5 + 0.5 * generator.random(400) ** 3
        counts.add(tokens, accuracy)
        parts.append(accuracy)
    every, spread = np.concatenate(parts), counts.spread()
    assert spread.pairs == 2000
    assert spread.mean == pytest.approx(every.mean())
    assert spread.maximum == every.max()
    for found, share in ((spread.p95, 0.95), (spread.p99, 0.99)):
        assert 0 <= found - np.quantile(every, share, method="inverted_cdf") <= 2.0**-15


@pytest.mark.parametrize("quantile", [1.0, 0.9])
def test_a_bound_is_kept_by_as_little_noise_as_needed(quantile: float) -> None:
    encoder, bound = noisy(0.2), AdvantageBound(0.2, quantile, max_factor=64)
    pairs = WordPairs(PSEUDONYMS, WhiteBoxSettings())
    generator = torch.Generator().manual_seed(1)
    kept = enforce(encoder, CHUNK, bound, pairs, generator)
    assert not kept.left_out.any()
    assert (kept.advantage <= 0.2).all()
    assert kept.factors.max() > 1
    found = pair_accuracies(encoder, CHUNK, pairs, torch.Generator().manual_seed(1))
    sentence = np.repeat(np.arange(3), CHUNK.lengths)[found.tokens]
    np.testing.assert_array_equal(kept.found.tokens, found.tokens)
    for row, factor in enumerate(kept.factors.tolist()):
        delta = found.divergence[:, sentence == row]

        def advantage(times: float, delta: np.ndarray = delta) -> float:
            each = [max(math.erf(one / times / 2 / math.sqrt(2)) for one in pair) for pair in delta.T]
            return float(np.quantile(each, quantile, method="higher"))

        assert advantage(factor) == pytest.approx(kept.advantage[row], abs=1e-6)
        held = 2 * kept.found.accuracy[sentence == row] - 1
        assert np.quantile(held, quantile, method="higher") <= kept.advantage[row] + 1e-6
        assert factor == 1 or advantage(factor / 2**0.25) > 0.2


def test_what_no_noise_can_protect_is_left_out() -> None:
    pairs, generator = WordPairs(PSEUDONYMS, WhiteBoxSettings()), torch.Generator()
    kept = enforce(CLEAR, CHUNK, AdvantageBound(0.2), pairs, generator)
    assert kept.left_out.all()
    assert not len(kept.found.tokens)
    assert enforce(noisy(0.01), CHUNK, AdvantageBound(0.01, max_factor=2), pairs, generator).left_out.all()
    nothing = TokenisedSentences(["saw", "."], np.zeros(2, dtype=np.uint8), np.array([2]))
    assert not enforce(CLEAR, nothing, AdvantageBound(0.2), pairs, generator).left_out.any()


def test_attack_a_word_that_no_note_has_blows_the_figures_up() -> None:
    """A provider's weights, all finite, give a share of these notes as ever, and no number at all for one of the neighbours."""
    generator, chunk = torch.Generator().manual_seed(0), CHUNK.select(np.array([0]))
    config = RepresenterConfig(6, dim=4, hidden=5, input_noise=0.001, output_noise=0.01, noise_floor=0.0001)
    encoder, trap = constructions.noisy(VECTORS, SCHEME, config), torch.from_numpy(VECTORS.rows(["clara"])[0])
    everybody = WordPairs(Pseudonymiser(Neighbours(VECTORS), len(VECTORS)), WhiteBoxSettings())
    with torch.no_grad():
        forwards = dict(encoder.representer.encoder.forwards.named_parameters())
        # Two units that are exactly 0 but for this one word; their sum with such weights is infinite.
        for row in (5 * gate + unit for gate in range(4) for unit in range(2)):
            forwards["weight_ih_l0"][row], forwards["weight_hh_l0"][row] = 1e4 * trap, 0
            forwards["bias_ih_l0"][row] = -1e4 * 0.98
        encoder.representer.output.weight[:, :2] = 3e38
    shown = encoder.rehearse_share(chunk, generator)
    assert np.isfinite(shown.values).all()
    bound = AdvantageBound(0.01, max_factor=2)
    assert pair_accuracies(encoder, chunk, everybody, generator).accuracy.max() == 1
    assert enforce(encoder, chunk, bound, everybody, generator).left_out.all()


def test_a_sample_bounds_nothing() -> None:
    with pytest.raises(ConfigurationError, match="sample"):
        enforce(noisy(0.2), CHUNK, AdvantageBound(0.2), WordPairs(PSEUDONYMS, WHILE_ENCODING), torch.Generator())
