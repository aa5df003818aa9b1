from __future__ import annotations

import math

import numpy as np
import pytest

from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.errors import ConfigurationError, ModelError
from shared.models.noise import NoiseSource
from shared.models.representer import Representer, RepresenterConfig
from shared.privacy.attacks.matching import MatchingSettings, matching, phi_targets, true_rank
from shared.privacy.material.release_model import Candidates, ReleaseModel, _CommonNoise
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.policy import judge, load_policy
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from tests.shared.privacy.attacked import (
    NAMES,
    NEIGHBOURS,
    SCHEME,
    VECTORS,
    Blind,
    Mapped,
    Noisy,
    Surrogates,
    clear,
    notes,
)

SETTINGS = MatchingSettings(targets=80, candidates=20, draws=6, shares=(1, 10), seed=3)
NOTES = notes(60)
# Ten names look alike.
CLUSTERS = {name: NAMES[index // 10 * 10] for index, name in enumerate(NAMES)}


def same_cluster(word: str) -> list[str]:
    return [name for name, head in CLUSTERS.items() if head == CLUSTERS[word]]


def top(found: list[Finding], shares: int = 1, kind: str = "nearest neighbours", size: int = 20) -> Finding:
    (one,) = [
        finding
        for finding in found
        if finding.measure in (f"top-1 of {size}, {kind}, {shares} share", f"top-1 of {size}, {kind}, {shares} shares")
    ]
    return one


def attacked(encoder: SharingEncoder, settings: MatchingSettings = SETTINGS) -> list[Finding]:
    return matching(encoder, NOTES, NEIGHBOURS, settings)


def test_a_transparent_encoder_is_broken() -> None:
    found = attacked(clear())
    assert top(found).value == 1
    assert top(found).trials == 80
    assert top(found).baseline == pytest.approx(1 / 20)
    assert not top(found).at_baseline
    assert all(finding.value == 1 for finding in found if "casing" not in finding.measure)
    casing, _ = [finding for finding in found if "casing" in finding.measure]
    parts = [finding for finding in found if finding.category]
    assert parts
    assert all(finding.measure.endswith(f", {finding.category}") for finding in parts)
    # All words can take the casing of a name but the dot.
    assert casing.value == pytest.approx(1 / 20, abs=0.005)


def test_a_list_is_called_as_long_as_it_is_and_the_limit_on_longer_ones_says_not_tried() -> None:
    settings = MatchingSettings(targets=60, candidates=10_000, draws=2, shares=(1,), seed=3)
    found = matching(Blind(), NOTES, NEIGHBOURS, settings, same_cluster)
    assert top(found, size=len(VECTORS)).baseline == pytest.approx(1 / len(VECTORS))
    assert not any("of 10000, nearest" in one.measure for one in found)
    limits = {one.measure: one for one in load_policy().limits if one.attack == "match" and "10000" in one.measure}
    near, own = judge(list(limits.values()), found, full=True)
    assert (near.reason, near.passed) == ("not tried", False)
    # All of a set is what there is of it.
    assert own.findings[0].trials == 60


@pytest.mark.parametrize("encoder", [Blind(), Surrogates(), Noisy(0.002, 500.0)], ids=lambda one: type(one).__name__)
def test_an_encoder_that_shows_nothing_is_at_chance(encoder: SharingEncoder) -> None:
    for finding in attacked(encoder):
        assert finding.baseline is not None
        # Every interval holds its baseline but for a chance that many figures make likely.
        wide = 1.5 * (finding.interval[1] - finding.interval[0])
        assert finding.value == pytest.approx(finding.baseline, abs=max(wide, 0.02))


def test_words_of_one_cluster_are_told_apart_by_chance_only() -> None:
    found = matching(Mapped(CLUSTERS), NOTES, NEIGHBOURS, SETTINGS, same_cluster)
    own = [finding for finding in found if "own set" in finding.measure and "top-1" in finding.measure]
    assert own
    for finding in own:
        assert finding.baseline == pytest.approx(1 / 10, abs=0.02)
        assert finding.baseline is not None
        assert finding.interval[0] <= finding.baseline <= finding.interval[1]
    # Among the neighbours a tenth share the cluster: top-1 lies far above chance there.
    assert top(found).value > 0.3


def test_a_word_that_is_alone_in_its_own_set_is_counted() -> None:
    found = matching(clear(), NOTES, NEIGHBOURS, SETTINGS, lambda word: [word])
    (alone,) = [finding for finding in found if finding.measure == "alone in its own set"]
    assert alone.value == 1
    # Nobody need look further for such a word.
    for shares in (1, 10):
        own = top(found, shares, "own set")
        assert (own.value, own.trials) == (1, 80)
        assert own.baseline == pytest.approx(1 / 20)
        assert {one.value for one in found if one.measure.startswith("top-1 of 20, own set")} == {1}


def test_words_that_are_alone_in_their_own_set_count_beside_those_that_are_not() -> None:
    lonely = set(NAMES[::2])
    found = matching(Blind(), NOTES, NEIGHBOURS, SETTINGS, lambda word: [word] if word in lonely else NAMES)
    own, alone = top(found, kind="own set"), next(one for one in found if one.measure == "alone in its own set")
    assert own.trials == alone.trials == 80
    assert own.value == pytest.approx(alone.value + (1 - alone.value) / 20, abs=0.08)
    assert own.baseline == pytest.approx(1 / 20)
    # A word without neighbours is in no list: that is no fault of the representer.
    few = matching(Blind(), NOTES, NEIGHBOURS, SETTINGS)
    assert not any(one.measure.startswith("alone") for one in few)


def test_half_honest_surrogates_give_the_word_away_over_ten_shares() -> None:
    found = attacked(Surrogates(honest=0.5), MatchingSettings(80, 20, 12, (1, 10), seed=1))
    # One share shows the word in half of the cases; where it does not, one guess in 20 is right.
    assert top(found, 1).value == pytest.approx(0.5 + 0.5 / 20, abs=0.15)
    assert top(found, 10).value > 0.85


@pytest.mark.parametrize(("noise", "shares"), [(0.2, 1), (0.5, 4)])
def test_gaussian_noise_gives_what_the_closed_form_gives(noise: float, shares: int) -> None:
    """Two candidates at distance D under noise s are told apart with a chance of Phi(sqrt(n) D / 2 s) by n shares."""
    inputs = 0.1
    encoder = Noisy(inputs, noise)
    model = ReleaseModel(encoder, draws=40, seed=0)
    assert model.knows_means
    tags = np.array([0, 1], dtype=np.uint8)
    rng = np.random.default_rng(0)
    deviation = math.hypot(inputs, noise)
    right = expected = 0.0
    pairs = 150
    for _ in range(pairs):
        one, other = rng.choice(NAMES, 2, replace=False).tolist()
        observed = model.show(Candidates([("the", one)] * shares, tags))
        likely = model.log_likelihoods(Candidates([("the", one), ("the", other)], tags), observed).sum(1)
        right += float(likely[0] > likely[1])
        rows = VECTORS.rows([one, other])
        distance = float(np.linalg.norm(rows[0] - rows[1]))
        expected += 0.5 * (1 + math.erf(math.sqrt(shares / 2) * distance / 2 / deviation))
    assert right / pairs == pytest.approx(expected / pairs, abs=0.08)


def test_log_likelihood_differences_are_those_of_the_gaussian() -> None:
    encoder = Noisy(0.002, 0.3)
    model = ReleaseModel(encoder, draws=4, seed=0)
    words = list(NAMES[:5])
    candidates = Candidates([(word,) for word in words], np.array([1], dtype=np.uint8))
    observed = model.show(Candidates([(words[2],)], candidates.tags))
    found = model.log_likelihoods(candidates, observed)[:, 0]
    variance = encoder.representer.output_noise.scale.detach().numpy() ** 2 + 0.002**2
    exact = -0.5 * ((observed.values[0, 0] - VECTORS.rows(words)) ** 2 / variance).sum(1)
    np.testing.assert_allclose(found - found[0], exact - exact[0], atol=0.05)


def test_exact_means_beat_own_draws_of_a_real_representer() -> None:
    representer = Representer(
        RepresenterConfig(VECTORS.dim, dim=8, hidden=8, input_noise=0.02, output_noise=0.1)
    ).eval()
    encoder = NoisyRecurrent(VECTORS, representer, SCHEME)
    exact = top(matching(encoder, NOTES, NEIGHBOURS, MatchingSettings(40, 20, 4, (1, 100))), 100)
    assert exact.value > 0.5


def test_noise_in_an_order_that_is_not_understood_is_refused() -> None:
    source = _CommonNoise(np.zeros((3, 5), dtype=np.float32), 2, np.random.default_rng(0))
    with pytest.raises(ModelError):
        source.standard_normal((4, 5))
    source.standard_normal((6, 5))
    assert not source.standard_normal((6, 2)).any()


class CasingOnly(Blind):
    """Shows nothing but whether a word is a number."""

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        shown = super().rehearse_share(chunk, noise)
        shown.casing[:] = [0 if word.isdecimal() else 2 for word in chunk.words]
        return shown


def test_casing_excludes_what_it_can() -> None:
    model = ReleaseModel(CasingOnly(), draws=4, seed=0)
    candidates = Candidates([("12",), ("Abba",), ("7",), ("nil",)], np.array([1], dtype=np.uint8))
    likely = model.log_likelihoods(candidates, model.show(Candidates([("12",)], candidates.tags)))[:, 0]
    assert likely[0] == pytest.approx(likely[2])
    assert likely[1] == pytest.approx(likely[3])
    assert likely[1] < likely[0] - 10


def test_ties_are_broken_by_chance() -> None:
    rng = np.random.default_rng(0)
    ranks = [true_rank(np.array([1.0, 1.0, 2.0, 1.0 + 1e-9, 0.0]), 1, rng) for _ in range(300)]
    assert set(ranks) == {2, 3, 4}
    assert true_rank(np.array([0.0, 5.0]), 0, rng) == 2


def test_a_sentence_gives_one_target_at_most_and_no_punctuation() -> None:
    targets = phi_targets(NOTES, SCHEME, MatchingSettings(targets=1000), np.random.default_rng(0))
    assert len(targets) == 120
    assert {target.category for target in targets} == {"PERSON", "PLACE"}
    assert all(target.tags[target.place] > 0 for target in targets)


def test_no_word_of_a_note_is_in_a_finding_or_a_repr() -> None:
    targets = phi_targets(NOTES, SCHEME, SETTINGS, np.random.default_rng(0))
    shown = " ".join(map(repr, (*attacked(clear()), *targets, targets[0].candidates(["x"]))))
    assert not any(target.word in shown for target in targets)


def test_the_seed_decides() -> None:
    assert attacked(Noisy(0.05, 0.5)) == attacked(Noisy(0.05, 0.5))


@pytest.mark.parametrize("bad", [{"targets": 0}, {"candidates": 1}, {"shares": ()}, {"shares": (0,)}, {"draws": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        MatchingSettings(**bad)  # type: ignore[arg-type]
