from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from shared.anonymity.surrogates import surrogate_bank
from shared.constructions.procedures.codes import CodedSurrogates
from shared.errors import ConfigurationError
from shared.privacy.attacks.membership import (
    MEMBERSHIP,
    MembershipSettings,
    ReleasedHead,
    _findings,
    balanced_halves,
    encode_notes,
    likelihood_ratios,
    membership,
    note_scores,
    reading,
)
from shared.privacy.policy import judge, load_policy
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger
from tests import constructions
from tests.shared.privacy.attacked import SCHEME, VECTORS, notes
from tests.shared.training.toy import random_sentences

SETTINGS = MembershipSettings(
    shadows=4,
    recipe=TaggingConfig(epochs=1, least_steps=30, learning_rate=4e-2),
    hidden=12,
    false_positive_rates=(0.1, 0.05),
)


def random_notes(count: int, seed: int) -> list[RaggedSentences]:
    """Notes whose tags are random, so that a head can only learn them by heart."""
    return [random_sentences([5, 3], seed=1000 * seed + index) for index in range(count)]


def kept(findings: list[Finding]) -> bool:
    """Whether our limit is kept."""
    limits = [one for one in load_policy().limits if one.attack == "membership of a note"]
    return all(verdict.passed for verdict in judge(limits, findings, full=True))


def test_a_head_that_learnt_by_heart_is_detected() -> None:
    pool = random_notes(40, seed=1)
    area, *rates = membership(pool, pool, 5, SETTINGS)
    assert area.value > 0.9
    assert not area.at_baseline
    assert area.trials == 40
    assert rates[0].value > 0.3
    assert not kept([area])


def test_a_head_that_never_saw_the_notes_is_at_chance() -> None:
    pool = random_notes(60, seed=2)
    elsewhere = RaggedSentences.concatenate(random_notes(30, seed=3))
    shape = BiLSTMCRFConfig(elsewhere.dim, 5, hidden=12)
    head = train_tagger(elsewhere, 5, SETTINGS.recipe, shape=shape)
    inside = np.random.default_rng(0).permutation(60) < 30
    area, tenth, _ = membership(pool, pool, 5, SETTINGS, ReleasedHead(head, inside))
    assert area.interval[0] <= 0.5 <= area.interval[1]
    assert tenth.at_baseline


def test_the_ratio_is_that_of_two_gaussians() -> None:
    rng = np.random.default_rng(0)
    heads, count = 4000, 3
    inside = balanced_halves(heads, count, rng)
    shadows = np.where(inside, 2.0, -1.0) + rng.standard_normal((heads, count))
    score = np.array([2.0, 0.5, -1.0])
    exact = -0.5 * (score - 2) ** 2 + 0.5 * (score + 1) ** 2
    np.testing.assert_allclose(likelihood_ratios(score, shadows, inside), exact, atol=0.25)


def test_every_note_is_in_half_of_the_heads() -> None:
    halves = balanced_halves(6, 50, np.random.default_rng(0))
    assert (halves.sum(0) == 3).all()
    assert len(np.unique(halves, axis=1).T) > 5


def test_the_score_is_the_log_odds_of_the_probability_a_token() -> None:
    notes_here = random_notes(3, seed=4)
    source = RaggedSentences.concatenate(notes_here)
    head = train_tagger(source, 5, TaggingConfig(epochs=1), shape=BiLSTMCRFConfig(source.dim, 5, hidden=4))
    found = note_scores(head, notes_here)
    for note, score in zip(notes_here, found.tolist(), strict=True):
        losses = [head.loss(b).sum().item() for b in note.batches(1)]
        chance = np.exp(-sum(losses) / note.tokens)
        assert score == pytest.approx(np.log(chance / (1 - chance)), abs=1e-3)


def test_the_true_positive_rate_counts_members_above_the_threshold() -> None:
    inside = np.array([True] * 4 + [False] * 1000)
    ratios = np.concatenate([[2000.0, 999.5, 989.5, -1.0], np.arange(1000.0)])
    _, percent, thousandth = _findings(ratios, inside, "a head", MembershipSettings())
    # At 1%, ten of 1,000 may lie above: the threshold is 989, and 989.5 is above it.
    assert percent.value == 3 / 4
    assert percent.baseline == pytest.approx(11 / 1001)
    assert thousandth.value == 2 / 4
    assert thousandth.baseline == pytest.approx(2 / 1001)


@pytest.mark.parametrize(("others", "shown"), [(99, []), (100, ["1.0%"]), (999, ["1.0%"]), (1000, ["1.0%", "0.1%"])])
def test_a_rate_that_so_few_notes_cannot_show_is_not_shown(others: int, shown: list[str]) -> None:
    inside = np.array([True] * 4 + [False] * others)
    rates = _findings(np.arange(4.0 + others), inside, "a head", MembershipSettings())[1:]
    assert len(rates) == 2
    for rate in rates:
        resolved = any(f"at {one} " in rate.measure for one in shown)
        assert bool(rate.trials) == resolved
        assert (rate.baseline is None) != resolved
        assert (f"not resolvable with {others} notes" in rate.measure) != resolved


