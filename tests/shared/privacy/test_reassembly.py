from __future__ import annotations

import numpy as np
import pytest

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.joining.reassembly import ReassemblySettings, reassembly
from shared.privacy.material.pair_features import pair_features
from shared.privacy.statistics.logistic_regression import LogisticRegression
from shared.privacy.statistics.resampling import WeightedAUC, auc_interval, mean_interval
from shared.sentences.ragged import RaggedSentences
from tests.shared.privacy.attacked import NAMES, PLAIN, Blind, Mapped, clear
from tests.tiny_notes import note

SETTINGS = ReassemblySettings(notes=20, sentences=6, resamples=60)


def one_subject(count: int, seed: int) -> list[Document]:
    """Notes of six sentences of equal form; one rare word comes in every sentence of a note."""
    dice = np.random.default_rng(seed)
    subjects = dice.permutation(NAMES)
    made = []
    for number in range(count):
        pieces: list[str | tuple[str, str]] = []
        for _ in range(6):
            before = " ".join(dice.choice(PLAIN, 3))
            pieces += [f"{before} {subjects[number].lower()} ", (str(dice.choice(NAMES)), "PERSON"), " was seen .\n"]
        made.append(note(f"n{number}", *pieces))
    return made


PUBLIC, ATTACKED = one_subject(20, seed=1), one_subject(20, seed=2)


def test_a_transparent_encoder_is_reassembled() -> None:
    known = Mapped({name.lower(): name for name in NAMES})
    area, precision, labels, guess = reassembly(known, PUBLIC, ATTACKED, SETTINGS)
    assert area.value > 0.97
    assert precision.value > 0.8
    assert not area.at_baseline
    assert not precision.at_baseline
    # All sentences have one form, so that tags and lengths tell nothing.
    assert labels.value == 0.5
    assert guess.baseline == pytest.approx(5 / 119, abs=1e-3)
    assert guess.value == pytest.approx(5 / 119, abs=0.04)


def test_a_blind_encoder_is_at_chance() -> None:
    area, precision, *_ = reassembly(Blind(), PUBLIC, ATTACKED, SETTINGS)
    assert area.value == 0.5
    assert precision.value == pytest.approx(5 / 119, abs=0.04)


def test_notes_of_different_form_are_told_apart_by_tags_and_lengths() -> None:
    def notes(seed: int) -> list[Document]:
        dice = np.random.default_rng(seed)
        return [
            note(f"n{number}", *[" ".join(dice.choice(PLAIN, 3 + 3 * (number % 8))) + " .\n" for _ in range(5)])
            for number in range(16)
        ]

    _, _, labels, _ = reassembly(Blind(), notes(1), notes(2), SETTINGS)
    assert labels.value > 0.9


def test_the_rarest_common_row_counts() -> None:
    rows = np.eye(6, dtype=np.float16)
    # Sentences: (a b) (a c) (a b): the first and the last share the rarer b.
    values = rows[[0, 1, 0, 2, 0, 1]]
    flat = np.zeros(6, dtype=np.uint8)
    shown = RaggedSentences(values, flat, flat, np.array([2, 2, 2]))
    found = pair_features(shown)
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    common = found.everything[:, found.labels.shape[1] + 11]
    # Row b is in two of three sentences, and counts once from either side.
    np.testing.assert_allclose(common, [0, np.log1p(2 * np.log(3 / 2)), 0], atol=1e-9)


def test_logistic_regression_finds_the_known_slope() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((20_000, 2))
    log_odds = 1.5 * features[:, 0] - 1
    positive = rng.random(20_000) < 1 / (1 + np.exp(-log_odds))
    found = LogisticRegression(features, positive).scores(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(found, [-1, 0.5, -1], atol=0.12)


def test_classes_that_part_wholly_do_not_make_it_diverge() -> None:
    features = np.linspace(-1, 1, 50)[:, None]
    scores = LogisticRegression(features, features[:, 0] > 0).scores(features)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) > 0).all()


def test_the_area_counts_pairs_and_half_of_the_ties() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, 60).astype(np.float64)
    positive = rng.random(60) < 0.4
    weights = rng.integers(0, 4, 60).astype(np.float64)
    total = right = 0.0
    for one in np.flatnonzero(positive):
        for other in np.flatnonzero(~positive):
            weight = weights[one] * weights[other]
            total += weight
            right += weight * (0.5 if scores[one] == scores[other] else float(scores[one] > scores[other]))
    assert WeightedAUC(scores, positive)(weights) == pytest.approx(right / total)
    assert WeightedAUC(scores, np.ones(60, dtype=np.bool_))() == 0.5


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    held = areas = 0
    for _ in range(100):
        low, high = mean_interval(rng.random(60), rng, 300)
        held += low <= 0.5 <= high
        _, (low, high) = auc_interval(rng.random(60), rng.random(60) < 0.5, rng, 100)
        areas += low <= 0.5 <= high
    assert held >= 86
    assert areas >= 86


def test_too_few_notes_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two notes"):
        reassembly(clear(), PUBLIC, ATTACKED[:1], SETTINGS)
    with pytest.raises(ConfigurationError):
        ReassemblySettings(notes=1)
