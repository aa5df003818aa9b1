"""Fresh adversaries: does a share tell a sentence from its twin that differs in one PHI word? (Friedrich et al. 2019, section 5.3)

T1 holds the word vectors of a sentence, T2 an independent share of it; each is shown a share of that sentence or of the
twin and decides which. They are trained from scratch against the frozen encoder, since an adversary that was trained
together with it reads far less than one that comes after (measured: 55% against 86%).

What is done so that 50% means chance and nothing else:

- The twin never equals its original, every look at a sentence is a fresh share, and each sentence of the test gives one
  decision only, so that the decisions are independent trials.
- The epoch is chosen on sentences of the attacker's own, the threshold is 0, and the test is looked at once.
- The same attack on clear word vectors runs beside it. Where that is not broken, the attack proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.models.adversaries import InputAdversary, RepresentationAdversary
from shared.privacy.adversaries.near_duplicates import Looks, Material
from shared.privacy.adversaries.task_only import task_only
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.sharing import (
    ClearEncoder,
    SharingEncoder,
    draw_share,
    spread,
    with_casing,
)
from shared.privacy.statistics.finding import Finding, proportion
from shared.progress import Progress, silent
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES
from shared.training.loop import BestWeights, Descent, TrainingLoop, seed_training

Name = Literal["T1", "T2"]
Batch = tuple[list[Tensor], Tensor, NDArray[np.int64]]
"""Views of some sentences, their lengths and rows; see `Looks.batches`."""
_NAMES: tuple[Name, ...] = ("T1", "T2")
_CLEAR, _TASK_ONLY = "clear word vectors", "task only"
_KNOWLEDGE = {
    "T1": "the release; the word vectors of a sentence, to be matched with a share of it or of its twin",
    "T2": "the release; one share of a sentence, to be matched with another share of it or of its twin",
}
_VALIDATION_SHARE = 0.15
# A control is broken well before this validation accuracy.
ENOUGH_OF_A_CONTROL = 0.75
# Most sentences are short and a few are long: of a large batch most is padding (four times the time at 256).
_JUDGED_AT_ONCE = 64


@dataclass(frozen=True)
class AdversarySettings:
    """How hard the adversaries try.

    Args:
        neighbours: N; the twin's word is one of the N - 1 nearest of the word it stands for.
        epochs: passes; 50 in a full audit.
        pairs: sentences an epoch, drawn anew each time.
        judged: sentences of the test, at most.
        hidden: units a direction; 300 in the paper.
        batch: sentences a step.
        learning_rate: of Nadam; it falls linearly to a tenth.
        clip: bound on the norm of the gradient.
        casing: whether the adversaries see the casing that travels in a share; the paper's do not.
        enough: validation accuracy at which training stops; a positive control need not be broken any further.
        seed: of everything random.
    """

    neighbours: int = 1000
    epochs: int = 50
    pairs: int = 2000
    judged: int = 4000
    hidden: int = 300
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    casing: bool = True
    enough: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.pairs, self.judged, self.hidden, self.batch) < 1 or self.neighbours < 2:
            raise ConfigurationError(
                "fresh adversaries: expected epochs, pairs, judged sentences, hidden units and batch of at least 1 and 2 neighbours"
            )
        if min(self.learning_rate, self.clip) <= 0 or not 0.5 < self.enough <= 1:
            raise ConfigurationError(
                "fresh adversaries: expected learning rate and clip above 0 and enough in (0.5, 1]"
            )


def fresh_adversaries(
    encoder: SharingEncoder,
    vectors: WordVectors,
    known: TokenisedSentences,
    target: TokenisedSentences,
    settings: AdversarySettings,
    *,
    controls: Mapping[str, SharingEncoder] | None = None,
    clear: bool = True,
    cache: Path | None = None,
    progress: Progress = silent,
) -> list[Finding]:
    """Train T1 and T2 from scratch and judge them on other notes.

    Args:
        encoder: what is attacked.
        vectors: public word vectors, T1's input and the source of the twins.
        known: the attacker's labelled sentences.
        target: sentences of other documents.
        settings: how hard to try.
        controls: further encoders that must be broken, by name, such as a representer that was trained for the task alone.
        clear: whether clear word vectors are attacked too; without, somebody must have broken them on these sentences with
            these settings before the findings mean anything.
        cache: folder that keeps the searches for neighbours.
        progress: called after every epoch.

    Returns:
        the accuracy of each adversary, chance 0.5, then those of the positive controls.

    Raises:
        TrainingError: too few sentences with PHI to train on.
        EvaluationError: no sentence with PHI to judge on.
    """
    if not len(target.rows_with_phi()):
        raise EvaluationError("expected sentences with PHI to judge adversaries on, got none; give more notes")
    generator = np.random.default_rng(settings.seed)
    pseudonyms = Pseudonymiser(Neighbours(vectors), min(settings.neighbours, len(vectors)))
    train = Material.of(known, vectors, pseudonyms, generator, cache)
    test = Material.of(target, vectors, pseudonyms, generator, cache)
    if len(train.rows) < 4:
        raise TrainingError(
            f"expected sentences with PHI to train adversaries on, got {len(train.rows)}; give more notes"
        )
    controlled: dict[str, SharingEncoder] = {_CLEAR: ClearEncoder(vectors, encoder.scheme)} if clear else {}
    attacked = {"": encoder, **controlled, **(controls or {})}
    findings: list[Finding] = []
    for label, victim in attacked.items():
        effort = settings if not label else replace(settings, enough=min(settings.enough, ENOUGH_OF_A_CONTROL))
        hits, trials = _Attack(victim, train, test, effort, progress).outcome()
        for name in _NAMES:
            measure = f"decisions right, {settings.epochs} epochs, N = {pseudonyms.n}"
            knowledge = _KNOWLEDGE[name] + ("; casing and tags" if settings.casing else "; no casing")
            findings.append(
                proportion(_attack_name(name, label), measure, hits[name], trials, 0.5, knowledge, settings.seed)
            )
    return findings


def _attack_name(name: Name, control: str) -> str:
    """What the findings of an adversary name, against the release or against a positive control."""
    return f"fresh adversary {name}" + (f", positive control: {control}" if control else "")


def is_broken(finding: Finding) -> bool:
    """Whether an adversary is better than chance beyond doubt, which a positive control must be."""
    return finding.interval[0] > 0.5


class _Attack:
    """One pair of adversaries against one encoder."""

    def __init__(
        self, victim: SharingEncoder, train: Material, test: Material, settings: AdversarySettings, progress: Progress
    ) -> None:
        self.victim, self.train, self.test, self.settings = victim, train, test, settings
        self.generator = np.random.default_rng(settings.seed)
        self.noise = torch.Generator().manual_seed(settings.seed)
        # The last sentences belong to the last documents, so hardly a document is on both sides.
        held = max(1, int(len(train.rows) * _VALIDATION_SHARE))
        self.learning, self.validation = train.rows[:-held], train.rows[-held:][: settings.pairs]
        sample = draw_share(victim, train.chunk.select(self.learning[: settings.batch]), self.noise)
        self.scale = (spread(train.source.values), spread(sample.values))
        inputs, dim = self._size(train.source.dim), self._size(sample.dim)
        with seed_training(settings.seed):
            self.networks: dict[Name, nn.Module] = {
                "T1": InputAdversary(inputs, dim, settings.hidden),
                "T2": RepresentationAdversary(dim, settings.hidden),
            }
        self.loop = TrainingLoop("fresh adversaries", settings.epochs, progress, by_pass=True)

    def outcome(self) -> tuple[dict[Name, int], int]:
        """Right decisions of each adversary on the test, and how many there were."""
        self._learn()
        rows = self.generator.permutation(self.test.rows)[: self.settings.judged]
        right = self._right(self._looks(self.test, rows))
        # One decision a sentence, half of them on twins, as independent as the sentences are.
        on_twin = self.generator.permutation(len(rows)) % 2
        return {name: int(found[np.arange(len(rows)), on_twin].sum()) for name, found in right.items()}, len(rows)

    def _learn(self) -> None:
        descents = {name: self._descent(network) for name, network in self.networks.items()}
        validation = self._looks(self.train, self.validation)
        best = {name: BestWeights(network) for name, network in self.networks.items()}

        def step(batch: Batch) -> None:
            views, lengths, _ = batch
            for name, network in self.networks.items():
                true, false = _logits(name, network, views, lengths)
                loss = (functional.softplus(-true) + functional.softplus(false)).mean() / 2
                self.loop.descend(loss, descents[name])

        for _ in self.loop.passes("adversaries", self.settings.epochs, self._batches, step):
            for descent in descents.values():
                descent.lower_rate()
            for name, found in self._right(validation).items():
                best[name].judge(float(found.mean()))
            if min(one.score for one in best.values()) >= self.settings.enough:
                break
        for one in best.values():
            one.restore()

    def _descent(self, network: nn.Module) -> Descent:
        descent = Descent.nadam(network.parameters(), self.settings.learning_rate, self.settings.clip)
        descent.fall_to(0.1, self.settings.epochs)
        return descent

    def _batches(self) -> Iterator[Batch]:
        """Fresh looks at other sentences in every pass."""
        rows = self.generator.permutation(self.learning)[: self.settings.pairs]
        return self._looks(self.train, rows).batches(self.settings.batch, self.generator)

    @torch.no_grad()
    def _right(self, looks: Looks) -> dict[Name, NDArray[np.bool_]]:
        """Whether each adversary is right on the share and on the twin, bool `[sentences, 2]`, at the threshold 0."""
        right = {name: np.zeros((len(looks.lengths), 2), dtype=np.bool_) for name in self.networks}
        for views, lengths, rows in looks.batches(_JUDGED_AT_ONCE, None):
            for name, network in self.networks.items():
                true, false = _logits(name, network, views, lengths)
                right[name][rows] = torch.stack([true > 0, false <= 0], 1).numpy()
        return right

    def _looks(self, material: Material, rows: NDArray[np.int64]) -> Looks:
        chunk = material.chunk.select(rows)
        tokens = material.source.tokens_of(rows)
        vectors = self._seen(material.source.vectors(tokens), material.source.casing[tokens], self.scale[0])
        again, real, twin = (
            self._seen(share.values, share.casing, self.scale[1])
            for share in (
                draw_share(self.victim, chunk, self.noise),
                draw_share(self.victim, chunk, self.noise),
                draw_share(self.victim, material.twins(rows, self.generator), self.noise),
            )
        )
        return Looks(vectors, again, real, twin, chunk.lengths)

    def _seen(self, values: NDArray[np.floating], casing: NDArray[np.uint8], scale: float) -> NDArray[np.float32]:
        if self.settings.casing:
            return with_casing(values, casing, scale)
        return values.astype(np.float32) / scale

    def _size(self, dim: int) -> int:
        return dim + len(CASING_CLASSES) * self.settings.casing


def _logits(name: Name, network: nn.Module, views: list[Tensor], lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Logit that share and sentence belong together, for the true pairs and for the false ones, `[batch]` each."""
    vectors, again, real, twin = views
    held = vectors if name == "T1" else again
    # Rows stay in order of falling length.
    twice = lengths.repeat_interleave(2)
    looked = torch.stack([real, twin], 1).flatten(0, 1)
    logits = network(held.repeat_interleave(2, 0), looked, twice)
    return logits[::2], logits[1::2]


