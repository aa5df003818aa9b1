"""Noise behind a recurrent representer: what the trained constructions have in common, whatever they are trained against.

A BiLSTM over a sentence, its output in the unit ball, and Gaussian noise on input and output (`shared.models.representer`).
The noise by itself gives Gaussian differential privacy, weak at the scales that are of use; what protects beyond it is what
the training left out of the representation, and only attacks can show how far that goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from foundation.reading import file_sha256
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.accounting import DELTA, Accounting, Reach, noise_accounting
from shared.constructions.construction import Construction, Protection, Trials, WordChanges
from shared.constructions.training import Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.models.divergence import Replacements, divergences
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.noise_source import MemoisedNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress
from shared.sentences.encoding import embed_sentences, index_sentences, noise_for, rehearse, represent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.training.adversarial.adversaries import hold_back
from shared.training.adversarial.pairs import NeighbourTable, neighbour_table
from shared.training.representing import TrainingRecord

# Tokens of a common sentence and of a common note; the lengths of a hospital's own notes would tell of them.
_SENTENCE, _NOTE = 20, 500

Config = TypeVar("Config")
_Config_contra = TypeVar("_Config_contra", contravariant=True)


@dataclass(frozen=True)
class NoisyRecurrent(Construction):
    """Word vectors as they are, behind noise."""

    representer: Representer

    protection = Protection.NOISE
    made_by: ClassVar[tuple[str, ...]] = ("three-part", "dann", "invariance")
    vocabulary: ClassVar[type[WordVectors]] = WordVectors
    network = Representer
    memoises_noise = True

    def share_sentences(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences:
        """See Construction."""
        return represent(embed_sentences(chunk, self.vectors), self.representer, noise_for(chunk, noise), factors)

    def share_public_sentences(self, sentences: RaggedSentences, noise: PrivateSource) -> SharedSentences:
        """See Construction."""
        return represent(sentences, self.representer, noise)

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """See Construction."""
        return rehearse(embed_sentences(chunk, self.vectors), self.representer, noise_for(chunk, noise), factors)

    def sharing_noise(self, secret: bytes, folder: Path, use: bytes = b"") -> SharingNoise:
        """Once for a sentence under a representer, ever.

        It hangs on all that decides a representation, not on the release: the next one with another head must not draw anew,
        and the same draw under other weights, scales or vectors would cancel out. The description of the representer counts
        too, for it decides the scale of the noise: one draw at two scales could be solved for the notes.
        """
        model = (file_sha256(folder / f"representer.{kind}") for kind in ("safetensors", "json"))
        return MemoisedNoise(secret, use + "".join([*model, self.vectors.digest]).encode())

    @property
    def gaussian_noise(self) -> tuple[NDArray[np.float64], int]:
        """See Construction."""
        noise = self.representer.output_noise.scale.detach().double().numpy()
        return noise, self.representer.config.inputs

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """See Construction."""
        sigma = min(self.representer.noise_scales()["output"])
        return noise_accounting(sigma, Reach.SENTENCE, sentence_tokens=sentence_tokens, note_tokens=note_tokens)

    def divergences(self, chunk: TokenisedSentences, changes: WordChanges, trials: Trials) -> NDArray[np.float64]:
        """Delta for every draw of the input noise; only the sentences with changes are run."""
        rows = np.unique(chunk.sentence_of_token[changes.tokens])
        kept, part = chunk.tokens_of(rows), chunk.select(rows)
        vectors, source = self.vectors.rows(part.words), noise_for(part, trials.noise)
        moved = Replacements(np.searchsorted(kept, changes.tokens), changes.places, self.vectors.rows(changes.words))
        draws = (divergences(self.representer, vectors, part.lengths, moved, source) for _ in range(trials.draws))
        return np.stack(list(draws))

    def promises(self) -> dict[str, float]:
        """The scale of the noise, and what it proves of one token.

        With output noise of standard deviation s_i the representation of a token lies in the unit ball, so two of them are at
        most 2 apart, and in Gaussian differential privacy (Dong, Roth and Su 2022) that gives at worst mu = 2 / min(s_i). A
        word moves every token of its sentence, and k tokens compose to mu * sqrt(k).
        """
        scales = np.array(self.representer.noise_scales()["output"])
        return {
            "surrogates": 0.0,
            "noise_sigma_min": float(scales.min()),
            "noise_sigma_mean": float(scales.mean()),
            "mu_per_token": float(2 / scales.min()),
        }

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """See Construction."""
        if "noise_sigma_min" not in stated:
            return []
        again = "a sentence that is shared again under this release gets the same noise again"
        if stated.get("surrogates"):
            again = (
                "a sentence without labelled PHI that is shared again under this release gets the same noise again; one with labelled PHI "
                "draws surrogates anew, and where it draws others, as of few it may not, other noise with them, so that its shares add up"
            )
        return [
            f"output noise of standard deviation {stated['noise_sigma_min']:.4f} at least, on vectors of length 1 at most; {again}",
            f"provable by itself: {_guarantees(stated['noise_sigma_min'])} in Gaussian differential privacy (mu below 1 is "
            "strong, above 6 proves nothing); beyond that rests on the attacks that were tried on the representer",
        ]

    def facts(self) -> dict[str, object]:
        """See Construction."""
        return {"noise": self.representer.noise_scales(), **super().facts()}


def _guarantees(sigma: float) -> str:
    """What noise of this standard deviation proves of a token, a word, a sentence and a note of common lengths."""
    found = noise_accounting(sigma, Reach.SENTENCE, sentence_tokens=_SENTENCE, note_tokens=_NOTE).guarantees
    listed = "; ".join(
        f"{one.unit} mu {one.mu:.4g}, epsilon {one.epsilon:.4g}" for one in found if one.unit != "one word"
    )
    return f"{listed} at delta {DELTA:g}, and a word moves its whole sentence,"


class Train(Protocol[_Config_contra]):
    """What the `train_representer` of every training looks like."""

    def __call__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: _Config_contra,
        progress: Progress = ...,
        checkpoint: Path | None = None,
        /,
    ) -> tuple[Representer, TrainingRecord]:
        """A frozen representer, and what happened in its training."""
        ...


class JudgedTrain(Protocol[_Config_contra]):
    """The same of a training that judges itself by sentences that it does not learn from."""

    def __call__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: _Config_contra,
        progress: Progress = ...,
        checkpoint: Path | None = None,
        held: RaggedSentences | None = None,
        /,
    ) -> tuple[Representer, TrainingRecord]:
        """A frozen representer, and what happened in its training, judged by `held`; None for the last of the source."""
        ...


@dataclass(frozen=True)
class Recipes(Generic[Config]):
    """One way to train a representer.

    Args:
        presets: recipes by the names of PRESETS. For the 500 notes of MEDDOCAN "quick" takes up to ten minutes and
            "standard" up to half an hour, on one core; "paper" has the length of the paper's section 5.4 and its adversaries of
            300 units, which is a matter of hours.
        train: the training.
        judged: the same where it is told by which sentences to judge itself; None for a training that judges itself by none.
    """

    presets: Mapping[str, Config]
    train: Train[Config]
    judged: JudgedTrain[Config] | None = None

    def recipe(self, preset: str, seed: int) -> Config:
        """A preset with a seed."""
        made: Config = replace(self.presets[preset], seed=seed)  # type: ignore[type-var]
        return made

    def train_representer(
        self,
        vectors: WordVectors,
        neighbours: Neighbours,
        material: TrainingMaterial,
        options: TrainingOptions,
        progress: Progress,
    ) -> tuple[Representer, dict[str, object]]:
        """A representer that hides a word among its neighbours, and the record of its training.

        Args:
            vectors: what is shown of a word.
            neighbours: search for what may stand in a word's place, over the same words in the same order.
            material: the labelled public notes.
            options: N, preset, size and seed.
            progress: called after every step.

        Raises:
            TrainingError: the notes have no PHI word, or the training diverged.
        """
        source, words = index_sentences(material.with_copies, vectors)
        generator = np.random.default_rng(options.seed)
        table = neighbour_table(
            source, words, Pseudonymiser(neighbours, options.neighbours), generator, cache=material.cache
        )
        recipe: Any = self.recipe(options.preset, options.seed)
        shape = RepresenterConfig(vectors.dim, options.dim or 50, normalised=int(options.normalise))
        tags, kept = len(material.scheme.tags), material.checkpoint
        if self.judged is None or not material.copies:
            representer, record = self.train(source, table, tags, shape, recipe, progress, kept)
        else:
            learned, held = hold_back_notes(source, table, material.originals)
            representer, record = self.judged(learned, table, tags, shape, recipe, progress, kept, held)
        return representer, told_of(asdict(recipe), record)


def hold_back_notes(
    source: RaggedSentences, table: NeighbourTable, originals: NDArray[np.int64]
) -> tuple[RaggedSentences, RaggedSentences]:
    """Notes with their copies to learn from, and the last notes to judge by: no copy of these is learned from.

    Args:
        source: the sentences of the notes, then the copies.
        table: tells what is PHI.
        originals: as in `TrainingMaterial`.
    """
    notes = source.sentences - len(originals)
    learned, held = hold_back(source.select(np.arange(notes)), table)
    copies = notes + np.flatnonzero(originals < learned.sentences)
    return source.select(np.concatenate([np.arange(learned.sentences), copies])), held


def told_of(recipe: Mapping[str, Any], record: TrainingRecord) -> dict[str, object]:
    """What a release tells of a training, in JSON's types.

    Args:
        recipe: its settings.
        record: what happened.
    """
    # JSON has no NaN, which stands for what a part of the training does not measure.
    kept = {name: [None if value != value else value for value in values] for name, values in asdict(record).items()}
    return {"recipe": dict(recipe), "record": kept}


def train_noisy(
    recipes: Recipes[Any], material: TrainingMaterial, options: TrainingOptions, progress: Progress
) -> Trained:
    """Make the construction over word vectors as they are; see `Recipes.train_representer`."""
    vectors = material.vectors
    representer, record = recipes.train_representer(vectors, Neighbours(vectors), material, options, progress)
    made = NoisyRecurrent(vectors, representer, material.scheme)
    return Trained(made, record)
