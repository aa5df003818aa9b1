"""`--self-distil`: no label of a share is learned, but what heads say of sentences that they have not seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from aggregator.training.defences.everything import Everything
from aggregator.training.defences.self_distilling import HeldOutLabels, SelfDistillation
from aggregator.training.judging.influence import ALL_SITES, InfluenceMode, without
from aggregator.training.judging.operating_points import left_out, shortened
from aggregator.training.plan import HEAD, plan_head
from aggregator.training.pool import PUBLIC, Pool, as_sentences, part_of, read_blocks
from protocols.payload.opening import open_payload
from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences, SentenceSource
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger
from tests.aggregator.training.pools import DIM, SCHEME, SITES, block, material, write_pool
from tests.loop import Loop, done, provider, refused, train_head
from tests.protocols.payload.blocks import write_payload

TAGS = len(SCHEME.tags)
PARTS = 3


@pytest.fixture(scope="module")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, ...]]:
    return write_pool(tmp_path_factory.mktemp("pool"))


def rows_of(source: SentenceSource, generator: np.random.Generator | None = None) -> Iterator[tuple[bytes, bytes]]:
    """Every sentence of a pass: its rows, and its tags."""
    for batch in source.batches(16, generator):
        for values, tags, length in zip(batch.inputs, batch.tags, batch.lengths.tolist(), strict=True):
            yield values[:length].numpy().tobytes(), tags[:length].numpy().tobytes()


def always(tag: int) -> Tagger:
    """A head that takes every token for the same."""
    head = BiLSTMCRF(BiLSTMCRFConfig(DIM, TAGS, hidden=4)).eval()
    with torch.no_grad():
        for weight in head.parameters():
            weight.zero_()
        head.output.bias[tag] = 50.0
    return head


def test_every_teacher_lacks_a_part_of_each_share_and_the_student_sees_all(
    payloads: dict[str, tuple[Path, ...]],
) -> None:
    seen: list[set[bytes]] = []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **named: object) -> Tagger:
        seen.append({values for values, _ in rows_of(source)})
        return always(0)

    asked = replace(material(payloads), learn=learn)
    SelfDistillation(Everything(), PARTS).train(asked)
    *teachers, student = seen
    with replace(asked, held_out=False).pool() as pool:
        assert student == {values for values, _ in rows_of(pool)}
    with replace(asked, payloads={PUBLIC: payloads[PUBLIC]}).pool() as pool:
        public = {values for values, _ in rows_of(pool)}
    assert len(teachers) == PARTS
    shared = student - public
    for values in shared:
        # One of them, and one alone, can say of it what somebody says who has not seen it.
        assert sum(values not in teacher for teacher in teachers) == 1
    assert all(public <= teacher for teacher in teachers)
    sizes = [len(shared - teacher) for teacher in teachers]
    assert max(sizes) - min(sizes) < 0.1 * len(shared)


def test_attack_a_student_learns_the_same_whatever_the_labels_of_a_sentence_are(tmp_path: Path) -> None:
    """Of each sentence: its own label reaches no teacher that labels it, so nothing but what others say of it reaches the head."""
    dice = np.random.default_rng(0)
    lines = [([int(one) for one in dice.integers(18, 40, 5)], [0] * 5) for _ in range(40)]
    changed = [*lines[:7], (lines[7][0], [1, 0, 0, 3, 0]), *lines[8:]]
    found: list[NDArray[np.uint8]] = []
    for name, some in (("as-it-is", lines), ("changed", changed)):
        path = write_payload(tmp_path / f"{name}.parquet", iter([block(some)]), dim=DIM)
        asked = material({"ash": (path,)}, epochs=1)
        part = int(part_of(np.array([7]), PARTS)[0])
        with replace(asked, without_part=(part, PARTS)).pool() as pool:
            teacher = train_tagger(pool, TAGS, asked.config, shape=asked.shape)
        [stored] = read_blocks(path)
        labels = HeldOutLabels([teacher] * PARTS, frozenset(), lambda sentences, generator: sentences)
        one = stored.select(np.array([7]))
        found.append(labels(path, one, np.array([7]), np.random.default_rng(5)))
    assert (found[0] == found[1]).all()


def test_a_sentence_is_labelled_by_the_teacher_that_has_not_seen_it(payloads: dict[str, tuple[Path, ...]]) -> None:
    teachers = [always(0), always(1), always(3)]
    labels = HeldOutLabels(teachers, frozenset(payloads[PUBLIC]), lambda sentences, generator: sentences)
    with open_payload(payloads["ash"][0]) as reader:
        stored = as_sentences(reader.read_block(0))
    rows = np.arange(stored.sentences)
    tags = labels(payloads["ash"][0], stored, rows, np.random.default_rng(0))
    expected = np.array([0, 1, 3], dtype=np.uint8)[part_of(rows, PARTS)]
    assert (tags == np.repeat(expected, stored.lengths)).all()
    unknown = replace(stored, tags=np.full_like(stored.tags, UNKNOWN_TAG))
    assert (labels(payloads["ash"][0], unknown, rows, np.random.default_rng(0)) == UNKNOWN_TAG).all()
    assert (labels(payloads[PUBLIC][0], stored, rows, np.random.default_rng(0)) == stored.tags).all()


def test_labels_are_drawn_anew_in_every_pass_and_what_is_held_out_keeps_its_own(
    payloads: dict[str, tuple[Path, ...]],
) -> None:
    torch.manual_seed(0)
    unsure = BiLSTMCRF(BiLSTMCRFConfig(DIM, TAGS, hidden=4)).eval()
    labels = HeldOutLabels([unsure] * PARTS, frozenset(), lambda sentences, generator: sentences)
    asked = replace(material(payloads), relabel=labels)
    with asked.pool() as pool:
        passes = [sorted(rows_of(pool, np.random.default_rng(seed))) for seed in (0, 0, 1)]
        assert passes[0] == passes[1] != passes[2]
        # In the order of the disk, as scores are taken, labels are the shares' own.
        assert sorted(rows_of(pool)) == sorted(rows_of(Pool(asked.files, held_out=False)))
    with asked.held_out_pool(asked.files) as held_out, Pool(asked.files, held_out=True) as plain:
        assert list(rows_of(held_out)) == list(rows_of(plain))
    assert asked.hasten().relabel is None


def test_the_head_finds_what_one_that_learned_the_labels_finds(payloads: dict[str, tuple[Path, ...]]) -> None:
    asked = material(payloads, epochs=8)

    def right(head: Tagger) -> float:
        with asked.held_out_pool(asked.files) as pool:
            batches = list(pool.batches(64))
        hits = sum(int((head.decode(batch) == batch.tags).sum()) for batch in batches)
        return hits / sum(batch.tags.numel() for batch in batches)

    plain = Everything().train(asked).head
    trained = SelfDistillation(Everything(), PARTS).train(asked)
    assert right(plain) > 0.95
    assert right(trained.head) > right(plain) - 0.03
    assert trained.sentences == Everything().train(replace(asked, config=TaggingConfig(1, batch=16))).sentences


def test_what_is_read_of_a_sentence_is_what_the_teacher_is_shown() -> None:
    shown: list[float] = []

    def read(sentences: RaggedSentences, generator: np.random.Generator) -> RaggedSentences:
        shown.append(float(generator.random()))
        return sentences

    dice = np.random.default_rng(1)
    made = block([([int(one) for one in dice.integers(18, 40, 4)], [0] * 4) for _ in range(6)])
    stored = RaggedSentences(made.values, made.casing, made.tags, made.lengths.astype(np.int64))
    labels = HeldOutLabels([always(0)] * PARTS, frozenset(), read)
    labels(Path("share.parquet"), stored, np.arange(6), np.random.default_rng(0))
    # Under a draw of its own for each teacher.
    assert len(set(shown)) == PARTS


@pytest.mark.parametrize("mode", [InfluenceMode.FAST, InfluenceMode.FULL])
def test_what_teachers_take_is_planned_from_the_first_step(
    payloads: dict[str, tuple[Path, ...]], mode: InfluenceMode
) -> None:
    taken: list[int] = []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **named: object) -> Tagger:
        taken.append(config.epochs * -(-source.sentences // config.batch))
        return always(0)

    asked = replace(material(payloads, epochs=8), learn=learn)
    defence = SelfDistillation(Everything(), PARTS)
    planned = plan_head(asked, defence, mode, measured=True, compared=False, points=True)
    asked_for = {HEAD: asked} | {left_out(site): shortened(asked.without(site)) for site in sorted(payloads)}
    asked_for |= {without(site): asked.without(site) for site in SITES}
    if mode is InfluenceMode.FAST:
        hasty = asked.hasten()
        asked_for |= {ALL_SITES: hasty} | {without(site): hasty.without(site) for site in SITES}
    for phase in planned:
        if phase.kind in ("", "head") and phase.name not in asked_for:
            continue
        taken.clear()
        defence.train(asked_for.pop(phase.name))
        assert phase.trainings == len(taken) == PARTS + 1
        assert phase.steps == pytest.approx(sum(taken), rel=0.3 if phase.kind == "hasty" else 0.02)
    assert not asked_for


class TestCommand:
    def test_the_head_finds_what_the_pool_taught_and_says_how(self, loop: Loop) -> None:
        shown = done(train_head(loop, "--self-distil", 2, "--no-operating-points")).stdout
        assert "2 teachers, each without a part of the pool, labelled the part that they had not seen" in shown
        record = json.loads((loop.provider / "head" / "training.json").read_text())
        assert record["self_distilled"] == 2
        assert all(site["f1"] > 0.5 for site in record["sites"])
        assert {one["site"] for one in record["shares"]} == {"north", "south"}

    def test_one_that_learns_the_labels_says_nothing_of_it(self, built_loop: Loop) -> None:
        assert "self_distilled" not in json.loads((built_loop.provider / "head" / "training.json").read_text())

    def test_what_does_not_go_together_is_refused(self, loop: Loop) -> None:
        at = ("--workspace", loop.provider)
        refused(provider("train-head", "--self-distil", 2, "--distil", loop.notes("public"), *at), 2, "--distil beside")
        refused(provider("train-head", "--self-distil", 1, *at), 2, "--self-distil")

    def test_another_number_of_teachers_is_another_training(self, loop: Loop) -> None:
        kept = loop.provider / "unfinished" / "train-head"
        kept.mkdir(parents=True)
        (kept / "inputs.json").write_text(json.dumps({"self_distil": 2}))
        command = ("train-head", "--epochs", 1, "--influence", "none", "--no-operating-points", "--resume")
        assert "self_distil" in refused(provider(*command, "--self-distil", 3, "--workspace", loop.provider), 2)
