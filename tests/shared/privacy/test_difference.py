from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG
from shared.privacy.attacks.joining.difference import WITHIN, difference, recurrence_findings, sift
from shared.privacy.attacks.joining.joined import Joined, JoiningSettings, join_shares
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.privacy.policy import judge, load_policy
from shared.privacy.reassembly.recurrence import recurring
from shared.privacy.reassembly.shares import OwnedSentences
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES, PLAIN, SCHEME, Blind, Noisy, Surrogates, clear
from tests.tiny_notes import note

SETTINGS = JoiningSettings(notes=12, public_shares=1, resamples=200)


def notes(count: int, seed: int) -> list[Document]:
    """Notes whose header names the patient, whose name comes again; all other words say nothing of the note."""
    dice = np.random.default_rng(seed)
    made = []
    for number, patient in enumerate(dice.permutation(NAMES)[:count].tolist()):
        pieces: list[str | tuple[str, str]] = ["patient ", (patient, "PERSON"), " .\n\n"]
        for _ in range(3):
            pieces += [
                f"{' '.join(dice.choice(PLAIN, 7))} ",
                (patient, "PERSON"),
                f" {' '.join(dice.choice(PLAIN, 3))} .\n\n",
            ]
        made.append(note(f"n{number}", *pieces))
    return made


FIRST, SECOND, OTHERS = (tokenised_corpus(notes(20, seed), SCHEME) for seed in (1, 2, 3))


def broken(findings: list[Finding]) -> set[str]:
    """What the limits that are broken are about."""
    limits = [one for one in load_policy().limits if one.attack == "difference"]
    return {verdict.limit.measure for verdict in judge(limits, findings, full=True) if verdict.broken}


def recurrences(encoder: SharingEncoder, later: TokenisedSentences) -> list[Finding]:
    """After a first share of FIRST."""
    noise = torch.Generator().manual_seed(0)
    first, second, others = (draw_share(encoder, sentences, noise) for sentences in (FIRST, later, OTHERS))
    return recurrence_findings(first, second, [others], SETTINGS)


@pytest.mark.parametrize("encoder", [clear(), Surrogates()], ids=["clear", "surrogates"])
def test_a_second_share_that_holds_the_first_breaks_our_limits(encoder: SharingEncoder) -> None:
    clinical, every = recurrences(encoder, TokenisedSentences.concatenate([FIRST, SECOND]))
    assert (clinical.value, clinical.baseline, clinical.trials) == (1, 0, 60)
    assert (every.value, every.baseline, every.trials) == (1, 0.25, 80)
    assert len(broken([clinical, every])) == 2


def test_a_second_share_that_holds_one_note_of_twenty_breaks_one() -> None:
    clinical, _ = recurrences(Surrogates(), TokenisedSentences.concatenate([FIRST.select(np.arange(4)), SECOND]))
    assert clinical.value == 3 / 60
    assert len(broken([clinical])) == 1


@pytest.mark.parametrize("scale", [0.01, 0.1])
@pytest.mark.parametrize(
    ("later", "limits"),
    [
        (TokenisedSentences.concatenate([FIRST, SECOND]), 2),
        (TokenisedSentences.concatenate([FIRST.select(np.arange(8)), SECOND]), 1),
        (sift(SECOND, FIRST), 0),
    ],
    ids=["all", "two notes", "none"],
)
def test_behind_noise_a_sentence_recurs_where_noise_explains_the_rest(
    later: TokenisedSentences, limits: int, scale: float
) -> None:
    encoder, noise = Noisy(0.001, scale), torch.Generator().manual_seed(0)
    first, second, others, again = (draw_share(encoder, one, noise) for one in (FIRST, later, OTHERS, OTHERS))
    # No row comes twice, so nothing would be found by equality.
    assert not recurring(first, second).any()
    found = recurrence_findings(first, second, [others], SETTINGS, again)
    assert len(broken(found)) == limits
    if not limits:
        assert [one.value for one in found] == pytest.approx([0, 0.25], abs=0.03)


def test_the_attack_itself_draws_what_noise_explains() -> None:
    clinical, every, _ = difference(Noisy(0.001, 0.01), notes(24, 4), notes(28, 5), SETTINGS)
    assert clinical.value == 0
    # Header lines recur among any notes, and do so behind noise.
    assert 0.2 < every.value < 0.3
    assert not broken([clinical, every])


