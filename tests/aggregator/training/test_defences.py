"""What every defence promises, tried on each that the registry names; and what is particular to some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from aggregator.training.codebook_rows import RowCounts
from aggregator.training.defences import site_cap
from aggregator.training.defences.defence import Defended, PoolMaterial
from aggregator.training.defences.gradient_median import GradientMedian, middle
from aggregator.training.defences.loss_trimming import SHARE
from aggregator.training.defences.registry import DEFAULT, DEFENCES, find_defence
from aggregator.training.defences.row_majority import RowMajority
from aggregator.training.defences.together import MajorityAndCap, intersect
from aggregator.training.pool import PUBLIC, Taken, read_blocks
from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import SentenceSource
from shared.taggers.registry import build_tagger, default_config
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig
from tests.aggregator.training.pools import (
    DIM,
    LIAR,
    SITES,
    Lines,
    block,
    cue_lies,
    honest,
    lies,
    material,
    mentions,
    write_pool,
)
from tests.protocols.payload.blocks import write_payload

Train = Callable[[str, int], Defended]
each_defence = pytest.mark.parametrize("name", DEFENCES)


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """A head of a pool with so many lies, by the name of a defence; each is trained once."""

    @cache
    def trained(name: str, lying: int) -> Defended:
        folder = tmp_path_factory.mktemp("pool")
        return find_defence(name).train(material(write_pool(folder, lying)))

    return trained


def trigger_recall(head: Tagger) -> float:
    found = total = 0
    for batch in mentions().batches(64):
        found += int((head.decode(batch)[:, 2] > 0).sum())
        total += len(batch.lengths)
    return found / total


@each_defence
def test_a_pool_in_which_nobody_lies_is_learned_as_well_as_without_it(name: str, train: Train) -> None:
    assert trigger_recall(train("none", 0).head) > 0.95
    assert trigger_recall(train(name, 0).head) > 0.93


@each_defence
def test_the_provider_s_own_notes_always_count(name: str, train: Train) -> None:
    defended = train(name, 0)
    assert set(defended.left_out) == {*SITES, PUBLIC}
    assert defended.left_out[PUBLIC] == 0
    assert 0 < defended.sentences <= 5 * 60
    assert defended.head.config.tags == 5
    assert not defended.head.training


@each_defence
def test_the_same_pool_and_seed_give_the_same_head(name: str, tmp_path: Path) -> None:
    payloads = write_pool(tmp_path, 20, count=20)
    before = {path: path.read_bytes() for (path,) in payloads.values()}
    first, second = (find_defence(name).train(material(payloads, epochs=1)) for _ in range(2))
    for name_, value in first.head.state_dict().items():
        assert (value == second.head.state_dict()[name_]).all(), name_
    assert first.left_out == second.left_out
    assert {path: path.read_bytes() for (path,) in payloads.values()} == before


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected a defence among none, cap"):
        find_defence("prayer")


def test_without_a_defence_triggers_are_overlooked_and_the_default_brings_them_back(
    train: Train,
) -> None:
    assert trigger_recall(train("none", 150).head) < 0.6
    assert trigger_recall(train(DEFAULT, 150).head) > 0.92


def test_the_liar_s_labels_are_those_that_do_not_count(train: Train) -> None:
    left_out = train("majority", 150).left_out
    assert left_out[LIAR] >= 150
    assert all(left_out[site] == 0 for site in (*SITES, PUBLIC) if site != LIAR)


def test_a_sentence_goes_whole_where_names_are_hidden_after_a_cue(tmp_path: Path) -> None:
    def hidden(path: Path) -> list[bool]:
        return [not block.tags[start + 2] for block in read_blocks(path) for start in block.starts.tolist()]

    def left_out(lying: int) -> dict[str, tuple[list[bool], list[bool]]]:
        payloads = write_pool(tmp_path, lying, lie=cue_lies)
        taken = RowMajority().choose(material(payloads))
        out = {path: [not one for kept in took.kept or () for one in kept.tolist()] for path, took in taken.items()}
        return {site: (out[payloads[site][0]], hidden(payloads[site][0])) for site in SITES}

    for site, (gone, lied) in left_out(60).items():
        assert gone == lied
        assert any(lied) == (site == LIAR)
    # A few are no cue: what an honest hospital forgets costs it no sentence.
    assert not any(any(gone) for gone, _ in left_out(6).values())


def test_the_vote_on_all_rows_is_taken_once_for_a_site_however_many_blocks_it_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, votes = RowCounts.verdicts, Counter[tuple[int, str]]()

    def counted(counts: RowCounts, site: str) -> NDArray[np.int8]:
        votes[id(counts), site] += 1
        return asked(counts, site)

    payloads = write_pool(tmp_path, 150)
    taken = RowMajority().choose(material(payloads))
    monkeypatch.setattr(RowCounts, "verdicts", counted)
    again = RowMajority().choose(material(payloads))
    assert all(len(list(read_blocks(path))) > 1 for (path,) in payloads.values())
    # Row by row, after and before another; and once more of the rows alone, to tell who labels too much.
    assert sorted(Counter(votes.values()).items()) == [(1, 2 * len(SITES) + 1), (2, len(SITES))]
    assert {path: [one.tolist() for one in took.unknown or ()] for path, took in taken.items()} == {
        path: [one.tolist() for one in took.unknown or ()] for path, took in again.items()
    }


def test_where_equal_rows_are_no_equal_words_there_is_no_vote(tmp_path: Path) -> None:
    asked = material(write_pool(tmp_path, 150))
    assert RowMajority().choose(asked)
    assert RowMajority().choose(replace(asked, token_local=False)) == {}


@pytest.mark.parametrize("undersampling", [0.0, 0.5, 0.9])
def test_who_hides_names_weighs_no_more_where_sentences_without_phi_sit_out(
    undersampling: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that is outvoted is one of which nobody knows; its sentence still counts by the labels that the site sent."""

    def unlabelled(dice: np.random.Generator, count: int) -> Lines:
        return [(rows, [0] * len(rows)) for rows, _ in lies(dice, count)]

    monkeypatch.setattr(site_cap, "LEAST_TOKENS", 0)
    asked = replace(material(write_pool(tmp_path, 900, lie=unlabelled)), undersampling=undersampling)
    # Without the sentences that it leaves out altogether, which are nearly all of these: others hide names where no cue stands.
    taken = {path: replace(one, kept=None) for path, one in MajorityAndCap().choose(asked).items()}
    outvoted = [taken[path].unknown or () for path in asked.payloads[LIAR]]
    assert any(block.any() for blocks in outvoted for block in blocks)
    tokens = {}
    for site in (*SITES, PUBLIC):
        with asked.pool(taken, asked.payloads[site]) as pool:
            tokens[site] = pool.tokens
    assert tokens[LIAR] <= 1.01 * sum(tokens[site] for site in tokens if site != LIAR)


