"""Augmented copies of labelled sentences (Yue and Zhou 2020, PHICON): D together with alpha times D_aug.

An edit changes one sentence: other PHI of the same category, other words around it, fewer and shorter ones, another casing. The paper makes alpha copies of
every sentence once, and trains longer. Here a pass over the sentences takes, instead of each, one of itself and its alpha copies,
made anew in every pass: the same mixture in as many steps as without it, so that what is gained is not gained by training longer;
nor do sentences with PHI, of which alone the paper makes copies, weigh more than before. Whoever wants the copies themselves gets them.

Nothing but the sentences and what is public goes into a copy. Of shares of codes that is post-processing: it tells nothing
that the share does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.sentences.ragged import Batch, RaggedSentences
from shared.sentences.tokenised import TokenisedSentences

METHODS = ("phi", "context", "shorthand", "recase")
MOST_ALPHA = 16

Edited: TypeAlias = tuple[list[str], list[int]]
Edit = Callable[[list[str], list[int], Random], Edited]
"""Words and tags of a sentence, and chance, to those of a copy: at least one token, what has no tag of the scheme as it was, the lists given untouched."""


@dataclass(frozen=True)
class Augmentation:
    """How copies are made, and how many.

    Args:
        edits: one after another.
        alpha: copies for each sentence as it is.

    Raises:
        ConfigurationError: an alpha out of range.
    """

    edits: tuple[Edit, ...]
    alpha: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.alpha <= MOST_ALPHA:
            raise ConfigurationError(f"expected 1 to {MOST_ALPHA} copies of a sentence, got {self.alpha}")

    def choose(self, sentences: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Of which sentences a pass has a copy, bool `[sentences]`: alpha of alpha + 1 on average."""
        chosen: NDArray[np.bool_] = generator.random(sentences) < self.alpha / (self.alpha + 1)
        return chosen

    def mix(self, chunk: TokenisedSentences, generator: np.random.Generator) -> TokenisedSentences:
        """A pass over the sentences, in their order."""
        return self.alter(chunk, generator, self.choose(chunk.sentences, generator))

    def alter(
        self, chunk: TokenisedSentences, generator: np.random.Generator, chosen: NDArray[np.bool_] | None = None
    ) -> TokenisedSentences:
        """Copies in the place of sentences, in their order.

        Args:
            chunk: labelled sentences; one with a span that nobody has labelled stays as it is.
            generator: the only source of chance.
            chosen: of which sentences, bool `[sentences]`; None for all.
        """
        chance = Random(int(generator.integers(1 << 62)))
        altered = ~chunk.sentences_with(chunk.are_doubtful)
        if chosen is not None:
            altered &= chosen
        words: list[str] = []
        tags: list[int] = []
        lengths: list[int] = []
        doubts: list[bool] = []
        starts = zip(chunk.starts.tolist(), chunk.lengths.tolist(), altered.tolist(), strict=True)
        for start, length, copied in starts:
            own = chunk.words[start : start + length], chunk.tags[start : start + length].tolist()
            if copied:
                for edit in self.edits:
                    own = edit(*own, chance)
            words += own[0]
            tags += own[1]
            lengths.append(len(own[0]))
            if chunk.doubtful is not None:
                doubts += [False] * lengths[-1] if copied else chunk.doubtful[start : start + length].tolist()
        return TokenisedSentences(
            words,
            np.array(tags, dtype=np.uint8),
            np.array(lengths, dtype=np.int64),
            None if chunk.doubtful is None else np.array(doubts, dtype=np.bool_),
        )

    def copies(self, chunks: Iterable[TokenisedSentences], seed: int) -> Iterator[TokenisedSentences]:
        """The paper's D_aug: alpha copies of every sentence that holds PHI.

        Args:
            chunks: labelled sentences.
            seed: of the copies.
        """
        generator = np.random.default_rng(seed)
        for chunk in chunks:
            labelled = chunk.select(chunk.rows_with_phi())
            if labelled.sentences:
                for _ in range(self.alpha):
                    yield self.alter(labelled, generator)

    def originals(self, chunks: Iterable[TokenisedSentences]) -> NDArray[np.int64]:
        """Which sentence of the chunks each one of `copies` is of, int64 `[copies]`."""
        found, first = [np.zeros(0, dtype=np.int64)], 0
        for chunk in chunks:
            found += [first + chunk.rows_with_phi()] * self.alpha
            first += chunk.sentences
        return np.concatenate(found)


@dataclass(frozen=True)
class AugmentedSource:
    """Sentences in-house and their copies, as what a tagger is trained on: a SentenceSource.

    Args:
        chunks: labelled sentences.
        read: what stands before the tagger.
        augmentation: made anew in every pass; batches in the order of the notes are without it.
    """

    chunks: Sequence[TokenisedSentences]
    read: Callable[[TokenisedSentences], RaggedSentences]
    augmentation: Augmentation

    @property
    def dim(self) -> int:
        """See SentenceSource."""
        return self.read(TokenisedSentences.single_words(["a"])).dim

    @property
    def sentences(self) -> int:
        """See SentenceSource."""
        return sum(chunk.sentences for chunk in self.chunks)

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource; `rows` of a batch number the sentences of its chunk."""
        order = range(len(self.chunks)) if generator is None else generator.permutation(len(self.chunks)).tolist()
        for index in order:
            chunk = self.chunks[index]
            read = self.read(chunk if generator is None else self.augmentation.mix(chunk, generator))
            yield from read.batches(size, generator)
