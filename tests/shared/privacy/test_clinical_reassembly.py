from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.attacks.joining.clinical import clinical_reassembly
from shared.privacy.attacks.joining.joined import JoiningSettings
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.policy import judge, load_policy
from shared.privacy.reassembly.clinical import clinical_rows
from shared.privacy.reassembly.likeness import Likeness, TwoCovariances
from shared.privacy.reassembly.shares import OwnedSentences
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from tests.shared.privacy.attacked import NAMES, PLAIN, Blind, Mapped, Noisy, clear
from tests.tiny_notes import note

SETTINGS = JoiningSettings(notes=12, public_shares=1, resamples=200)


@cache
def of_one_subject(count: int, seed: int) -> list[Document]:
    """A header line, the same in every note but for its PHI, and five sentences, each of which names the subject of the note."""
    dice = np.random.default_rng(seed)
    made = []
    for number, subject in enumerate(dice.permutation(NAMES)[:count].tolist()):
        pieces: list[str | tuple[str, str]] = [
            "the patient was seen by ",
            (" ".join(dice.choice(NAMES, 7)), "PERSON"),
            " .\n\n",
        ]
        for _ in range(5):
            pieces.append(f"{' '.join(dice.choice(PLAIN, 9))} {subject.lower()} .\n\n")
        made.append(note(f"n{number}", *pieces))
    return made


def attacked(encoder: SharingEncoder, settings: JoiningSettings = SETTINGS) -> list[Finding]:
    return clinical_reassembly(encoder, of_one_subject(24, 1), of_one_subject(24, 2), settings)


def kept(findings: list[Finding]) -> bool:
    """Whether our limit is kept."""
    limits = [one for one in load_policy().limits if one.attack == "clinical reassembly"]
    return all(verdict.passed for verdict in judge(limits, findings, full=True))


def test_notes_of_one_subject_each_are_joined_and_break_our_limit() -> None:
    nearest, pairs = attacked(Mapped({name.lower(): name for name in NAMES}))
    assert nearest.value > 0.95
    # Header lines do not count: of 60 sentences of a share four are of the same note.
    assert nearest.baseline == pytest.approx(4 / 59)
    assert nearest.trials == 24
    assert nearest.interval[0] > 0.9
    assert pairs.value > 0.9
    assert not kept([nearest, pairs])


def test_a_blind_encoder_is_at_chance_and_keeps_it() -> None:
    nearest, pairs = attacked(Blind())
    assert nearest.value == pytest.approx(4 / 59)
    assert pairs.value == 0.5
    assert kept([nearest, pairs])


@pytest.mark.parametrize(("notes", "enough"), [(19, False), (20, True)])
def test_fewer_notes_than_a_hospital_shares_keep_no_limit(notes: int, enough: bool) -> None:
    settings = JoiningSettings(resamples=50)
    assert kept(clinical_reassembly(Blind(), of_one_subject(24, 1), of_one_subject(notes, 2), settings)) == enough


def test_words_that_say_nothing_of_the_note_are_at_chance() -> None:
    # The subjects all look like one word.
    nearest, pairs = attacked(Mapped({name.lower(): "the" for name in NAMES}))
    assert nearest.interval[0] < 4 / 59
    assert pairs.interval[0] < 0.5
    assert kept([nearest, pairs])


def test_rows_that_all_differ_are_joined_by_what_they_mean() -> None:
    noisy = Noisy(0.001, 0.02)
    nearest, _ = clinical_reassembly(noisy, _loud(24, 1), _loud(24, 2), SETTINGS)
    assert "meaning" in nearest.knowledge
    assert nearest.interval[0] > 2 * 4 / 59


