from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.augment.pseudonyms import Pseudonymiser
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.privacy.adversaries.near_duplicates import Material
from shared.privacy.attacks.adversary import AdversarySettings, _Attack, fresh_adversaries, is_broken
from shared.privacy.material.sharing import SharingEncoder, chosen, joined, shown
from shared.sentences.encoding import TokenisedSentences, tokenised, tokenised_chunks
from shared.sentences.ragged import RaggedSentences
from shared.training.tagging import silent
from tests.shared.privacy.attacked import NEIGHBOURS, SCHEME, VECTORS, Blind, clear, notes

QUICK = AdversarySettings(neighbours=20, epochs=8, pairs=300, hidden=24, batch=16, learning_rate=5e-3)


def sentences(count: int, seed: int = 0) -> TokenisedSentences:
    return joined(list(tokenised_chunks(tokenised(notes(count, seed)), SCHEME)))


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
    original = chosen(KNOWN, train.rows)
    twin = train.twins(train.rows, np.random.default_rng(3))
    np.testing.assert_array_equal(twin.tags, original.tags)
    changed = np.array([one != other for one, other in zip(twin.words, original.words, strict=True)])
    ends = np.cumsum(original.lengths)
    np.testing.assert_array_equal(np.add.reduceat(changed, ends - original.lengths), np.ones(len(train.rows)))
    assert np.all(original.tags[changed] > 0)
    # And the sentences that it was made from are as they were.
    assert original.words == chosen(KNOWN, train.rows).words


def test_the_epoch_is_chosen_and_the_test_is_judged_on_other_sentences() -> None:
    train = material(KNOWN)
    attack = _Attack(clear(), train, material(TARGET), QUICK, silent)
    assert not set(attack.learning) & set(attack.validation)
    assert set(attack.learning) | set(attack.validation) == set(train.rows.tolist())


class _Recorded:
    """Remembers how often it was asked for noise."""

    scheme = SCHEME

    def __init__(self) -> None:
        self.draws: list[float] = []

    def shared(self, chunk: TokenisedSentences, noise: object) -> RaggedSentences:
        assert isinstance(noise, torch.Generator)
        self.draws.append(float(torch.rand(1, generator=noise)))
        return Blind().shared(chunk, noise)


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

    def shared(self, chunk: TokenisedSentences, noise: object) -> RaggedSentences:
        return RaggedSentences(np.zeros((1, 2)), chunk.tags[:1], chunk.tags[:1], np.ones(1, dtype=np.int64))


def test_a_share_of_other_lengths_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="lengths"):
        shown(_Longer(), KNOWN, torch.Generator())


@pytest.mark.parametrize("setting", [{"epochs": 0}, {"neighbours": 1}, {"clip": 0.0}, {"enough": 0.4}])
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        AdversarySettings(**setting)  # type: ignore[arg-type]
