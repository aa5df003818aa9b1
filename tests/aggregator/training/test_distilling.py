"""`--distil`: the head learns from public text as the pool's head labels it, and of a share nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aggregator.commands.learning.heads import head_lines
from aggregator.publishing.head_record import HeadOrigin
from aggregator.publishing.quality_gate import FALSE_ALARMS
from aggregator.training.defences import distilling
from aggregator.training.defences.defence import Defence, Defended, Lesson, PoolMaterial
from aggregator.training.defences.distilling import Distillation, digest_of_text, encode_text
from aggregator.training.defences.everything import Everything
from aggregator.training.head import HeadTraining
from aggregator.training.judging.comparison import Distilled
from aggregator.training.judging.influence import InfluenceMode
from aggregator.training.judging.recall import ALL, RecallChange
from aggregator.training.plan import plan_head
from aggregator.training.pool import PUBLIC, Pool, read_blocks
from aggregator.workspace import Workspace, open_workspace
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.corpus import read_corpus
from shared.errors import ConfigurationError, TrainingError
from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import SentenceSource
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.pseudo_labels import pseudo_labels
from shared.taggers.registry import load_head
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.tagging import TaggingConfig, train_tagger
from tests.loop import Loop, done, provider, refused, train_head, values

ALONE = ("--influence", "none", "--no-operating-points")
# Nobody may open it.
NOWHERE = Path("/nowhere/share.parquet")


class Taught(Defence):
    """Gives a teacher that it was made with."""

    name = "taught"
    title = "a teacher that is there"

    def __init__(self, head: Tagger) -> None:
        self.head = head

    def train(self, material: PoolMaterial) -> Defended:
        return Defended(self.head, 64, 640, {})


@pytest.fixture(scope="module")
def workspace(built_loop: Loop) -> Workspace:
    return open_workspace(built_loop.provider)


@pytest.fixture(scope="module")
def construction(workspace: Workspace) -> Construction:
    return load_construction(workspace.representer)


@pytest.fixture(scope="module")
def text(built_loop: Loop, construction: Construction, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encode_text([built_loop.notes("south")], construction, tmp_path_factory.mktemp("text"))


@pytest.fixture
def least(workspace: Workspace, construction: Construction, text: Path, monkeypatch: pytest.MonkeyPatch) -> float:
    """A head of tiny notes may be sure of every token: here it counts as sure of all but the twentieth part of which it is least so."""
    teacher, asked = load_head(workspace.head), material(workspace, construction, NOWHERE)
    sure = []
    for block in read_blocks(text):
        for batch in asked.read(block).batches(64):
            best, marginals = teacher.tags_and_marginals(batch)
            inside = torch.arange(best.shape[1])[None, :] < batch.lengths[:, None]
            sure.append(marginals.gather(2, best[:, :, None])[:, :, 0][inside])
    found = float(torch.cat(sure).quantile(0.05))
    monkeypatch.setattr(distilling, "LEAST_SURE", found)
    return found


def student(text: Path, teacher: Tagger, material: PoolMaterial) -> dict[str, torch.Tensor]:
    return Distillation(Taught(teacher), text).train(material).head.state_dict()


def material(workspace: Workspace, construction: Construction, share: Path) -> PoolMaterial:
    tags, decoding = len(construction.scheme.tags), construction.decoding()
    assert decoding is not None
    shape = BiLSTMCRFConfig(decoding.dim, tags, hidden=6)
    payloads = {PUBLIC: (workspace.public_share,), "north": (share,)}
    return PoolMaterial(
        payloads, tags, TaggingConfig(epochs=1), False, None, True, train_tagger, shape, decoder=decoding
    )


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(values, other[name]) for name, values in one.items())


def test_attack_a_student_sees_no_share(workspace: Workspace, construction: Construction, text: Path) -> None:
    teacher = load_head(workspace.head)
    read: list[list[Path]] = []

    def learn(
        source: SentenceSource, tags: int, config: TaggingConfig, *, shape: TaggerConfig | None = None, **named: object
    ) -> Tagger:
        assert isinstance(source, Pool)
        read.append(list(source.payloads))
        return train_tagger(source, tags, config, shape=shape)

    asked = material(workspace, construction, NOWHERE)
    first = student(text, teacher, replace(asked, learn=learn))
    [(own, labelled)] = read
    assert own == workspace.public_share
    assert labelled.name == text.name
    assert not labelled.exists()
    # The share may be any: what the teacher says of public text is all that tells of it.
    assert equal(first, student(text, teacher, material(workspace, construction, workspace.public_share)))
    torch.manual_seed(1)
    other = BiLSTMCRF(BiLSTMCRFConfig(teacher.config.inputs, teacher.config.tags, hidden=6))
    assert not equal(first, student(text, other, asked))


def test_text_is_labelled_by_the_teacher_where_it_is_sure(
    workspace: Workspace, construction: Construction, text: Path, built_loop: Loop, least: float
) -> None:
    notes = list(read_corpus(built_loop.notes("south")))
    assert sum(block.sentences for block in read_blocks(text)) > len(notes)
    # Labels that the notes have are left out: the text is what anybody has.
    assert not any(block.tags.any() for block in read_blocks(text))
    seen: list[np.ndarray] = []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **named: object) -> Tagger:
        assert isinstance(source, Pool)
        seen.extend(block.tags for block in read_blocks(source.payloads[-1]))
        return load_head(workspace.head)

    teacher = load_head(workspace.head)
    student(text, teacher, replace(material(workspace, construction, NOWHERE), learn=learn))
    tags = np.concatenate(seen)
    assert {0, UNKNOWN_TAG} < set(tags.tolist())
    asked = material(workspace, construction, NOWHERE)
    labelled = [pseudo_labels(teacher, asked.read(block), least) for block in read_blocks(text)]
    assert (tags == np.concatenate(labelled)).all()


def test_what_a_student_takes_is_planned_from_the_first_step(
    workspace: Workspace, construction: Construction, text: Path
) -> None:
    taken: list[int] = []

    def learn(source: SentenceSource, tags: int, config: TaggingConfig, **named: object) -> Tagger:
        taken.append(config.epochs * -(-source.sentences // config.batch))
        return load_head(workspace.head)

    asked = replace(material(workspace, construction, workspace.public_share), learn=learn, undersampling=0.5)
    defence = Distillation(Everything(), text)
    head, *_ = plan_head(asked, defence, InfluenceMode.NONE, measured=False, compared=False)
    defence.train(asked)
    assert head.trainings == len(taken) == 2
    # At most a pass of the student more or less.
    assert head.steps == pytest.approx(sum(taken), rel=0.5)
    assert head.steps >= 2 * taken[0]


@pytest.mark.usefixtures("least")
def test_a_student_is_held_against_its_teacher(workspace: Workspace, construction: Construction, text: Path) -> None:
    teacher = load_head(workspace.head)
    torch.manual_seed(1)
    empty = BiLSTMCRF(BiLSTMCRFConfig(teacher.config.inputs, teacher.config.tags, hidden=6))
    for student, worse in ((teacher, False), (empty, True)):
        asked = replace(
            material(workspace, construction, workspace.public_share), learn=lambda *_, student=student, **__: student
        )
        defended = Distillation(Taught(teacher), text).train(asked)
        assert defended.lesson is not None
        assert defended.lesson.teacher is teacher
        assert defended.lesson.tokens > defended.lesson.sure > defended.lesson.phi > 0
        told = Distilled.of("ab", defended.lesson).compare_with_teacher(defended, asked, construction.scheme)
        assert any(change.is_worse for change in told.changes) is worse
        assert {change.category for change in told.changes} >= {ALL, FALSE_ALARMS}


def test_text_in_which_nothing_is_surely_phi_is_refused(workspace: Workspace) -> None:
    with pytest.raises(TrainingError, match="got 90 tokens without; distil text that is written as the notes are"):
        Distilled.of("ab", Lesson(load_head(workspace.head), 90, 80, 0))


@pytest.mark.parametrize(("recall", "worse"), [(0.9, False), (0.6, True)])
def test_a_student_that_is_worse_is_told_of(recall: float, worse: bool) -> None:
    change = RecallChange(ALL, 400, recall, 0.91, recall - 0.93, recall - 0.89)
    trained = HeadTraining(
        TaggingConfig(),
        10,
        100,
        HeadOrigin("aa" * 32, ()),
        0,
        public=True,
        redrawn=True,
        distilled=Distilled("ab", 4000, 3900, 50, (change,)),
    )
    lines = head_lines(trained)
    assert any(
        "of 4000 tokens of the text the teacher was sure of 97.5%, and took 1.25% for PHI" in line for line in lines
    )
    assert any(line.startswith(f"  {ALL:20} {recall:.3f}, teacher 0.910") for line in lines)
    assert any(line.startswith("WARNING: this head is worse than the one that taught it") for line in lines) is worse


class TestCommand:
    def test_a_student_finds_what_the_pool_taught_and_says_so(self, loop: Loop) -> None:
        notes = loop.notes("public")
        shown = done(train_head(loop, "--distil", notes, "--no-operating-points")).stdout
        assert "has seen no share" in shown
        assert "recall against the head of the pool, which taught this one" in shown
        record = json.loads((loop.provider / "head" / "training.json").read_text())
        assert all(site["f1"] > 0.5 for site in record["sites"])
        assert record["distilled"]["text"] == digest_of_text([notes])
        # Whose shares taught it stays on record: a withdrawn one is no part of the next.
        assert {one["site"] for one in record["shares"]} == {"north", "south"}

    def test_one_that_learns_from_the_pool_says_nothing_of_it(self, loop: Loop) -> None:
        plain = values(provider("train-head", "--epochs", 1, *ALONE, "--workspace", loop.provider, "--json"))
        assert "distilled" not in plain

    def test_other_text_is_another_training(self, loop: Loop) -> None:
        kept = loop.provider / "unfinished" / "train-head"
        kept.mkdir(parents=True)
        (kept / "inputs.json").write_text(json.dumps({"public text": None}))
        command = ("train-head", "--epochs", 1, *ALONE, "--workspace", loop.provider, "--resume")
        assert "public text" in refused(provider(*command, "--distil", loop.notes("south")), 2)

    def test_text_without_a_word_is_refused(self, loop: Loop, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        (empty / "a.txt").write_text(" \n")
        before = (loop.provider / "head" / "training.json").read_bytes()
        line = refused(provider("train-head", "--distil", empty, "--workspace", loop.provider), 2)
        assert "at least one token" in line
        assert (loop.provider / "head" / "training.json").read_bytes() == before


def test_shares_of_vectors_have_no_student(
    tmp_path: Path, construction: Construction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(construction), "decoding", lambda self: None)
    with pytest.raises(ConfigurationError, match="expected shares of codes"):
        encode_text([tmp_path], construction, tmp_path)
