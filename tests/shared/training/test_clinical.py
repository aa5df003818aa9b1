"""Adversaries who ask for clinical words and for the note."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from shared.embeddings.vectors import unit_rows
from shared.errors import TrainingError
from shared.models.representer import RepresenterConfig
from shared.sentences.ragged import RaggedSentences
from shared.training.adversarial.adversaries import hold_back
from shared.training.adversarial.clinical import ClinicalTraining, ClinicalWords, NotePairs, train_representer
from shared.training.adversarial.pairs import false_twins, sentences_with_phi
from shared.training.loop import seed_training
from shared.training.three_part import ThreePartConfig

# Of 24 words the first 20 are public, the first four of these common; behind them come three groups.
WORDS, GROUPS, DIM = 24, 3, 10
PUBLIC, COMMON = np.arange(WORDS) < 20, np.arange(WORDS) < 4
VALUES = unit_rows(np.random.default_rng(0).normal(size=(WORDS + GROUPS, DIM)).astype(np.float32))
SHAPE = RepresenterConfig(DIM, dim=6, hidden=8, input_noise=0.01, output_noise=0.01)
RECIPE = ThreePartConfig(task_epochs=1, adversary_epochs=1, joint_epochs=1, adversary_hidden=8)


def notes(count: int, sentences: int = 6, *, topics: bool = False) -> tuple[RaggedSentences, np.ndarray]:
    """Sentences of six tokens, the second of each PHI; with topics each note has words of its own."""
    generator = np.random.default_rng(1)
    of = np.repeat(np.arange(count), sentences)
    ids = generator.choice(np.r_[4:20, 24:27], size=(len(of), 6))
    if topics:
        ids[:] = 4 + of[:, None] % 16
    ids[:, 1] = generator.integers(20, 24, size=len(of))
    tags = np.zeros_like(ids)
    tags[:, 1] = 1
    flat = ids.ravel().astype(np.int32)
    lengths = np.full(len(of), 6)
    return RaggedSentences(VALUES, np.zeros(ids.size, np.uint8), tags.ravel().astype(np.uint8), lengths, flat), of


def training(source: RaggedSentences, of: np.ndarray, recipe: ThreePartConfig = RECIPE) -> ClinicalTraining:
    table = ClinicalWords(PUBLIC, COMMON, 5).table(source)
    learned, held = hold_back(source, table)
    return ClinicalTraining(learned, held, of, table, 3, SHAPE, recipe, lambda *step: None)


class TestWords:
    @pytest.mark.parametrize("n", [2, 5, 17])
    def test_a_word_gives_way_to_the_nearest_clinical_words_and_a_group_to_groups(self, n: int) -> None:
        source, _ = notes(20)
        table = ClinicalWords(PUBLIC, COMMON, n).table(source)
        assert set(np.flatnonzero(table.position >= 0).tolist()) == {*range(4, 20), *range(24, 27)}
        for kind in (np.arange(4, 20), np.arange(24, 27)):
            for own in kind.tolist():
                others = kind[kind != own]
                nearest = others[np.argsort(-(VALUES[others] @ VALUES[own]))][: n - 1]
                assert set(table.neighbours[table.position[own]].tolist()) == set(nearest.tolist())

    def test_labelled_words_are_never_asked_for(self) -> None:
        source, _ = notes(20)
        table = ClinicalWords(PUBLIC, COMMON, 5).table(source)
        rows = sentences_with_phi(source, table)
        assert len(rows) == source.sentences
        offsets, replacements = false_twins(source, rows, table, np.random.default_rng(0))
        assert source.ids is not None
        true = source.ids[source.starts[rows] + offsets]
        assert (source.tags[source.starts[rows] + offsets] == 0).all()
        assert (true != replacements).all()
        assert ((true >= WORDS) == (replacements >= WORDS)).all()

    def test_where_all_words_are_common_these_are_asked_for(self) -> None:
        source, _ = notes(4)
        table = ClinicalWords(PUBLIC, PUBLIC, 5).table(source)
        assert (table.position[4:20] >= 0).all()

    def test_nothing_to_ask_for_is_an_error(self) -> None:
        source, _ = notes(2)
        marked = RaggedSentences(source.values, source.casing, np.ones_like(source.tags), source.lengths, source.ids)
        with pytest.raises(TrainingError, match="public notes or texts"):
            ClinicalWords(PUBLIC, COMMON, 5).table(marked)


class TestNotePairs:
    def test_mates_are_other_sentences_of_the_note_and_strangers_of_others_each_as_likely(self) -> None:
        of = np.array([7, 3, 7, 3, 3, 9, 1, 1, 1, 1])
        lengths = np.array([5, 5, 5, 2, 5, 5, 5, 5, 5, 5])
        pairs = NotePairs(of, lengths)
        # The only sentence of its note is in no pair, nor is one that is too short.
        usable = [0, 1, 2, 4, 6, 7, 8, 9]
        firsts, mates, others = pairs.draw(8000, np.random.default_rng(0))
        assert (of[firsts] == of[mates]).all()
        assert (firsts != mates).all()
        assert (of[firsts] != of[others]).all()
        for drawn in (firsts, mates):
            assert Counter(drawn.tolist()).keys() == set(usable)
            assert min(Counter(drawn.tolist()).values()) > 850
        of_nine = Counter(others[firsts == 9].tolist())
        assert of_nine.keys() == {0, 1, 2, 4}
        assert min(of_nine.values()) > 180

    @pytest.mark.parametrize("of", [[0, 0, 0], [0, 1, 2], [0, 0, 1]])
    def test_without_two_notes_of_several_sentences_nobody_asks(self, of: list[int]) -> None:
        assert not NotePairs(np.array(of), np.full(3, 9)).possible

    def test_a_note_is_known_by_what_its_sentences_share_and_by_nothing_else(self) -> None:
        """The adversary has power: it finds the note where words give it away, and guesses where they don't."""
        recipe = replace(RECIPE, learning_rate=1e-2)
        right: dict[bool, float] = {}
        for topics in (True, False):
            with seed_training(0):
                made = training(*notes(60, topics=topics), recipe)
                # Only for the note: what the words are is asked by others.
                generator = np.random.default_rng(0)
                descent = made.descent(made.adversaries[2])
                for _ in range(40):
                    with torch.no_grad():
                        shown = made._represent_notes(made.source, made.note_pairs, 24, generator)
                    made.loop.descend(made.adversary_loss(*made._decide_notes(*shown)).mean(), descent)
                with torch.no_grad():
                    held = made._decide_notes(*made._represent_notes(made.held, made.held_pairs, 400, generator))
                right[topics] = float(((held[0] > 0).float().mean() + (held[1] < 0).float().mean()) / 2)
        assert right[True] > 0.8
        assert 0.4 < right[False] < 0.6