def test_it_says_whose_head_was_attacked() -> None:
    pool = random_notes(6, seed=5)
    source = RaggedSentences.concatenate(pool)
    head = train_tagger(source, 5, TaggingConfig(epochs=1), shape=BiLSTMCRFConfig(source.dim, 5, hidden=12))
    hasty = replace(SETTINGS, recipe=TaggingConfig(epochs=1))
    own = membership(pool, pool, 5, hasty)
    given = membership(pool, pool, 5, hasty, ReleasedHead(head, np.arange(6) < 3))
    assert all("a head that the audit trained on half of the attacked notes" in one.knowledge for one in own)
    assert all("the released head" in one.knowledge for one in given)
    # One that is trained for less remembers less: nobody takes it for the provider's.
    assert all("in 1 passes, of a provider's 20" in one.knowledge for one in own)
    (settings,) = MEMBERSHIP.full
    assert f"{settings.recipe.epochs} passes" in next(
        one.why for one in load_policy().limits if one.attack == "membership of a note"
    )


def test_shadows_learn_as_the_attacked_head_did() -> None:
    pool = random_notes(6, seed=5)
    hasty = replace(SETTINGS, recipe=TaggingConfig(epochs=1))
    met: list[tuple[int, int]] = []

    def learn(stored: RaggedSentences, seed: int) -> Tagger:
        met.append((stored.sentences, seed))
        return train_tagger(stored, 5, hasty.recipe, shape=BiLSTMCRFConfig(stored.dim, 5, hidden=12))

    membership(pool, pool, 5, hasty, learn=learn)
    # The attacked head first, and no seed twice; of six notes of two sentences it has half, and each note is in half of the shadows.
    assert [seed for _, seed in met] == list(range(1 + hasty.shadows))
    assert met[0][0] == 6
    assert sum(sentences for sentences, _ in met[1:]) == hasty.shadows // 2 * 12


def test_notes_are_encoded_one_by_one() -> None:
    found = encode_notes(constructions.transparent(VECTORS, SCHEME), notes(5), seed=0)
    assert [note.sentences for note in found] == [2] * 5


@cache
def coded() -> CodedSurrogates:
    """The default construction, in a small vocabulary."""
    bank = surrogate_bank([tokenised_corpus(notes(30, 1), SCHEME)])
    return constructions.surrogates(constructions.clusters(VECTORS, 8), SCHEME, bank)


def test_an_overtrained_head_on_raw_notes_is_caught_and_one_on_shares_is_not() -> None:
    dice = np.random.default_rng(0)
    hasty, long = (
        replace(SETTINGS, recipe=replace(SETTINGS.recipe, least_steps=steps, learning_rate=2e-2)) for steps in (20, 60)
    )
    raw = encode_notes(constructions.transparent(VECTORS, SCHEME), notes(40, 2), 0)
    # What a head can only learn by heart, as labels are where annotators differ.
    odd = [replace(note, tags=np.where(dice.random(note.tokens) < 0.3, 1, note.tags).astype(np.uint8)) for note in raw]
    # Sixty steps on so few are more than enough to know them.
    assert not kept(membership(odd, odd, 5, long))
    pool, asked = (encode_notes(coded(), notes(40, 2), draw) for draw in (0, 1))
    assert kept(membership(pool, asked, 5, hasty, read=reading(coded())))


def test_shares_of_codes_are_read_anew_in_every_pass() -> None:
    stored = RaggedSentences.concatenate(encode_notes(coded(), notes(5), 0))
    assert stored.dim == 1
    read = reading(coded())
    assert read is not None
    generator = np.random.default_rng(0)
    first, second = read(stored, generator), read(stored, generator)
    assert first.dim == coded().dim
    assert np.array_equal(first.tags, second.tags)
    assert first.ids is not None
    assert second.ids is not None
    assert not np.array_equal(first.values[first.ids], second.values[second.ids])


def test_what_has_no_codes_is_read_as_it_is() -> None:
    assert reading(constructions.transparent(VECTORS, SCHEME)) is None


def test_pools_that_cannot_be_attacked_are_refused() -> None:
    pool = random_notes(6, seed=5)
    with pytest.raises(ConfigurationError):
        membership(pool, pool[:5], 5, SETTINGS)
    source = RaggedSentences.concatenate(pool)
    head = train_tagger(source, 5, TaggingConfig(epochs=1), shape=BiLSTMCRFConfig(source.dim, 5, hidden=4))
    with pytest.raises(ConfigurationError, match="inside and outside"):
        membership(pool, pool, 5, SETTINGS, ReleasedHead(head, np.ones(6, dtype=np.bool_)))
    with pytest.raises(ConfigurationError):
        MembershipSettings(shadows=3)
