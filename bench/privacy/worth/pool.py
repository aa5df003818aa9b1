"""A provider's pool in memory: its own notes and the shares of hospitals as codes, read anew in every pass, as `train-head` reads them.

It leaves out what changes nothing of a code: files, seals, the defence, what is held out. So a head of a rotation takes a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aggregator.training.defences.distilling import LEAST_SURE
from aggregator.training.defences.self_distilling import HeldOutLabels
from aggregator.training.head import UNDERSAMPLING
from aggregator.training.pool import part_of, read_codes
from aggregator.training.representer import RepresenterOptions
from bench.privacy.worth.sides import Sides, recipe
from shared.augment.augmentation import Augmentation, AugmentedSource
from shared.augment.recasing import Recasing
from shared.augment.shorthand import Shorthand
from shared.constructions.augmented import AugmentedReading
from shared.constructions.drawn_words import DrawnWords
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.models.noise_source import PrivateNoise
from shared.pipeline.pipeline import Pipeline
from shared.sentences.codes import CodedSentences
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import Batch, RaggedSentences, SentenceSource
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.taggers.pseudo_labels import pseudo_labels
from shared.taggers.tagger import Tagger
from shared.training.tagging import train_tagger

Labelled = TypeVar("Labelled", CodedSentences, TokenisedSentences)

ALONE, RAW, SHARES = "alone", "raw", "shares"
REPLACED = "replaced"
"""A control: shares that hide no more than labelled PHI and words that are not public."""
_EVERY_WORD = 10**9
STEPS = 7500
"""Of every side: after 2,500 all of them go on gaining, and shares most, where notes are shared."""
PARTS = 3
"""Teachers of a head that distils itself."""
_NO_FILE = Path()
COPIES = Augmentation((Shorthand(), Recasing()))
"""Of English sentences, as `train-head` makes them by default."""


@dataclass(frozen=True)
class SharedCodesSource:
    """What a head is trained on, as a SentenceSource.

    Args:
        construction: that made the codes.
        codes: of all.
        augmentation: of which sentences there are copies; None for none.
        drawn: reads the codes for a tagger that reads words; None for one that takes vectors.
    """

    construction: CodedSurrogates
    codes: CodedSentences
    augmentation: Augmentation | None = None
    drawn: DrawnWords | None = None

    @property
    def dim(self) -> int:
        """See SentenceSource."""
        return self.construction.dim if self.drawn is None else self.drawn.dim

    @property
    def sentences(self) -> int:
        """See SentenceSource."""
        return self.codes.sentences

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource."""
        decoding = self.drawn or self.construction.decoding()
        draws = np.random.default_rng(0) if generator is None else generator
        if self.augmentation is None or generator is None:
            read = decoding.read_codes(self.codes, draws)
        else:
            read = AugmentedReading(decoding, self.augmentation).read_augmented(self.codes, draws)
        yield from read.batches(size, generator)


@dataclass(frozen=True)
class Undersampled(Generic[Labelled]):
    """Sentences of which those without PHI sit out half of the passes, as in `train-head`: a SentenceSource.

    Args:
        labelled: all sentences.
        made: a source of some of them.
        rate: at which those without PHI sit out.
        relabel: gives the sentences of some rows of a pass other tags; None for those that they have, by which they sit out either way.
    """

    labelled: Labelled
    made: Callable[[Labelled], SentenceSource]
    rate: float = UNDERSAMPLING
    relabel: Callable[[Labelled, NDArray[np.int64], np.random.Generator], Labelled] | None = None

    @property
    def dim(self) -> int:
        """See SentenceSource."""
        return self.made(self.labelled).dim

    @property
    def sentences(self) -> int:
        """See SentenceSource; on average."""
        return round(float(self._rates.sum()))

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource."""
        chosen = self.labelled
        if generator is not None:
            rows = np.flatnonzero(generator.random(chosen.sentences) < self._rates)
            chosen = chosen.select(rows)
            if self.relabel is not None:
                chosen = self.relabel(chosen, rows, generator)
        yield from self.made(chosen).batches(size, generator)

    @property
    def _rates(self) -> NDArray[np.float64]:
        quiet = ~self.labelled.sentences_with(self.labelled.tags > 0)
        return np.where(quiet, 1 - self.rate, 1.0)


def pooled_codes(construction: CodedSurrogates, own: Sequence[Document], shared: Sequence[Document]) -> CodedSentences:
    """The codes of a pool.

    Args:
        construction: of the release.
        own: labelled notes of the provider, whose words are public.
        shared: labelled notes of hospitals.
    """
    noise = PrivateNoise()
    chunk = construction.with_public_lengths(tokenised_corpus(shared, construction.scheme), noise)
    return CodedSentences.concatenate((public_codes(construction, own), construction.rehearse_codes(chunk, noise)))


def public_codes(construction: CodedSurrogates, notes: Sequence[Document]) -> CodedSentences:
    """The codes of notes whose words are public, labelled or not."""
    source, _ = index_sentences([tokenised_corpus(notes, construction.scheme)], construction.vectors)
    shown = construction.share_public_sentences(source, PrivateNoise())
    return CodedSentences(shown.codes, shown.casing, shown.tags, shown.lengths, shown.features)


def taught(construction: CodedSurrogates, teacher: Tagger, own: CodedSentences, text: CodedSentences) -> CodedSentences:
    """What a student learns from, as `train-head --distil` has it: the provider's notes, and public text as the teacher labels it."""
    shown = construction.decoding().read_codes(text, np.random.default_rng(0))
    labels = pseudo_labels(teacher, shown, LEAST_SURE)
    return CodedSentences.concatenate((own, replace(text, tags=labels)))