def test_new_notes_alone_break_none() -> None:
    found = recurrences(Surrogates(), sift(SECOND, FIRST))
    assert [one.value for one in found] == [0, 0.25]
    assert not broken(found)


def stock_notes(count: int, seed: int) -> list[Document]:
    """As `notes`, but one clinical sentence in eight is one of six that notes of all kinds hold."""
    dice, stock = np.random.default_rng(seed), np.random.default_rng(0).choice(PLAIN, (6, 10)).tolist()
    made = []
    for number, patient in enumerate(dice.choice(NAMES, count).tolist()):
        pieces: list[str | tuple[str, str]] = ["patient ", (patient, "PERSON"), " .\n\n"]
        for _ in range(3):
            words = stock[dice.integers(6)] if dice.random() < 0.125 else dice.choice(PLAIN, 10).tolist()
            pieces += [f"{' '.join(words[:7])} ", (patient, "PERSON"), f" {' '.join(words[7:])} .\n\n"]
        made.append(note(f"n{number}", *pieces))
    return made


@pytest.mark.parametrize(("sets", "lucky"), [(8, False), (1, True)])
def test_what_notes_of_all_kinds_hold_breaks_none(monkeypatch: pytest.MonkeyPatch, sets: int, lucky: bool) -> None:
    # What recurs in a single set of unrelated notes is a matter of luck, and so was the verdict.
    monkeypatch.setattr("shared.privacy.attacks.joining.difference._SETS", sets)
    found = [
        difference(Surrogates(), stock_notes(84, seed), stock_notes(36, seed + 100), SETTINGS) for seed in range(6)
    ]
    assert any(broken(one[:1]) for one in found) is lucky


def test_what_left_with_another_note_is_sifted_out() -> None:
    words = "No fever today . NO Fever TODAY ; No cough today . - -".split()
    new = TokenisedSentences(words, np.zeros(14, dtype=np.uint8), np.array([4, 4, 4, 2]))
    left = new.select(np.array([0]))
    assert sift(new, left).words == words[8:]


def test_a_ruled_line_is_of_no_note_and_leaves_each_time() -> None:
    rule = TokenisedSentences(["-", "_"], np.zeros(2, dtype=np.uint8), np.array([2]))
    assert sift(rule, rule).words == ["-", "_"]


def test_identifiers_in_header_lines_join_a_note_and_surrogates_do_not() -> None:
    *_, shown = difference(clear(), notes(24, 4), notes(48, 5), SETTINGS)
    *_, replaced = difference(Surrogates(), notes(24, 4), notes(48, 5), SETTINGS)
    assert shown.value > 0.9
    assert shown.baseline == pytest.approx(3 / 47)
    assert replaced.interval[0] < 3 / 47
    assert broken([shown]) == {WITHIN}
    assert not broken([replaced])


# In the place of names stand others, and all other words stand as they are.
FORM = tuple(f"form{letter}" for letter in "abcdefghijklm")
RARE = tuple(f"{name.lower()}x" for name in NAMES)
SHOWN = Surrogates(vectors=table((*PLAIN, *FORM, *RARE, *NAMES, "."), dim=16))


def forms(count: int, seed: int) -> list[Document]:
    """Thirteen lines that every note has, two sentences that name its rare finding, and two that say nothing of it."""
    dice = np.random.default_rng(seed)
    made = []
    for number in range(count):
        pieces: list[str | tuple[str, str]] = [f"{line}\n\n" for line in FORM]
        rare = str(dice.choice(RARE))
        for _ in range(2):
            before, after = (" ".join(dice.choice(PLAIN, 3)) for _ in range(2))
            pieces += [f"{before} {rare} {after} ", (str(dice.choice(NAMES)), "PERSON"), " .\n\n"]
            pieces.append(f"{' '.join(dice.choice(PLAIN, 11))} .\n\n")
        made.append(note(f"n{seed}-{number}", *pieces))
    return made


