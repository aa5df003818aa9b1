"""One cell of the experiments of Friedrich et al. 2019: a method at its setting, trained, judged and attacked.

What every method shares: MEDDOCAN in the place of i2b2 2014, a fresh tagger on what the method shows of the training notes
(for a representer one frozen draw of its noise), judged on dev notes as they are, in-house and so without noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Protocol, cast

import numpy as np
import torch

from bench import corpora
from bench.outcomes import RUNS, score_pipeline
from bench.results_loop import SPANISH, vectors
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.document import Document
from shared.embeddings.files.read import read_vectors
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme, load_scheme
from shared.models.representer import RepresenterConfig
from shared.pipeline.pipeline import Pipeline, RawEncoder
from shared.privacy.attacks.adversary import ENOUGH_OF_A_CONTROL, AdversarySettings, fresh_adversaries
from shared.privacy.material.sharing import ClearEncoder
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.casing import casing_classes
from shared.training import dann, invariance, three_part
from shared.training.dann import DannConfig
from shared.training.invariance import InvarianceConfig
from shared.training.pairs import neighbour_table
from shared.training.representing import TrainingRecord
from shared.training.tagging import TaggingConfig, train_tagger
from shared.training.three_part import ThreePartConfig

INPUTS = ("fasttext", "glove-clinical", "glove-twitter")
NEIGHBOURS = (1, 10, 100, 500, 1000)
DIMS = (50, 100, 300)
TRAINED = ("three-part", "dann", "invariance")
# Where N = 1 there is nobody to take a word for, so nothing is trained against; the attack needs neighbours all the same.
CONTROL_NEIGHBOURS = 100


@dataclass(frozen=True)
class Cell:
    """A method at one setting.

    Args:
        method: "raw" (non-private), "pseudonyms", or one of TRAINED.
        inputs: word vectors, one of INPUTS.
        casing: whether the tagger sees it.
        neighbours: N, the word itself included; 1 for "raw".
        dim: d; 0 for what is not trained.
    """

    method: str
    inputs: str = "fasttext"
    casing: bool = True
    neighbours: int = 1
    dim: int = 0

    @property
    def slug(self) -> str:
        """Name of its runs. Without neighbours all trained methods are one: the task alone."""
        method = "task-only" if self.dim and self.neighbours == 1 else self.method
        size = f"-d{self.dim}" if self.dim else ""
        return f"{method}-{self.inputs}-N{self.neighbours}{size}" + ("" if self.casing else "-caseless")


@dataclass(frozen=True)
class Budget:
    """How long everything is trained.

    Args:
        notes: training notes.
        judged: dev notes.
        three_part: recipe of the paper's procedure.
        dann: recipe of the other one.
        invariance: recipe of ours.
        head_epochs: of the fresh tagger.
        adversaries: recipe of the fresh adversaries, without N and seed. They do not see casing, as in the paper.
        seeds: runs of each cell.
    """

    notes: int
    judged: int
    three_part: ThreePartConfig
    dann: DannConfig
    invariance: InvarianceConfig
    head_epochs: int
    adversaries: AdversarySettings
    seeds: tuple[int, ...] = field(default=(1, 2, 3))


BUDGETS = {
    # One cell in about two minutes on one core; its figures mean nothing but that everything runs.
    "quick": Budget(
        60,
        40,
        ThreePartConfig(task_epochs=4, adversary_epochs=1, joint_epochs=3, adversary_hidden=48),
        DannConfig(epochs=6, adversary_hidden=48),
        InvarianceConfig(epochs=6),
        10,
        AdversarySettings(epochs=5, pairs=300, judged=600, hidden=48, casing=False),
        (1,),
    ),
    # Three seeds; the recipes that two cores can afford for 150 runs.
    "standard": Budget(
        150,
        100,
        ThreePartConfig(task_epochs=4, adversary_epochs=2, joint_epochs=4, adversary_hidden=96),
        DannConfig(epochs=8, adversary_hidden=96),
        InvarianceConfig(epochs=8),
        12,
        AdversarySettings(epochs=50, pairs=500, judged=4000, hidden=96, casing=False),
    ),
    # The lengths and sizes of the paper: 20 + 20 + 40 epochs, adversaries of 300 units, five seeds.
    "paper": Budget(
        500,
        250,
        ThreePartConfig(task_epochs=20, adversary_epochs=20, joint_epochs=40, adversary_hidden=300),
        DannConfig(epochs=60, adversary_hidden=300),
        InvarianceConfig(epochs=40),
        40,
        AdversarySettings(epochs=50, pairs=4000, judged=4000, hidden=300, casing=False),
        (1, 2, 3, 4, 5),
    ),
}


def measure(cell: Cell, budget: Budget, seed: int) -> dict[str, object]:
    """Train and judge; what is trained is attacked too.

    Returns:
        counts by document as in `Outcome`; besides, where they apply: "findings" of the fresh adversaries (without their
        `control`), "record" of the training, "changed": share of the PHI tokens that a pseudonym changes.
    """
    words = inputs(cell.inputs)
    train = sentences(notes("train", budget.notes))
    dev = notes("dev", budget.judged)
    config = TaggingConfig(epochs=budget.head_epochs, seed=seed)
    result: dict[str, object] = {}
    encoder: NoisyRecurrent | RawEncoder = RawEncoder(words, scheme())
    if cell.dim:
        encoder, record = _represented(cell, budget, seed, train)
        shown = encoder.rehearse_share(train, torch.Generator().manual_seed(seed))
        settings = replace(budget.adversaries, neighbours=audited_neighbours(cell), seed=seed)
        found = fresh_adversaries(
            encoder, words, train, sentences(dev), settings, clear=False, cache=RUNS / "neighbours"
        )
        result |= {"findings": [asdict(finding) for finding in found], "record": _without_nan(record)}
    elif cell.method == "pseudonyms":
        shown, result["changed"] = _pseudonymised(train, words, cell.neighbours, seed)
    else:
        shown, _ = index_sentences([train], words)
    if not cell.casing:
        shown, encoder = _caseless(shown), cast(NoisyRecurrent, _Caseless(encoder))
    head = train_tagger(shown, len(scheme().tags), config)
    return result | asdict(score_pipeline(Pipeline(encoder, head), dev))


def control(inputs_name: str, budget: Budget, neighbours: int, seed: int) -> dict[str, float]:
    """The same adversaries on clear word vectors: share of right decisions of each. It is one for all methods and sizes.

    Args:
        inputs_name: word vectors, one of INPUTS.
        budget: its adversaries.
        neighbours: N that is attacked.
        seed: of everything random.
    """
    words = inputs(inputs_name)
    known, target = (sentences(notes(*part)) for part in (("train", budget.notes), ("dev", budget.judged)))
    settings = replace(budget.adversaries, neighbours=neighbours, seed=seed, enough=ENOUGH_OF_A_CONTROL)
    found = fresh_adversaries(
        ClearEncoder(words, scheme()), words, known, target, settings, clear=False, cache=RUNS / "neighbours"
    )
    return {finding.attack.rpartition(" ")[2]: finding.value for finding in found}


@cache
def inputs(name: str) -> WordVectors:
    """Word vectors: fastText of public Spanish text; GloVe-like vectors of the same text; genuine GloVe, but English."""
    if name == "fasttext":
        return vectors("es", corpora.meddocan_texts, SPANISH)
    files = {
        "glove-clinical": "vec_clinical_es_100d/clinical_es.ppmi-svd.100d.vec.gz",
        "glove-twitter": "glove_twitter_25d_12k/glove.twitter.25d.top12k.txt.gz",
    }
    return read_vectors(corpora.path(files[name]))


@cache
def scheme() -> LabelScheme:
    """The labels of MEDDOCAN."""
    return load_scheme("meddocan")


@cache
def notes(split: str, count: int) -> list[Document]:
    """The first notes of a split."""
    return corpora.meddocan(split)[:count]


def sentences(documents: Sequence[Document]) -> TokenisedSentences:
    """All sentences of some notes."""
    return tokenised_corpus(documents, scheme())


def audited_neighbours(cell: Cell) -> int:
    """N that the adversaries attack."""
    return cell.neighbours if cell.neighbours > 1 else CONTROL_NEIGHBOURS


def _represented(
    cell: Cell, budget: Budget, seed: int, train: TokenisedSentences
) -> tuple[NoisyRecurrent, TrainingRecord]:
    """The frozen representer, trained on public notes that are those to be shared, as in the paper."""
    words = inputs(cell.inputs)
    source, known = index_sentences([train], words)
    if not cell.casing:
        source = _caseless(source)
    pseudonyms = Pseudonymiser(Neighbours(words), audited_neighbours(cell))
    table = neighbour_table(source, known, pseudonyms, np.random.default_rng(seed), cache=RUNS / "neighbours")
    shape = RepresenterConfig(words.dim, cell.dim)
    data = source, table, len(scheme().tags), shape
    if cell.neighbours == 1:
        epochs = budget.three_part.task_epochs + budget.three_part.joint_epochs
        made = invariance.train_representer(*data, replace(budget.invariance, epochs=epochs, weight=0.0, seed=seed))
    elif cell.method == "three-part":
        made = three_part.train_representer(*data, replace(budget.three_part, seed=seed))
    elif cell.method == "dann":
        made = dann.train_representer(*data, replace(budget.dann, seed=seed))
    else:
        made = invariance.train_representer(*data, replace(budget.invariance, seed=seed))
    return NoisyRecurrent(words, made[0], scheme()), made[1]


def _pseudonymised(train: TokenisedSentences, words: WordVectors, n: int, seed: int) -> tuple[RaggedSentences, float]:
    """The sentences with every PHI word replaced, once and for all, and the share of the PHI tokens that changed.

    A pseudonym has the casing of its word: a vocabulary in lower case would teach the tagger that PHI never has a capital.
    The reference code trains on ten such draws and on the sentence itself; here nobody sees the sentence itself.
    """
    places = np.flatnonzero(train.tags > 0).tolist()
    before = [train.words[place] for place in places]
    after = Pseudonymiser(Neighbours(words), n).replace(before, np.random.default_rng(seed))
    changed = list(train.words)
    for place, word in zip(places, after, strict=True):
        changed[place] = word
    differing = sum(old != new for old, new in zip(before, after, strict=True))
    shown, _ = index_sentences([train.with_words(changed)], words)
    return replace(shown, casing=casing_classes(train.words)), differing / len(places)


class _Inputs(Protocol):
    """What a pipeline asks of its encoder."""

    @property
    def dim(self) -> int: ...

    @property
    def scheme(self) -> LabelScheme: ...

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences: ...


@dataclass(frozen=True)
class _Caseless:
    """An encoder whose tagger is not told the casing."""

    encoder: _Inputs

    @property
    def dim(self) -> int:
        return self.encoder.dim

    @property
    def scheme(self) -> LabelScheme:
        return self.encoder.scheme

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        return _caseless(self.encoder.noise_free(chunk))


def _caseless(shown: RaggedSentences) -> RaggedSentences:
    return replace(shown, casing=np.zeros_like(shown.casing))


def _without_nan(record: TrainingRecord) -> dict[str, object]:
    # JSON has no NaN, which stands for what a part of the training does not measure.
    return {name: [None if value != value else value for value in values] for name, values in asdict(record).items()}