def as_rows(codes: CodedSentences) -> RaggedSentences:
    """Codes as rows of one number, as a pool holds them."""
    return RaggedSentences(codes.codes[:, None].astype(np.float64), codes.casing, codes.tags, codes.lengths)


def self_taught(
    construction: CodedSurrogates,
    own: CodedSentences,
    shared: CodedSentences,
    made: Callable[[CodedSentences], SentenceSource],
    learn: Callable[[SentenceSource, int], Tagger],
    rate: float = UNDERSAMPLING,
) -> Undersampled[CodedSentences]:
    """What a head of `train-head --self-distil` learns from, its teachers trained: shared sentences take labels of the one that has not seen them.

    Args:
        construction: that made the codes.
        own: sentences of the provider, whose labels stay.
        shared: those of hospitals.
        made: a source of sentences.
        learn: trains a head on a source, under a number of its own.
        rate: at which sentences without PHI sit out a pass.
    """
    decoding, parts = construction.decoding(), part_of(np.arange(shared.sentences), PARTS)
    pools = (CodedSentences.concatenate((own, shared.select(np.flatnonzero(parts != part)))) for part in range(PARTS))
    teachers = [learn(Undersampled(pool, made, rate), 1 + part) for part, pool in enumerate(pools)]
    labels = HeldOutLabels(teachers, frozenset(), lambda rows, generator: read_codes(decoding, rows, generator))

    def relabel(chosen: CodedSentences, rows: NDArray[np.int64], generator: np.random.Generator) -> CodedSentences:
        theirs = np.flatnonzero(rows >= own.sentences)
        tags = chosen.tags.copy()
        told = labels(_NO_FILE, as_rows(chosen.select(theirs)), rows[theirs] - own.sentences, generator)
        tags[chosen.tokens_of(theirs)] = told
        return replace(chosen, tags=tags)

    return Undersampled(CodedSentences.concatenate((own, shared)), made, rate, relabel)


def trained_as_provider(sides: Sides, side: str, seed: int, copies: Augmentation) -> Pipeline:
    """What ALONE, RAW, SHARES or REPLACED train as a provider's head is by default, without operating points and last word.

    Args:
        sides: who has what.
        side: raw notes of the provider, those of all, or its own and the shares of hospitals, of either kind.
        seed: of the training.
        copies: of which sentences, made in every pass on every side.
    """
    made = sides.build(RepresenterOptions(common_words=_EVERY_WORD)) if side == REPLACED else sides.construction
    source: SentenceSource
    if side in (SHARES, REPLACED):
        codes = pooled_codes(made, sides.provider, sides.pooled)
        source = Undersampled(codes, lambda some: SharedCodesSource(made, some, copies))
    else:
        chunk = tokenised_corpus([*sides.provider, *(sides.pooled if side == RAW else ())], made.scheme)
        source = Undersampled(chunk, lambda some: AugmentedSource([some], made.noise_free, copies))
    return Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(source.sentences, seed, STEPS)))