# Of 24 attacked notes, as a small audit has, half would be no share of 20.
@pytest.mark.parametrize("attacked", [24, 60], ids=["few", "enough"])
def test_lines_that_have_left_do_not_hide_what_joins_a_note(attacked: int) -> None:
    """Where the second share held them, thirteen of seventeen sentences would be joined no better than by chance, and the limit kept."""
    settings = JoiningSettings(shares=3, public_shares=2, resamples=100)
    *_, within = difference(SHOWN, forms(60, 1), forms(attacked, 2), settings)
    # Four sentences are left of each of 20 notes.
    assert within.baseline == pytest.approx(3 / 79)
    assert within.value > 0.3
    assert within.trials == 20
    assert broken([within]) == {WITHIN}


@pytest.mark.parametrize(("attacked", "left"), [(24, "public"), (60, "attacked")])
def test_the_attacker_learns_on_second_shares_too(attacked: int, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[OwnedSentences] = []

    def watched(
        learning: list[OwnedSentences],
        choosing: list[OwnedSentences],
        shares: list[OwnedSentences],
        *others: JoiningSettings,
    ) -> Joined:
        seen.extend([*learning, *choosing, *shares])
        return join_shares(learning, choosing, shares, *others)

    monkeypatch.setattr("shared.privacy.attacks.joining.difference.join_shares", watched)
    settings = JoiningSettings(shares=3, public_shares=2, resamples=10)
    *_, within = difference(SHOWN, forms(80, 1), forms(attacked, 2), settings)
    # Two shares of forty public notes each, and the attacked one; of each note the four sentences that no other has.
    assert [one.notes.max() + 1 for one in seen] == [20] * 5
    assert {one.shown.sentences for one in seen} == {80}
    assert f"without what left with {left} notes" in within.knowledge


def test_a_blind_encoder_keeps_all_limits() -> None:
    found = difference(Blind(), notes(24, 4), notes(48, 5), SETTINGS)
    assert [(one.value, one.baseline) for one in found[:2]] == [(1, 1), (1, 1)]
    assert not broken(found)


def sentence(rows: list[int], tags: list[int], casing: int = 0) -> RaggedSentences:
    values = np.array(rows, dtype=np.float32)[:, None]
    return RaggedSentences(
        values, np.full(len(rows), casing, np.uint8), np.array(tags, np.uint8), np.array([len(rows)])
    )


@pytest.mark.parametrize(
    ("rows", "tags", "casing", "alike", "equal"),
    [
        ([5, 7, 7, 6], [0, 1, 2, 0], 0, True, True),
        # Other surrogates, and other lengths of them.
        ([5, 9, 8, 6], [0, 1, 2, 0], 0, True, False),
        ([5, 9, 6], [0, 1, 0], 0, True, False),
        # Another category, two spans, another word, order or casing.
        ([5, 7, 7, 6], [0, 3, 4, 0], 0, False, False),
        ([5, 7, 7, 6], [0, 1, 1, 0], 0, False, False),
        ([5, 7, 7, 4], [0, 1, 2, 0], 0, False, False),
        ([6, 7, 7, 5], [0, 1, 2, 0], 0, False, False),
        ([5, 7, 7, 6], [0, 1, 2, 0], 1, False, False),
    ],
)
def test_sentences_recur_whatever_the_surrogates(
    rows: list[int], tags: list[int], casing: int, alike: bool, equal: bool
) -> None:
    earlier, later = sentence([5, 7, 7, 6], [0, 1, 2, 0]), sentence(rows, tags, casing)
    assert recurring(earlier, later).tolist() == [alike]
    assert recurring(earlier, later, exactly=True).tolist() == [equal]


def test_what_nobody_labelled_recurs_with_other_surrogates_too() -> None:
    earlier = sentence([5, 7, 7, 6], [0, UNKNOWN_TAG, UNKNOWN_TAG, 0])
    assert recurring(earlier, sentence([5, 1, 6], [0, UNKNOWN_TAG, 0])).tolist() == [True]
    assert recurring(earlier, sentence([5, 1, 6], [0, 1, 0])).tolist() == [False]


def test_no_clinical_sentence_is_an_error() -> None:
    short = sentence([1, 2], [0, 0])
    with pytest.raises(ConfigurationError, match="clinical"):
        recurrence_findings(short, short, [short], SETTINGS)