def _loud(count: int, seed: int) -> list[Document]:
    """Sentences that are full of one of PLAIN's words."""
    dice = np.random.default_rng(seed)
    return [
        note(
            f"n{number}",
            *(f"{' '.join([PLAIN[number % 12]] * 6 + dice.choice(PLAIN, 5).tolist())} .\n" for _ in range(5)),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("length", "phi", "clinical"),
    [(10, 0, True), (9, 0, False), (12, 3, True), (12, 4, False), (40, 10, True), (40, 11, False)],
)
def test_a_clinical_sentence_is_long_and_hardly_phi(length: int, phi: int, clinical: bool) -> None:
    tags = np.array([1] * phi + [0] * (length - phi) + [0, 0], dtype=np.uint8)
    flat = np.zeros(len(tags), dtype=np.uint8)
    shown = RaggedSentences(np.zeros((len(tags), 1), dtype=np.float16), flat, tags, np.array([length, 2]))
    assert clinical_rows(shown).tolist() == ([0] if clinical else [])


def test_hits_chances_and_area_count_one_sentence_after_another() -> None:
    dice = np.random.default_rng(0)
    notes = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    scores = dice.integers(0, 4, (8, 8)).astype(np.float64)
    scores += scores.T
    flat = np.zeros(8, dtype=np.uint8)
    share = OwnedSentences(RaggedSentences(np.zeros((8, 1)), flat, flat, np.ones(8, dtype=np.int64)), notes)
    hits, chances = share.hits(scores), share.chances()
    for one in range(8):
        others = [other for other in range(8) if other != one]
        best = [other for other in others if scores[one, other] == max(scores[one, others])]
        assert hits[one] == pytest.approx(np.mean([notes[other] == notes[one] for other in best]))
        assert chances[one] == pytest.approx(np.mean([notes[other] == notes[one] for other in others]))
    right = [
        0.5 if scores[a, b] == scores[c, d] else float(scores[a, b] > scores[c, d])
        for a, b in zip(*np.triu_indices(8, 1), strict=True)
        for c, d in zip(*np.triu_indices(8, 1), strict=True)
        if notes[a] == notes[b] and notes[c] != notes[d]
    ]
    area, drawn = share.areas(scores, 20, dice)
    assert area == pytest.approx(np.mean(right))
    assert drawn.shape == (20,)


def test_rare_rows_in_common_weigh_more_and_phi_by_itself() -> None:
    # Sentences: (a b N) (a c N) (a b M), of which the last token is PHI.
    values = np.eye(6, dtype=np.float16)[[0, 1, 4, 0, 2, 4, 0, 1, 5]]
    flat, tags = np.zeros(9, dtype=np.uint8), np.array([0, 0, 1] * 3, dtype=np.uint8)
    found = Likeness.of(RaggedSentences(values, flat, tags, np.array([3, 3, 3])))
    # What stands in every sentence says nothing.
    assert found.words[0].tolist() == [1, 0, 1]
    assert found.pairs[0].tolist() == [1, 0, 1]
    assert found.phi[0].tolist() == [1, 1, 0]


def test_the_meaning_is_the_ratio_of_two_likelihoods() -> None:
    dice = np.random.default_rng(0)
    between, within = np.diag([2.0, 0.5]), np.array([[1.0, 0.3], [0.3, 0.8]])
    notes = np.repeat(np.arange(4000), 5)
    rows = dice.multivariate_normal([1, -1], between, 4000)[notes] + dice.multivariate_normal(
        [0, 0], within, len(notes)
    )
    asked = np.array([[1.0, -1.0], [3.0, 0.0], [2.5, -0.5]])
    scores = TwoCovariances.fit(rows, notes).scores(asked)
    total = between + within
    joint = np.block([[total, between], [between, total]])

    def ratio(one: int, other: int) -> float:
        both = multivariate_normal([1, -1, 1, -1], joint).logpdf([*asked[one], *asked[other]])
        alone = [multivariate_normal([1, -1], total).logpdf(asked[place]) for place in (one, other)]
        return float(both - sum(alone))

    # The scores lack a constant and a factor of two.
    for one, other in ((0, 2), (1, 2), (1, 1)):
        expected = 2 * (ratio(one, other) - ratio(0, 1))
        assert scores[one, other] - scores[0, 1] == pytest.approx(expected, abs=0.12)


def test_too_few_notes_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="four public notes"):
        clinical_reassembly(clear(), of_one_subject(24, 1), of_one_subject(1, 2), SETTINGS)
    with pytest.raises(ConfigurationError):
        JoiningSettings(notes=1)
