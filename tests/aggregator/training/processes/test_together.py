"""Several processes train one tagger: the steps of one process with all batches, whoever is cut, and however uneven their parts are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aggregator.training.processes.group import Group
from shared.sentences.ragged import Batch, RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig, train_tagger
from shared.training.together import require_same
from tests.aggregator.training.processes.forked import made, said, together
from tests.shared.training.toy import VECTORS, toy

SHAPE = BiLSTMCRFConfig(VECTORS.dim, 3, hidden=6, input_dropout=0, variational_dropout=0, dropout=0)
SENTENCES = toy(22)
# Rows of the batches of each process: the second has one batch less, and another size in between.
ROWS = ([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], [[10, 11, 12, 13, 14], [15, 16]])
CONFIG = TaggingConfig(epochs=2, batch=4, learning_rate=1e-2, decay=0.0)


@dataclass(frozen=True)
class Part:
    """Given batches of some sentences, in the order given."""

    rows: list[list[int]]
    sentences: int = sum(len(rows) for part in ROWS for rows in part)
    dim: int = VECTORS.dim

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        return (batch_of(rows) for rows in self.rows)


def batch_of(rows: list[int]) -> Batch:
    return SENTENCES.batch(np.array(sorted(rows, key=lambda row: -SENTENCES.lengths[row])), SENTENCES.starts)


def one_process() -> dict[str, torch.Tensor]:
    """The same by the definition: one process, whose batches are those of both together."""
    with seed_training(CONFIG.seed):
        tagger = build_tagger(SHAPE).train()
    optimiser = torch.optim.NAdam(tagger.parameters(), lr=CONFIG.learning_rate)
    for _ in range(CONFIG.epochs):
        for number in range(3):
            rows = [row for part in ROWS for row in (part[number] if number < len(part) else [])]
            optimiser.zero_grad()
            torch.autograd.backward(tagger.loss(batch_of(rows)).mean())
            torch.nn.utils.clip_grad_norm_(tagger.parameters(), CONFIG.clip)
            optimiser.step()
    return dict(tagger.state_dict())


def test_uneven_parts_take_the_steps_of_one_process_with_all_batches(tmp_path: Path) -> None:
    def run(group: Group) -> dict[str, torch.Tensor]:
        # The rate stays but for the last step, which has its hundredth: none of it falls here.
        return dict(train_tagger(Part(ROWS[group.index]), 3, CONFIG, shape=SHAPE, group=group).state_dict())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shared.training.loop.Descent.fall_late", lambda *given: None)
        assert together(tmp_path, run) == [0, 0]
    expected = one_process()
    for index in range(2):
        for name, weights in made(tmp_path, index).items():
            assert torch.allclose(weights, expected[name], rtol=1e-4, atol=1e-6), name
    with seed_training(CONFIG.seed):
        begun = build_tagger(SHAPE).state_dict()
    assert any(not torch.allclose(begun[name], weights, atol=1e-3) for name, weights in expected.items())


@dataclass(frozen=True)
class Halves:
    """Every second sentence, in an order of its own."""

    index: int
    sentences: int = 60
    dim: int = VECTORS.dim

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        assert generator is not None
        own: RaggedSentences = toy(60).select(np.arange(self.index, 60, 2))
        return own.batches(size, generator)


def test_a_training_whose_process_was_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    config, shape = replace(CONFIG, epochs=4), replace(SHAPE, dropout=0.4)

    def run(group: Group, kept: Path, dies_at: int = 0) -> dict[str, torch.Tensor]:
        def progress(stage: str, done: int, total: int) -> None:
            if done == dies_at and group.index:
                os.kill(os.getpid(), signal.SIGKILL)

        path = None if group.index else kept
        source = Halves(group.index)
        return dict(
            train_tagger(source, 3, config, shape=shape, group=group, checkpoint=path, progress=progress).state_dict()
        )

    assert together(tmp_path / "whole", lambda group: run(group, tmp_path / "unused")) == [0, 0]
    # Of eight steps a pass, in the third.
    codes = together(tmp_path / "cut", lambda group: run(group, tmp_path / "kept", dies_at=19))
    assert codes == [6, -signal.SIGKILL]
    assert "process 0 of 2: expected all others to go on" in said(tmp_path / "cut", 0)
    before = (tmp_path / "kept").read_bytes()
    assert together(tmp_path / "again", lambda group: run(group, tmp_path / "kept")) == [0, 0]
    assert (tmp_path / "kept").read_bytes() != before
    for index in range(2):
        whole, again = made(tmp_path / "whole", index), made(tmp_path / "again", index)
        assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert all(torch.equal(one, made(tmp_path / "whole", 1)[name]) for name, one in made(tmp_path / "whole", 0).items())


def test_a_loss_that_is_not_finite_in_one_process_ends_all_of_them(tmp_path: Path) -> None:
    def run(group: Group) -> dict[str, torch.Tensor]:
        own = toy(60).select(np.arange(group.index, 60, 2))
        if group.index:
            own = replace(own, values=np.full_like(own.values, np.nan))
        return dict(train_tagger(own, 3, CONFIG, shape=SHAPE, group=group).state_dict())

    assert together(tmp_path, run) == [6, 6]
    for index in range(2):
        assert "the loss is not finite after 0 of" in said(tmp_path, index)


def test_a_process_that_begins_with_other_inputs_is_refused(tmp_path: Path) -> None:
    def run(group: Group) -> dict[str, torch.Tensor]:
        require_same(group, {"shares": ["a", "b"][: 1 + group.index], "seed": 1})
        return {"sum": torch.tensor([float(group.index)])}

    assert together(tmp_path, run) == [0, 2]
    assert "process 1: expected what process 0 begins with, got other shares;" in said(tmp_path, 1)


def test_what_is_handed_out_arrives_whole(tmp_path: Path) -> None:
    sent = [b"", b"\x00", bytes(range(256)) * 50]

    def run(group: Group) -> dict[str, torch.Tensor]:
        found = [group.hand_out(data if not group.index else b"of no account") for data in sent]
        vector = torch.arange(3.0) + group.index
        group.add(vector)
        return {"same": torch.tensor([found == sent]), "sum": vector}

    assert together(tmp_path, run, count=3) == [0, 0, 0]
    for index in range(3):
        assert bool(made(tmp_path, index)["same"])
        assert made(tmp_path, index)["sum"].tolist() == [3.0, 6.0, 9.0]
