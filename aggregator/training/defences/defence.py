"""The interface of every defence: how a pool in which one hospital may lie becomes a head.

What a hospital labels can't be checked against its notes. So a defence holds sites against one another: none of them alone
may teach the head what all others contradict. `docs/adr/0021` says which one is the default, and what the others cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

from aggregator.training.part import PoolPart
from aggregator.training.pool import PUBLIC, Augmented, Change, Decoder, Pool, Relabel, Taken, read_blocks, read_codes
from foundation.os_errors import map_os_errors
from shared.constructions.augmented import AugmentedReading
from shared.constructions.decoding import Decoding
from shared.constructions.drawn_words import DrawnWords, drawn_for
from shared.progress import Progress, silent
from shared.sentences.ragged import RaggedSentences, SentenceSource
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.tagging import TaggingConfig

# A few hundred steps tell what a site does to the others; its figures are lower than the head's, and in the same order.
_HASTY_STEPS, _HASTY_HIDDEN, _HASTY_RATE = 400, 32, 1e-2
_WHOLE = Taken()


class Learn(Protocol):
    """Trains a tagger: `shared.training.tagging.train_tagger`, or what stands in for it."""

    def __call__(
        self,
        source: SentenceSource,
        tags: int,
        config: TaggingConfig,
        *,
        shape: TaggerConfig | None = None,
        progress: Progress = silent,
        checkpoint: Path | None = None,
    ) -> Tagger:
        """See `train_tagger`."""


@dataclass(frozen=True)
class PoolMaterial:
    """What a head is trained on.

    Args:
        payloads: verified payloads of each site; one of its names may stand for the provider's own notes.
        tags: number of tags of the label scheme.
        config: the recipe.
        held_out: as in `Pool`: False where a tenth is kept back, None where all sentences train.
        change: as in `Pool`.
        token_local: whether equal rows are equal words, or words that nobody can tell apart.
        learn: trains a tagger.
        shape: of the head; None for the paper's.
        progress: called after every step.
        rate: chance that a sentence takes part in a pass, in (0, 1].
        undersampling: as in `Pool`.
        decoder: as in `Pool`.
        augmented: as in `Pool`; what is held out, and what a defence looks at, is as the shares are.
        kept: folder that keeps trainings between epochs; None keeps nothing.
        part: of this process, where several train together; `learn` is then of all of them. None for this one alone.
        without_part: a part of what each site shared that nothing is learned from, as (part, parts); None for none.
        relabel: as in `Pool`.
    """

    payloads: Mapping[str, tuple[Path, ...]]
    tags: int
    config: TaggingConfig
    held_out: bool | None
    change: Change | None
    token_local: bool
    learn: Learn
    shape: TaggerConfig | None = None
    progress: Progress = silent
    rate: float = 1.0
    undersampling: float = 0.0
    decoder: Decoder | None = None
    augmented: Augmented | None = None
    kept: Path | None = None
    part: PoolPart | None = None
    without_part: tuple[int, int] | None = None
    relabel: Relabel | None = None

    def learn_from(self, pool: Pool, name: str, config: TaggingConfig | None = None) -> Tagger:
        """A tagger of this shape, trained on a pool.

        Args:
            pool: opened.
            name: tells this training from others that are kept in the folder.
            config: the recipe; None for that of the material.
        """
        kept = None
        if self.kept is not None:
            with map_os_errors(self.kept):
                self.kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept = self.kept / f"{name}.safetensors"
        return self.learn(
            pool, self.tags, config or self.config, shape=self.shape, progress=self.progress, checkpoint=kept
        )

    @property
    def batch(self) -> int:
        """Sentences that a step takes, of all processes."""
        return self.config.batch * (1 if self.part is None else self.part.count)

    def in_phase(self, progress: Progress, name: str) -> PoolMaterial:
        """The same for a phase of its own, which keeps its trainings apart from those of others."""
        return replace(self, progress=progress, kept=None if self.kept is None else self.kept / name)

    @property
    def files(self) -> list[Path]:
        """The payloads of all sites."""
        return [path for paths in self.payloads.values() for path in paths]

    def pool(self, taken: Mapping[Path, Taken] | None = None, paths: Sequence[Path] | None = None) -> Pool:
        """The sentences that train, or those of them that a defence takes; a context manager.

        Args:
            taken: as in `Pool`.
            paths: some of the payloads; None for all.
        """
        chosen = dict(taken or {})
        if self.rate < 1:
            chosen = {
                path: replace(chosen.get(path, _WHOLE), rate=self.rate * chosen.get(path, _WHOLE).rate)
                for path in self.files
            }
        if self.without_part is not None:
            shared = [path for site, paths in self.payloads.items() if site != PUBLIC for path in paths]
            chosen |= {path: replace(chosen.get(path, _WHOLE), without=self.without_part) for path in shared}
        files = self.files if paths is None else paths
        return Pool(
            files,
            held_out=self.held_out,
            change=self.change,
            decoder=self.decoder,
            augmented=self.augmented,
            taken=chosen,
            undersampling=self.undersampling,
            part=self.part,
            relabel=self.relabel,
        )

    @property
    def redraws(self) -> bool:
        """Whether surrogates are drawn anew in every pass."""
        return self.change is not None or self.decoder is not None

    def held_out_pool(self, paths: Sequence[Path]) -> Pool:
        """The sentences of some payloads that nothing is trained on; a context manager."""
        return Pool(paths, held_out=True, decoder=self.decoder)

    def read(self, block: RaggedSentences) -> RaggedSentences:
        """What a head gets of a block as a share holds it."""
        return block if self.decoder is None else read_codes(self.decoder, block)

    def without(self, site: str) -> PoolMaterial:
        """The same without a site."""
        return replace(self, payloads={name: paths for name, paths in self.payloads.items() if name != site})

    def without_others(self, site: str) -> PoolMaterial:
        """The same with one site alone."""
        return replace(self, payloads={site: self.payloads[site]})

    def read_by(self, head: Tagger) -> PoolMaterial:
        """The same, what is held out of it read for another head."""
        plain = self._for_vectors()
        if not head.reads_words or not isinstance(plain.decoder, Decoding):
            return plain
        return replace(plain, decoder=drawn_for(head, plain.decoder))

    def _for_vectors(self) -> PoolMaterial:
        """The same, read for a head that takes vectors."""
        if not isinstance(self.decoder, DrawnWords):
            return self
        decoding, augmented = self.decoder.decoding, self.augmented
        if isinstance(augmented, AugmentedReading):
            augmented = replace(augmented, decoding=decoding)
        return replace(self, decoder=decoding, augmented=augmented)

    def hasten(self) -> PoolMaterial:
        """The same for a small head in haste, whose cost does not grow with the pool beyond one look at each sentence."""
        plain = self._for_vectors()
        with plain.pool() as pool:
            passes = _HASTY_STEPS * self.batch / max(pool.sentences, 1)
            shape = BiLSTMCRFConfig(pool.dim, self.tags, hidden=_HASTY_HIDDEN)
        epochs = max(1, min(self.config.epochs, int(passes)))
        config = replace(self.config, epochs=epochs, least_steps=0, learning_rate=_HASTY_RATE)
        return replace(plain, config=config, shape=shape, rate=min(self.rate, passes), relabel=None)


@dataclass(frozen=True)
class Lesson:
    """What a student learned from: public text, and the head that labelled it.

    Args:
        teacher: learned from the pool.
        tokens: of the text.
        sure: how many of them it labelled.
        phi: how many of these it took for PHI.
    """

    teacher: Tagger
    tokens: int
    sure: int
    phi: int


@dataclass(frozen=True)
class Defended:
    """A head, and what a defence took to train it.

    Args:
        head: trained.
        sentences: that took part in a pass, on average.
        tokens: of them.
        left_out: tokens of each site whose label did not count, those of sentences that were left out among them.
        rates: chance of a sentence to take part in a pass, of each site of which that is less than 1.
        lesson: what the head learned from in the place of the pool; None where it learned from the pool.
    """

    head: Tagger
    sentences: int
    tokens: int
    left_out: Mapping[str, int]
    rates: Mapping[str, float] = field(default_factory=dict)
    lesson: Lesson | None = None


class Defence(ABC):
    """Trains a head on a pool; each kind is one subclass in a file of its own, and one line in `registry`."""

    name: ClassVar[str]
    """What `--defence` takes, and what the record says."""
    title: ClassVar[str]
    """What it does, in a sentence."""

    @abstractmethod
    def train(self, material: PoolMaterial) -> Defended:
        """A head from all that is in the pool.

        Raises:
            WorkspaceError: payloads that do not fit each other.
            TrainingError: nothing is left to train on, or the loss is not finite any more.
        """

    def steps(self, material: PoolMaterial) -> tuple[int, ...]:
        """How many steps each of its trainings takes, one after the other, as far as that is known ahead."""
        with material.pool() as pool:
            return (material.config.epochs * max(1, -(-pool.sentences // material.batch)),)


class Selection(Defence):
    """A defence that chooses sentences, and trains as without it on those."""

    @abstractmethod
    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """What of each payload trains the head; of one that is not named, everything does."""

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence."""
        taken, config = self.choose(material), material.config
        if any(one.rate < 1 for one in taken.values()):
            # A lower rate is a lower weight among the others, not a shorter training: a small hospital beside a large one
            # would else keep both from being learnt.
            with material.pool({path: replace(one, rate=1.0) for path, one in taken.items()}) as whole:
                steps = config.epochs * -(-whole.sentences // material.batch)
            config = replace(config, least_steps=max(steps, config.least_steps))
        with material.pool(taken) as pool:
            return Defended(
                material.learn_from(pool, "head", config),
                pool.sentences,
                pool.tokens,
                count_left_out(material, taken),
                lowered_rates(material, taken),
            )


def count_left_out(material: PoolMaterial, taken: Mapping[Path, Taken]) -> dict[str, int]:
    """How many tokens of each site have labels that do not count; what has a lower rate has its turn."""
    return {
        site: sum(_left_out(path, taken[path]) for path in paths if path in taken)
        for site, paths in material.payloads.items()
    }


def lowered_rates(material: PoolMaterial, taken: Mapping[Path, Taken]) -> dict[str, float]:
    """The lowest rate of what each site shared, of those alone of which something has one below 1."""
    rates = {
        site: min((taken[path].rate for path in paths if path in taken), default=1.0)
        for site, paths in material.payloads.items()
    }
    return {site: rate for site, rate in rates.items() if rate < 1}


def _left_out(path: Path, taken: Taken) -> int:
    total = 0
    for index, block in enumerate(read_blocks(path)):
        denied = np.zeros(block.tokens, dtype=np.bool_) if taken.unknown is None else taken.unknown[index].copy()
        if taken.kept is not None:
            denied[block.tokens_of(np.flatnonzero(~taken.kept[index]))] = True
        total += int(denied.sum())
    return total