@dataclass(frozen=True)
class FreshAdversarySettings:
    """What an audit asks of the adversaries.

    Args:
        adversary: how hard they try; the number of neighbours is that of the audit.
        sentences: with PHI, from which they learn; from fewer they break nothing, so they prove nothing.
        control_epochs: of the training of a representer for the task alone, which the same adversaries must break.
    """

    adversary: AdversarySettings
    sentences: int = 2000
    control_epochs: int = 4


class FreshAdversaries(Attack[FreshAdversarySettings]):
    """Whether adversaries that are trained from scratch tell a sentence from its twin."""

    name = "fresh adversaries"
    key = "adversary"
    # On few notes adversaries do not even break clear vectors within minutes, and then prove nothing: no quick round.
    # Half the units of the paper, and half the pairs of our default, so that all of it ends within the hour on two cores.
    full = (FreshAdversarySettings(AdversarySettings(pairs=1000, hidden=150)),)
    finds = tuple(_attack_name(name, label) for label in ("", _CLEAR, _TASK_ONLY) for name in _NAMES)

    def obstacle(self, scene: Scene, settings: FreshAdversarySettings) -> str | None:
        """They need many sentences to learn on."""
        marked = len(scene.known.rows_with_phi())
        if marked >= settings.sentences:
            return None
        return (
            f"{marked} sentences with PHI to learn from; from fewer than {settings.sentences} they do not even break "
            "clear word vectors"
        )

    def run(self, scene: Scene, settings: FreshAdversarySettings) -> list[Finding]:
        """With both positive controls; see `fresh_adversaries`."""
        effort = replace(settings.adversary, neighbours=scene.pseudonyms.n)
        vectors, known, progress = scene.material.vectors, scene.known, scene.progress
        control = task_only(vectors, known, scene.encoder.scheme, settings.control_epochs, effort.seed, progress)
        controls = {_TASK_ONLY: control}
        return fresh_adversaries(
            scene.encoder, vectors, known, scene.target, effort, controls=controls, progress=progress
        )

    def with_seed(self, settings: FreshAdversarySettings, seed: int) -> FreshAdversarySettings:
        """The seed is that of the adversaries."""
        return replace(settings, adversary=replace(settings.adversary, seed=seed))

    def as_json(self, rounds: tuple[FreshAdversarySettings, ...]) -> dict[str, object]:
        """Side by side, also what a round would have asked for that was left out."""
        (one,) = rounds or self.full
        return {
            self.key: asdict(one.adversary) if rounds else None,
            "adversary_sentences": one.sentences,
            "control_epochs": one.control_epochs,
        }


FRESH_ADVERSARIES = FreshAdversaries()
