"""One cell of the experiments of Friedrich et al. 2019: a method at its setting, trained, judged and attacked step by step.

MEDDOCAN stands in the place of i2b2 2014: its 500 training notes, every other dev note to end trainings by, and the rest, which
no training sees, to judge by. Each step of a run is kept in bench/.runs, trainings and continued attacks epoch by epoch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from bench import corpora
from bench.outcomes import RUNS, score_pipeline
from bench.papers.friedrich2019_encoders import Caseless, Noisy, caseless
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
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.material.sharing import ClearEncoder
from shared.privacy.white_box import white_box
from shared.privacy.word_pairs import WhiteBoxSettings
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.text.casing import casing_classes
from shared.training.adversarial.pairs import NeighbourTable, neighbour_table, sentences_with_phi
from shared.training.dann import DannConfig, DannTraining
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig, train_tagger
from shared.training.three_part import Alternation, ThreePartConfig, ThreePartTraining

# At N = 1 a twin is its original, so there is nothing to hide: that run is the control, attacked with other neighbours.
CONTROL_NEIGHBOURS = 100
DIM = 50
TRAINED = ("three-part", "three-part-batches", "three-part-plain", "dann")
WHITE_BOX = WhiteBoxSettings(draws=2, neighbours=10, sentences=0.5)

Step = Callable[[], dict[str, Any]]
Training = ThreePartTraining | DannTraining


@dataclass(frozen=True)
class Cell:
    """A method at one setting.

    Args:
        method: "raw" (non-private), "pseudonyms", or one of TRAINED: as published, batches in turn in its third part, without
            normalising behind the noise, and DANN.
        inputs: word vectors, "fasttext" or "glove-clinical".
        casing: whether the tagger sees it.
        neighbours: N, the word itself included; 1 for "raw".
    """

    method: str
    inputs: str = "fasttext"
    casing: bool = True
    neighbours: int = 1

    @property
    def slug(self) -> str:
        """Name of its runs."""
        return f"{self.method}-{self.inputs}-N{self.neighbours}" + ("" if self.casing else "-caseless")

    @property
    def attacked(self) -> int:
        """N of the adversaries that attack it."""
        return self.neighbours if self.neighbours > 1 else CONTROL_NEIGHBOURS


@dataclass(frozen=True)
class Budget:
    """How long everything is trained.

    Args:
        notes: training notes, at most.
        others: notes to end trainings by, and as many to judge by, at most.
        three_part: recipe of the paper's procedure.
        dann: recipe of the other one.
        head_epochs: of a fresh tagger.
        continued: epochs for which the adversaries of the training go on.
        adversaries: recipe of the fresh ones, without N and seed. They do not see casing, as in the paper.
        said: in a report, how far it is the paper's.
    """

    notes: int
    others: int
    three_part: ThreePartConfig
    dann: DannConfig
    head_epochs: int
    continued: int
    adversaries: AdversarySettings
    said: str


_PAPER = Budget(
    500,
    125,
    ThreePartConfig(task_epochs=20, adversary_epochs=20, joint_epochs=40, adversary_hidden=300),
    DannConfig(epochs=60, adversary_hidden=300),
    20,
    50,
    AdversarySettings(epochs=50, pairs=4000, judged=4000, hidden=300, casing=False),
    "500 notes, as in the paper",
)
BUDGETS = {
    # A few minutes a run; its figures mean nothing but that everything runs.
    "quick": Budget(
        40,
        12,
        ThreePartConfig(task_epochs=2, adversary_epochs=1, joint_epochs=2, adversary_hidden=24),
        DannConfig(epochs=2, adversary_hidden=24),
        2,
        2,
        AdversarySettings(epochs=2, pairs=100, judged=200, hidden=24, casing=False),
        "40 notes and two epochs, which says nothing",
    ),
    # Everything as long as in the paper, on a fifth of the notes: its runs end within two hours, the paper's take six.
    "fifth": replace(_PAPER, notes=100, said="100 notes in the place of 500"),
    # Section 5.4, its program's configuration, and section 7.3; the fresh adversaries are as hard as an audit's.
    "paper": _PAPER,
}


def steps_of(cell: Cell, budget_name: str, seed: int) -> dict[str, Step]:
    """The steps of a run by their names, each of which gives what is kept of it, in an order that may be cut anywhere.

    "training" (its tagger judged on noisy representations, as in the paper), "continued" (the paper's attack), "head" (a fresh
    tagger, judged without noise), "fresh" and "white box" (our attacks); "tagger" for what trains no representer.
    """
    budget = BUDGETS[budget_name]
    run = _Run(cell, budget, seed, f"friedrich2019-{budget_name}-{cell.slug}-{seed}")
    if cell.method not in TRAINED:
        return {"tagger": run.judge_tagger}
    return {
        "training": run.judge_training,
        "continued": run.continue_attack,
        "head": run.judge_head,
        "white box": run.bound,
        "fresh": run.attack_afresh,
    }


def control(cell: Cell, budget: Budget, seed: int) -> dict[str, Any]:
    """The fresh adversaries against clear word vectors, trained to the same limit; one for all methods of a setting."""
    words = inputs(cell.inputs)
    return _fresh(ClearEncoder(words, scheme()), cell, budget, seed)


@dataclass(frozen=True)
class _Run:
    """One run of a cell.

    Args:
        name: of its files in bench/.runs.
    """

    cell: Cell
    budget: Budget
    seed: int
    name: str

    def judge_tagger(self) -> dict[str, Any]:
        """A tagger on word vectors as they are, or on pseudonyms, judged on notes as they are."""
        words, train = inputs(self.cell.inputs), sentences("train", self.budget)
        kept: dict[str, Any] = {}
        if self.cell.method == "pseudonyms":
            shown, kept["changed"] = pseudonymised(train, words, self.cell.neighbours, self.seed)
        else:
            shown, _ = index_sentences([train], words)
        encoder: Any = RawEncoder(words, scheme())
        if not self.cell.casing:
            shown, encoder = caseless(shown), Caseless(encoder)
        return kept | self._scored(encoder, shown)

    def judge_training(self) -> dict[str, Any]:
        """The training itself, and the tagger that it ends with, on representations with noise."""
        training = self._trained()
        encoder = self._encoder(training)
        pipeline = Pipeline(cast(NoisyRecurrent, Noisy(encoder, self.seed)), training.tagger.eval())
        scored = asdict(score_pipeline(pipeline, notes("judged", self.budget)))
        training.tagger.train()
        _, record = training.finish()
        told: dict[str, Any] = {
            name: [None if value != value else value for value in values] for name, values in asdict(record).items()
        }
        # A run that is kept holds no words.
        told["part"] = Counter(record.part)
        return scored | {"record": told, "noise": training.representer.noise_scales()["output"]}

    def continue_attack(self) -> dict[str, Any]:
        """The adversaries of the training go on against the frozen representer: right decisions on each kind of sentences.

        Of every sentence with PHI one decision counts, half of them on twins, so that decisions are independent.
        """
        training = self._trained(self.budget.continued)
        sides, table = _tables(self.cell.inputs, self.budget, self.cell.attacked, self.seed)
        found: dict[str, Any] = {}
        for side, source in (("training", training.source), ("judged", sides[2])):
            rows = sentences_with_phi(source, table)
            true, false = training.decisions(source, rows, self.seed + 1)
            on_twin = np.random.default_rng(self.seed).permutation(len(rows)) % 2 == 1
            right = np.where(on_twin, (false < 0).numpy(), (true > 0).numpy())
            found[side] = [int(right.sum()), len(rows)]
        accuracy = [
            right
            for part, right in zip(training.record.part, training.record.adversary_accuracy, strict=True)
            if part == "continued"
        ]
        return found | {"by_epoch": accuracy}

    def judge_head(self) -> dict[str, Any]:
        """A fresh tagger on one frozen draw of the noise, judged in-house and so without noise."""
        encoder = self._encoder(self._trained())
        shown = encoder.rehearse_share(sentences("train", self.budget), torch.Generator().manual_seed(self.seed))
        return self._scored(encoder, shown)

    def attack_afresh(self) -> dict[str, Any]:
        """Fresh adversaries against the frozen representer."""
        return _fresh(self._encoder(self._trained()), self.cell, self.budget, self.seed)

    def bound(self) -> dict[str, Any]:
        """The best attacker that there can be, in closed form. Normalising behind the noise can only lower it."""
        words = inputs(self.cell.inputs)
        pseudonyms = Pseudonymiser(Neighbours(words), self.cell.attacked)
        settings = replace(WHITE_BOX, seed=self.seed)
        found = white_box(self._encoder(self._trained()), [sentences("judged", self.budget)], pseudonyms, settings)
        return asdict(found.representation[""])

    def _scored(self, encoder: Any, shown: RaggedSentences) -> dict[str, Any]:
        tags = len(scheme().tags)
        recipe = TaggingConfig(epochs=self.budget.head_epochs, seed=self.seed)
        head = train_tagger(shown, tags, recipe, shape=BiLSTMCRFConfig(shown.dim, tags))
        return asdict(score_pipeline(Pipeline(encoder, head), notes("judged", self.budget)))

    def _encoder(self, training: Training) -> NoisyRecurrent:
        return NoisyRecurrent(inputs(self.cell.inputs), training.representer.eval(), scheme())

    def _trained(self, continued: int = 0) -> Training:
        """The training, and so many epochs of its adversaries alone, each gone on with from where it was left."""
        with seed_training(self.seed):
            training = self._learned()
            if continued:
                if self.cell.neighbours == 1:
                    training.table = _tables(self.cell.inputs, self.budget, CONTROL_NEIGHBOURS, self.seed)[1]
                training.continue_attack(continued)
        return training

    def _learned(self) -> Training:
        (source, held, _), table = _tables(self.cell.inputs, self.budget, self.cell.neighbours, self.seed)
        shape = RepresenterConfig(source.dim, DIM, normalised=int(self.cell.method != "three-part-plain"))
        RUNS.mkdir(exist_ok=True)
        data, told, kept = (source, table, len(scheme().tags), shape), partial(_told, self.name), RUNS / self.name
        if self.cell.method == "dann":
            config = replace(self.budget.dann, seed=self.seed)
            dann = DannTraining(*data, config, told, held=held, checkpoint=kept)
            dann.learn(config)
            return dann
        alternation: Alternation = "batches" if self.cell.method == "three-part-batches" else "epochs"
        recipe = replace(self.budget.three_part, alternation=alternation, seed=self.seed)
        three_part = ThreePartTraining(*data, recipe, told, held=held, checkpoint=kept)
        three_part.learn(recipe)
        return three_part


def _told(name: str, stage: str, done: int, total: int) -> None:
    """A line now and then: a run takes hours."""
    if not done % 1000:
        print(f"{name}: {stage}, step {done} of {total}", flush=True)


def _fresh(encoder: NoisyRecurrent | ClearEncoder, cell: Cell, budget: Budget, seed: int) -> dict[str, Any]:
    known, target = sentences("train", budget), sentences("judged", budget)
    settings = replace(budget.adversaries, neighbours=cell.attacked, seed=seed)
    found = fresh_adversaries(
        encoder, inputs(cell.inputs), known, target, settings, clear=False, cache=RUNS / "neighbours"
    )
    # Their findings tell shares of right decisions; both judge the same sentences.
    return {one.attack.rpartition(" ")[2]: [round(one.value * one.trials), one.trials] for one in found}


@cache
def inputs(name: str) -> WordVectors:
    """Word vectors: fastText of public Spanish text, or GloVe-like vectors of the same text."""
    if name == "fasttext":
        return vectors("es", corpora.meddocan_texts, SPANISH)
    return read_vectors(corpora.path("vec_clinical_es_100d/clinical_es.ppmi-svd.100d.vec.gz"))


@cache
def scheme() -> LabelScheme:
    """The labels of MEDDOCAN."""
    return load_scheme("meddocan")


@cache
def notes(side: str, budget: Budget) -> list[Document]:
    """Notes to train by, to end trainings by ("held") or to judge by ("judged")."""
    if side == "train":
        return corpora.meddocan("train")[: budget.notes]
    return corpora.meddocan("dev")[side == "judged" :: 2][: budget.others]


@cache
def sentences(side: str, budget: Budget) -> TokenisedSentences:
    """All sentences of one side."""
    return tokenised_corpus(notes(side, budget), scheme())


@cache
def _tables(
    inputs_name: str, budget: Budget, neighbours: int, seed: int
) -> tuple[list[RaggedSentences], NeighbourTable]:
    """The three sides as word ids, and what may stand in a PHI word's place: at N = 1 the word alone."""
    words, chunks = inputs(inputs_name), [sentences(side, budget) for side in ("train", "held", "judged")]
    whole, known = index_sentences(chunks, words)
    ends = np.cumsum([chunk.sentences for chunk in chunks])
    sides = [whole.select(rows) for rows in np.split(np.arange(whole.sentences), ends[:-1])]
    pseudonyms = Pseudonymiser(Neighbours(words), neighbours if neighbours > 1 else CONTROL_NEIGHBOURS)
    table = neighbour_table(whole, known, pseudonyms, np.random.default_rng(seed), cache=RUNS / "neighbours")
    return sides, table if neighbours > 1 else _themselves(table)


def _themselves(table: NeighbourTable) -> NeighbourTable:
    """The table of the same words at N = 1."""
    rows: NDArray[np.int64] = np.flatnonzero(table.position >= 0)
    alone = np.empty((len(rows), 1), dtype=np.int32)
    alone[table.position[rows], 0] = rows
    return NeighbourTable(alone, table.position)


def pseudonymised(train: TokenisedSentences, words: WordVectors, n: int, seed: int) -> tuple[RaggedSentences, float]:
    """The sentences with every PHI word replaced, once and for all, and the share of the PHI tokens that changed.

    A pseudonym has the casing of its word: a vocabulary in lower case would teach the tagger that PHI never has a capital.
    The authors' program trains on ten such draws and on the sentence itself; here nobody sees the sentence itself.
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


def mean_right(sides: Sequence[Sequence[int]]) -> float:
    """Mean over runs of the share of right decisions, each `[right, trials]`."""
    return float(np.mean([right / trials for right, trials in sides]))
