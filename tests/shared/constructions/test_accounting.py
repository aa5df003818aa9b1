"""Guarantees against published values and against an integral of the hockey-stick divergence."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from shared.constructions.accounting import (
    Accounting,
    Anonymity,
    GaussianGuarantee,
    Reach,
    anonymity_accounting,
    gaussian_epsilon,
    independence_accounting,
    noise_accounting,
)
from shared.constructions.procedures.k_anonymous_invariance import KAnonymousRecurrent
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.embeddings.generalised import fold_casing, generalise
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.models.representer import Representer, RepresenterConfig
from shared.text.tokens import tokenise
from tests.constructions import k_anonymous
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 4.4, 20.0, 300.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_epsilon_is_where_the_hockey_stick_divergence_meets_delta(mu: float, delta: float) -> None:
    with mpmath.workdps(30):
        epsilon = mpmath.mpf(gaussian_epsilon(mu, delta))
        # Log likelihood ratio l of N(mu, 1) against N(0, 1) at x: l = mu x - mu^2 / 2. Integrate max(0, p - e^eps q).
        start = epsilon / mu + mpmath.mpf(mu) / 2
        stick = mpmath.quad(
            lambda x: mpmath.npdf(x - mu) - mpmath.exp(epsilon) * mpmath.npdf(x),
            mpmath.linspace(start, start + 30, 31),
        )
        assert abs(float(stick) / delta - 1) < 1e-4


def test_published_values() -> None:
    # Dong, Roth and Su 2022: mu = 1 is (epsilon, delta) with delta = Phi(-eps + 1/2) - e^eps Phi(-eps - 1/2): 0.1269 at eps 1.
    assert gaussian_epsilon(1.0, 0.126936737507) == pytest.approx(1.0, abs=1e-6)
    # Phi(1/2): the accuracy of the best attacker at mu = 1.
    assert GaussianGuarantee("", 1, 1.0).accuracy == pytest.approx(0.6914624612740131)
    # rho-zCDP gives (rho + 2 sqrt(rho log(1/delta)), delta): looser than the exact epsilon (Bun and Steinke 2016, 1.3).
    for mu in (0.1, 1.0, 10.0, 100.0):
        one = GaussianGuarantee("", 1, mu)
        assert one.rho == mu**2 / 2
        assert 0 < one.epsilon <= one.rho + 2 * math.sqrt(one.rho * math.log(1e6))


def test_a_word_moves_its_sentence_in_a_recurrent_encoder_and_itself_in_a_token_local_one() -> None:
    recurrent = noise_accounting(0.5, Reach.SENTENCE, sentence_tokens=16, note_tokens=400).guarantees
    local = noise_accounting(0.5, Reach.TOKEN, sentence_tokens=16, note_tokens=400).guarantees
    assert [one.mu for one in recurrent] == [4, 16, 16, 80]
    assert [one.mu for one in local] == [4, 4, 16, 80]
    assert [one.tokens for one in recurrent] == [1, 16, 16, 400]
    assert recurrent[3].compose(4).mu == 160
    assert recurrent[3].epsilon > 3200


def test_however_large_it_is_shown() -> None:
    weakest = noise_accounting(0.01, Reach.SENTENCE, sentence_tokens=400, note_tokens=2000).guarantees[-1]
    assert math.isfinite(weakest.epsilon)
    assert weakest.epsilon > weakest.rho > 1e7


def test_without_noise_there_is_no_epsilon() -> None:
    for one in (anonymity_accounting(Anonymity(1000, 7)), independence_accounting()):
        assert one.guarantees == ()
        assert "no epsilon" in one.statement
    assert gaussian_epsilon(0, 1e-6) == 0
    assert gaussian_epsilon(math.inf, 1e-6) == math.inf
    with pytest.raises(ConfigurationError, match="no epsilon"):
        noise_accounting(0.0, Reach.TOKEN, sentence_tokens=1, note_tokens=1)
    for basis, guarantees in (("noise", ()), ("none", (GaussianGuarantee("", 1, 1.0),))):
        with pytest.raises(ConfigurationError):
            Accounting(basis, guarantees, "")


def test_what_is_out_of_range_is_refused() -> None:
    for action in (
        lambda: gaussian_epsilon(-1, 1e-6),
        lambda: gaussian_epsilon(math.nan, 1e-6),
        lambda: gaussian_epsilon(1, 0),
        lambda: Anonymity(1, 1),
        lambda: noise_accounting(1, Reach.TOKEN, sentence_tokens=0, note_tokens=1),
        lambda: noise_accounting(math.nan, Reach.TOKEN, sentence_tokens=1, note_tokens=1),
        lambda: GaussianGuarantee("", 1, 1.0).compose(0),
    ):
        with pytest.raises(ConfigurationError):
            action()


def test_words_that_look_alike_are_counted_with_and_without_their_casing() -> None:
    told = anonymity_accounting(Anonymity(1000, 7, 0.256)).statement
    assert "at least 999 others" in told
    assert "at least 7 of" in told
    assert "up to 25.6%" in told
    assert "by its casing for sure" not in told
    alone = anonymity_accounting(Anonymity(1000, 1)).statement
    assert "by its casing for sure" in alone
    assert "%" not in alone


NOTES = list(tiny_notes(4, 1))
WORDS = tuple(dict.fromkeys(word for one in NOTES for word in tokenise(one.text).words))
SCHEME = load_scheme("i2b2_2014")


def test_noise_over_a_vocabulary_of_clusters_has_both_guarantees() -> None:
    base = fold_casing(table(WORDS, dim=12))
    vectors = generalise(base, np.zeros(len(base), dtype=np.bool_), 8, np.ones(len(base), dtype=np.int64))
    representer = Representer(RepresenterConfig(vectors.dim, dim=6, hidden=8))
    unclustered = WordVectors(base.words, base.matrix)
    both = KAnonymousRecurrent(vectors, representer, SCHEME).account(20, 300)
    plain = NoisyRecurrent(unclustered, representer, SCHEME).account(20, 300)
    words = k_anonymous(vectors, SCHEME).account(20, 300)
    assert (both.basis, plain.basis, words.basis) == ("k-anonymity and noise", "noise", "k-anonymity")
    assert both.guarantees == plain.guarantees != words.guarantees == ()
    assert plain.statement in both.statement
    assert "no epsilon" not in both.statement
    for one in (both, words):
        assert f"at least {vectors.k - 1} others" in one.statement
        assert f"at least {vectors.k_in_casing} of" in one.statement
