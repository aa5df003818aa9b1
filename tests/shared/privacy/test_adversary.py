from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from shared.augment.pseudonyms import Pseudonymiser
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.privacy.adversaries.near_duplicates import Material
from shared.privacy.attacks.adversary import (
    AdversarySettings,
    Name,
    _Attack,
    _logits,
    fresh_adversaries,
    is_broken,
)
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.progress import silent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests.shared.privacy.attacked import NEIGHBOURS, SCHEME, VECTORS, Blind, clear, notes

QUICK = AdversarySettings(neighbours=20, epochs=8, pairs=300, hidden=24, batch=16, learning_rate=5e-3)


def sentences(count: int, seed: int = 0) -> TokenisedSentences:
    return tokenised_corpus(notes(count, seed), SCHEME)


KNOWN, TARGET = sentences(150), sentences(60, 1)


def material(chunk: TokenisedSentences) -> Material:
    return Material.of(chunk, VECTORS, Pseudonymiser(NEIGHBOURS, 20), np.random.default_rng(0), None)


def test_clear_vectors_are_broken_and_a_blind_share_is_not() -> None:
    findings = fresh_adversaries(Blind(), VECTORS, KNOWN, TARGET, QUICK, controls={"also clear": clear()})
    assert [finding.attack.split(",")[0] for finding in findings] == ["fresh adversary T1", "fresh adversary T2"] * 3
    blind, controls = findings[:2], findings[2:]
    assert all(finding.trials == 120 and finding.baseline == 0.5 for finding in findings)
    for finding in blind:
        assert finding.interval[0] <= 0.5 <= finding.interval[1]
        assert not is_broken(finding)
    # T2 compares like with like; T1 must first learn how, which takes longer than a test may.
    assert is_broken(controls[1])
    assert is_broken(controls[3])


def test_what_shows_the_same_for_both_gets_each_sentence_right_exactly_once() -> None:
    train = material(KNOWN)
    attack = _Attack(Blind(), train, material(TARGET), QUICK, silent)
    looks = attack._looks(train, train.rows)
    np.testing.assert_array_equal(looks.real, looks.twin)
    for right in attack._right(looks).values():
        np.testing.assert_array_equal(right.sum(1), np.ones(len(train.rows)))


def test_a_twin_differs_in_one_phi_word_and_keeps_the_tags() -> None:
    train = material(KNOWN)
    original = KNOWN.select(train.rows)
    twin = train.twins(train.rows, np.random.default_rng(3))
    np.testing.assert_array_equal(twin.tags, original.tags)
    changed = np.array([one != other for one, other in zip(twin.words, original.words, strict=True)])
    ends = np.cumsum(original.lengths)
    np.testing.assert_array_equal(np.add.reduceat(changed, ends - original.lengths), np.ones(len(train.rows)))
    assert np.all(original.tags[changed] > 0)
    # And the sentences that it was made from are as they were.
    assert original.words == KNOWN.select(train.rows).words


def test_the_epoch_is_chosen_and_the_test_is_judged_on_other_sentences() -> None:
    train = material(KNOWN)
    attack = _Attack(clear(), train, material(TARGET), QUICK, silent)
    assert not set(attack.learning) & set(attack.validation)
    assert set(attack.learning) | set(attack.validation) == set(train.rows.tolist())


def test_it_stops_once_both_adversaries_did_well_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    train = material(KNOWN)
    attack = _Attack(clear(), train, train, replace(QUICK, pairs=16, hidden=2), lambda *step: told.append(step))
    rounds = iter([(80, 70), (95, 85), (50, 92), (99, 99)])

    def judged(looks: object) -> dict[str, NDArray[np.bool_]]:
        return {name: np.arange(100) < right for name, right in zip(("T1", "T2"), next(rounds), strict=True)}

    monkeypatch.setattr(attack, "_right", judged)
    attack._learn()
    assert told == [("adversaries", epoch, 8) for epoch in (1, 2, 3)]