class TestTraining:
    def test_both_questions_are_in_every_loss(self) -> None:
        with seed_training(0):
            made = training(*notes(8))
            rows = made.with_phi[:4]
            seen = []
            for loss in (made.attack_loss, made.distance_loss):
                total, right = loss(rows)
                made.note_pairs.possible = False
                seen.append((float(total.detach()), float(loss(rows)[0].detach())))
                made.note_pairs.possible = True
                assert 0 <= right <= 1
            (both, words), _ = seen
            # Before anybody has learned each question costs a coin's toss.
            assert both == pytest.approx(2 * math.log(2), rel=0.15)
            assert words == pytest.approx(math.log(2), rel=0.15)
            judged = made.judge_attack()
            assert judged.loss == pytest.approx(2 * math.log(2), rel=0.15)

    def test_the_representer_learns_against_who_asks_for_the_note(self) -> None:
        with seed_training(0):
            made = training(*notes(8))
            loss, _ = made.distance_loss(made.with_phi[:4])
            torch.autograd.backward(loss)
        # The third adversary's decisions are in the representer's loss.
        assert all(weights.grad is not None for weights in made.adversaries[2].parameters())
        assert all(weights.grad is not None for weights in made.representer.output.parameters())

    @pytest.mark.parametrize("several", [True, False])
    def test_a_training_gives_a_frozen_representer_and_its_record(self, several: bool) -> None:
        source, of = notes(8)
        table = ClinicalWords(PUBLIC, COMMON, 5).table(source)
        representer, record = train_representer(source, table, of * several, 3, SHAPE, RECIPE)
        assert not any(parameter.requires_grad for parameter in representer.parameters())
        assert record.part == ["task", "adversaries", "branches", "representation", "restored"]
        # Who asks for the note adds to what is held against the representer.
        assert (record.held_loss[1] > 1) is several