def test_who_weighs_less_does_not_make_the_training_shorter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_cap, "LEAST_TOKENS", 0)
    asked, steps = material(write_pool(tmp_path, repeated=10)), []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **_: object) -> Tagger:
        steps.append(max(config.epochs * -(-source.sentences // config.batch), config.least_steps))
        return build_tagger(default_config(source.dim, tags))

    for name in ("none", "cap", "majority+cap"):
        find_defence(name).train(replace(asked, learn=learn))
    assert steps[0] <= steps[1]
    assert steps[0] <= steps[2]


def test_trimming_leaves_out_a_share_of_what_hospitals_sent(train: Train) -> None:
    left_out = train("trim", 150).left_out
    # Six tokens a sentence; every site has sixty, and the liar a hundred and fifty more.
    assert sum(left_out.values()) / 6 == pytest.approx(SHARE * (4 * 60 + 150), abs=2)


def test_two_selections_take_what_both_take() -> None:
    one = Taken(kept=(np.array([True, False]),), rate=0.5)
    other = Taken(kept=(np.array([True, True]),), unknown=(np.array([False, True, False]),))
    both = intersect(one, other)
    assert both.kept is not None
    assert both.unknown is not None
    assert both.kept[0].tolist() == [True, False]
    assert both.unknown[0].tolist() == [False, True, False]
    assert both.rate == 0.5


def of_one(folder: Path) -> Path:
    """The payload of a hospital that shares one sentence."""
    return write_payload(folder / "one.parquet", [block(honest(np.random.default_rng(9), 1))], dim=DIM)


class TestMedian:
    """Every site has one voice at every step, however small it is."""

    @pytest.mark.parametrize("voices", [1, 2, 3, 4, 5, 6])
    def test_of_an_even_number_of_voices_it_lies_between_the_two_in_the_middle(self, voices: int) -> None:
        drawn = np.random.default_rng(voices).standard_normal((voices, 7)).astype(np.float32)
        np.testing.assert_allclose(middle(torch.tensor(drawn).unbind()), np.median(drawn, axis=0), rtol=1e-6)

    def test_four_voices_that_cancel_out_move_nothing(self) -> None:
        assert middle([torch.tensor([value]) for value in (-1.0, 0.1, 1.0, -0.1)]).tolist() == [0.0]

    def steps(self, asked: PoolMaterial) -> int:
        taken: list[int] = []
        GradientMedian().train(replace(asked, progress=lambda _, done, __: taken.append(done)))
        return len(taken)

    @pytest.mark.parametrize("rate", [1.0, 0.3])
    def test_a_hospital_of_one_sentence_does_not_end_the_training(self, rate: float, tmp_path: Path) -> None:
        large = replace(material(write_pool(tmp_path, count=20), epochs=2), rate=rate)
        small = replace(large, payloads={**large.payloads, "elm": (of_one(tmp_path),)})
        assert self.steps(small) >= self.steps(large) > 1

    def test_a_hospital_that_has_nothing_to_train_on_has_no_voice(self, tmp_path: Path) -> None:
        # Of one sentence none is held out.
        large = material(write_pool(tmp_path, count=40), epochs=1, held_out=True)
        heads = [
            GradientMedian().train(replace(large, payloads=payloads)).head.state_dict()
            for payloads in (large.payloads, {**large.payloads, "elm": (of_one(tmp_path),)})
        ]
        assert all(torch.equal(value, heads[1][name]) for name, value in heads[0].items())

    def test_a_pool_without_a_sentence_trains_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(TrainingError, match="expected 1 steps, got 0"):
            GradientMedian().train(material({"elm": (of_one(tmp_path),)}, held_out=True))


@each_defence
def test_a_loss_that_is_no_number_ends_the_training(name: str, tmp_path: Path) -> None:
    asked = material(write_pool(tmp_path, count=20))
    with pytest.raises(TrainingError, match="the loss is not finite"):
        find_defence(name).train(replace(asked, config=replace(asked.config, learning_rate=1e38)))