class _Products(torch.nn.Module):
    """Decides by the product of what it holds and what it looks at."""

    def forward(self, held: torch.Tensor, looked: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return (held * looked).sum((1, 2)) * lengths


def test_t1_holds_the_word_vectors_and_t2_another_share_and_both_look_at_share_and_twin() -> None:
    vectors, again, real, twin = (torch.full((2, 1, 1), value) for value in (2.0, 3.0, 5.0, 7.0))
    views, lengths = [vectors, again, real, twin], torch.tensor([2, 1])
    held: tuple[tuple[Name, float], ...] = (("T1", 2.0), ("T2", 3.0))
    for name, own in held:
        true, false = _logits(name, _Products(), views, lengths)
        assert true.tolist() == [own * 5 * 2, own * 5]
        assert false.tolist() == [own * 7 * 2, own * 7]


def test_the_looks_are_word_vectors_two_shares_and_one_of_the_twin() -> None:
    train = material(KNOWN)
    attack = _Attack(clear(), train, material(TARGET), replace(QUICK, casing=False), silent)
    looks = attack._looks(train, train.rows)
    words = VECTORS.rows(KNOWN.select(train.rows).words)
    for found, scale in (
        (looks.vectors, attack.scale[0]),
        (looks.again, attack.scale[1]),
        (looks.real, attack.scale[1]),
    ):
        np.testing.assert_allclose(found * scale, words, atol=2e-3)
    changed = (np.abs(looks.twin * attack.scale[1] - words) > 2e-3).any(1)
    np.testing.assert_array_equal(np.add.reduceat(changed, train.chunk.select(train.rows).starts), 1)


class _Recorded:
    """Remembers how often it was asked for noise."""

    scheme = SCHEME
    gaussian_noise = None

    def __init__(self) -> None:
        self.draws: list[float] = []

    def rehearse_share(self, chunk: TokenisedSentences, noise: object) -> RaggedSentences:
        assert isinstance(noise, torch.Generator)
        self.draws.append(float(torch.rand(1, generator=noise)))
        return Blind().rehearse_share(chunk, noise)


def test_every_look_is_a_fresh_share() -> None:
    recorder = _Recorded()
    fresh_adversaries(recorder, VECTORS, KNOWN, TARGET, AdversarySettings(epochs=2, pairs=8, hidden=2, neighbours=5))
    assert len(set(recorder.draws)) == len(recorder.draws) >= 3 * 4


def test_the_seed_decides() -> None:
    quick = AdversarySettings(neighbours=20, epochs=1, pairs=40, hidden=4)
    once = fresh_adversaries(clear(), VECTORS, KNOWN, TARGET, quick)
    assert once == fresh_adversaries(clear(), VECTORS, KNOWN, TARGET, quick)


@pytest.mark.parametrize("encoder", [Blind(), clear()])
def test_no_phi_is_an_error(encoder: SharingEncoder) -> None:
    plain = TokenisedSentences(KNOWN.words, np.zeros_like(KNOWN.tags), KNOWN.lengths)
    with pytest.raises(TrainingError, match="PHI"):
        fresh_adversaries(encoder, VECTORS, plain, TARGET, QUICK)
    with pytest.raises(EvaluationError, match="PHI"):
        fresh_adversaries(encoder, VECTORS, KNOWN, plain, QUICK)


class _Longer:
    scheme = SCHEME
    gaussian_noise = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: object) -> RaggedSentences:
        return RaggedSentences(np.zeros((1, 2)), chunk.tags[:1], chunk.tags[:1], np.ones(1, dtype=np.int64))


def test_a_share_of_other_lengths_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="lengths"):
        draw_share(_Longer(), KNOWN, torch.Generator())


@pytest.mark.parametrize("setting", [{"epochs": 0}, {"neighbours": 1}, {"clip": 0.0}, {"enough": 0.4}])
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        AdversarySettings(**setting)  # type: ignore[arg-type]
