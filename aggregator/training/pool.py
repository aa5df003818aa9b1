"""The pool: all accepted shares as one stream of sentences, read from disk block by block.

Only a few blocks are in memory at a time, so the pool may be larger than the memory. In training the blocks come in
random order, and the sentences of the blocks that are held together are mixed before batches are cut. A share's
sentences were shuffled at the hospital, so every tenth of a block is a random sample: it is held out, for the score of
each site. Where several processes train together, each reads its part of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import OWN_NOTES
from aggregator.training.part import PoolPart, Slice
from protocols.payload.opening import PayloadReader, SentenceBlock, open_payload
from protocols.payload.sentence_block import CODES
from shared.labels import UNKNOWN_TAG
from shared.sentences.codes import CodedSentences, no_features
from shared.sentences.ragged import WINDOW, Batch, RaggedSentences

PUBLIC = OWN_NOTES
"""Stands for the provider's own notes where sites are named; no site can have such a name."""
Change = Callable[[RaggedSentences, np.random.Generator], RaggedSentences]


class Decoder(Protocol):
    """Reads codes: `shared.constructions.decoding.Decoding`, or what stands in for it."""

    @property
    def dim(self) -> int:
        """Numbers of what a head gets for a token."""

    def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What a head gets of some sentences, under one draw."""
        ...


class Augmented(Protocol):
    """Reads codes for training: `shared.constructions.augmented.AugmentedReading`, or what stands in for it."""

    def read_augmented(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What a head gets of a pass over some sentences, under one draw; tags of which nobody knows stay so."""
        ...


class Relabel(Protocol):
    """Labels sentences of a pool anew: `aggregator.training.defences.self_distilling.HeldOutLabels`, or what stands in for it."""

    def __call__(
        self, payload: Path, sentences: RaggedSentences, rows: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.uint8]:
        """Their tags of a pass, uint8 `[tokens]`; `rows` are their places in their block."""
        ...


_BLOCKS_HELD = 8
# More than a block can hold.
_ALL = 1 << 62
# Of what is drawn where nothing is to be random: the same sentences are read alike whenever they are scored.
_AS_ON_DISK = 0
_HELD_OUT = 10


@dataclass(frozen=True)
class Taken:
    """What of a payload a training takes.

    Args:
        kept: for each block of the payload, which of its sentences, bool `[sentences]`; None for all.
        unknown: for each block, of which tokens the label does not count, bool `[tokens]` of all its sentences; None for none.
        rate: chance that such a sentence takes part in a pass, in (0, 1].
        without: a part of its sentences that it leaves out, as (part, parts), see `part_of`; None for none.
    """

    kept: tuple[NDArray[np.bool_], ...] | None = None
    unknown: tuple[NDArray[np.bool_], ...] | None = None
    rate: float = 1.0
    without: tuple[int, int] | None = None


_WHOLE = Taken()


class Pool:
    """A SentenceSource over payloads that were verified when they were taken in; a context manager that closes them.

    Args:
        payloads: their files.
        held_out: which sentences: None for all, False for those to train on, True for the held-out tenth.
        change: what training does to sentences before it sees them, anew in every pass; batches in the order of the disk
            are as the shares are.
        decoder: reads the codes of payloads that hold such; always, and anew in every pass.
        augmented: reads codes in the decoder's place where batches come in random order, in training; batches in the order of the
            disk are as the shares are.
        taken: what a training takes of some payloads; of the others it takes all.
        undersampling: chance that a sentence without PHI sits out a pass of training, drawn anew in each, in [0, 1).
        part: of a process, where several train together: batches in random order are those of its part, and the generator is the same
            in all of them.
        relabel: gives the sentences of a pass of training their tags; None for those of the shares.

    Raises:
        WorkspaceError: no payloads, or of different dimensions.
    """

    def __init__(
        self,
        payloads: Sequence[Path],
        *,
        held_out: bool | None = None,
        change: Change | None = None,
        decoder: Decoder | None = None,
        augmented: Augmented | None = None,
        taken: Mapping[Path, Taken] | None = None,
        undersampling: float = 0.0,
        part: PoolPart | None = None,
        relabel: Relabel | None = None,
    ) -> None:
        self.part = part
        self.relabel = relabel
        self.undersampling = undersampling
        self.payloads = tuple(payloads)
        self.taken = dict(taken or {})
        self.held_out = held_out
        self.change = change
        self.decoder = decoder
        self.augmented = augmented
        with ExitStack() as files:
            readers = [files.enter_context(open_payload(path)) for path in self.payloads]
            dims = {reader.dim for reader in readers}
            if len(dims) != 1:
                raise WorkspaceError(
                    f"expected shares of one representer, got {len(self.payloads)} shares of {len(dims)} different dimensions; "
                    "ingest at least one share, all made with the representer that is published"
                )
            self._files = files.pop_all()
        self._pieces = [(reader, block) for reader in readers for block in range(reader.blocks)]
        self._width = dims.pop()
        if (decoder is None) == (self._width == CODES) or (decoder is None and augmented is not None):
            self._files.close()
            raise WorkspaceError(
                "expected shares of the kind that the representer here makes, got others; ingest shares made with the representer "
                "that is published"
            )

    @property
    def dim(self) -> int:
        """Numbers of what a head gets for a token."""
        return self._width if self.decoder is None else self.decoder.dim

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    @property
    def sentences(self) -> int:
        """Sentences that the batches of a pass hold, of all processes; counted from the lengths on disk, on average where not all take part."""
        return round(sum(rate * held for rate, held, _ in self._sizes))

    @property
    def tokens(self) -> int:
        """Their tokens."""
        return round(sum(tokens for _, _, tokens in self._sizes))

    @cached_property
    def _sizes(self) -> list[tuple[float, int, float]]:
        """Of each block the rate at which its sentences take part, on average, how many belong here, and the tokens of those that take part."""
        sizes = []
        for reader, block in self._pieces:
            stored, taken = as_sentences(reader.read_block(block)), self.taken.get(reader.path, _WHOLE)
            rows = self._rows(stored.sentences, taken, block)
            rates = self._rates(stored, taken)[rows]
            sizes.append((float(rates.mean()) if len(rows) else 1.0, len(rows), float(rates @ stored.lengths[rows])))
        return sizes

    def _rows(self, sentences: int, taken: Taken, block: int) -> NDArray[np.int64]:
        """The sentences of a block that belong here, in their order."""
        chosen = np.ones(sentences, dtype=np.bool_)
        if self.held_out is not None:
            chosen &= is_held_out(sentences) == self.held_out
        if taken.kept is not None:
            chosen &= taken.kept[block]
        if taken.without is not None:
            part, parts = taken.without
            chosen &= part_of(np.arange(sentences), parts) != part
        return np.flatnonzero(chosen)

    def _rates(self, stored: RaggedSentences, taken: Taken) -> NDArray[np.float64]:
        """The chance of each sentence of a block to take part in a pass of training, float64 `[sentences]`.

        It goes by the labels that the share holds, whatever a defence makes of them: a site that hides names must not weigh more by that.
        """
        rates = np.full(stored.sentences, taken.rate)
        if self.undersampling:
            # One that holds something of which the hospital did not know is none without PHI.
            rates[~stored.sentences_with(stored.tags > 0)] *= 1 - self.undersampling
        return rates

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource; `rows` of a batch number the sentences of the blocks that were held together."""
        order: Iterable[Slice] = (Slice(block, 0, _ALL) for block in range(len(self._pieces)))
        turns, whole = None, 1
        if generator is not None:
            shuffled = generator.permutation(len(self._pieces)).tolist()
            order = (Slice(block, 0, _ALL) for block in shuffled)
            if self.part is not None:
                rates, held, _ = zip(*self._sizes, strict=True)
                order = self.part.slices(shuffled, held, rates)
                # All processes take long sentences at the same steps: a step lasts as long as the slowest of them.
                *own, same = generator.integers(1 << 63, size=self.part.count + 1).tolist()
                generator, turns = np.random.default_rng(own[self.part.index]), np.random.default_rng(same)
                whole = size * WINDOW
        for sentences in self._held_sentences(order, generator, whole):
            if self.augmented is not None and generator is not None:
                sentences = self.augmented.read_augmented(as_codes(sentences), generator)
            elif self.decoder is not None:
                draws = generator or np.random.default_rng(_AS_ON_DISK)
                sentences = read_codes(self.decoder, sentences, draws)
            elif generator is not None and self.change is not None:
                sentences = _change(sentences, self.change, generator)
            yield from sentences.batches(size, generator, turns)

    def _held_sentences(
        self, order: Iterable[Slice], generator: np.random.Generator | None = None, whole: int = 1
    ) -> Iterator[RaggedSentences]:
        """The sentences of a few blocks at a time, but for the last a multiple of a number of them: what is over comes with the next blocks."""
        rest = iter(order)
        over: list[RaggedSentences] = []
        while slices := list(islice(rest, _BLOCKS_HELD)):
            blocks = over + [self._chosen(*self._pieces[one.block], generator, one) for one in slices]
            over = []
            kept = [sentences for sentences in blocks if sentences.sentences]
            if kept:
                held = RaggedSentences.concatenate(kept)
                if more := held.sentences % whole:
                    rows = np.arange(held.sentences)
                    held, over = held.select(rows[:-more]), [held.select(rows[-more:])]
                if held.sentences:
                    yield held
        yield from over

    def _chosen(
        self,
        reader: PayloadReader,
        index: int,
        generator: np.random.Generator | None = None,
        part: Slice | None = None,
    ) -> RaggedSentences:
        """The sentences of a block that belong here, or a slice of them; with a generator, those that take part in this pass."""
        stored, taken = as_sentences(reader.read_block(index)), self.taken.get(reader.path, _WHOLE)
        rows = self._rows(stored.sentences, taken, index)
        if part is not None:
            rows = rows[part.begin : part.end]
        if generator is not None and ((rates := self._rates(stored, taken)) < 1).any():
            rows = rows[(generator.random(stored.sentences) < rates)[rows]]
        if taken.unknown is not None:
            stored = replace(stored, tags=np.where(taken.unknown[index], np.uint8(UNKNOWN_TAG), stored.tags))
        found = stored if len(rows) == stored.sentences else stored.select(rows)
        if self.relabel is not None and generator is not None and len(rows):
            found = replace(found, tags=self.relabel(reader.path, found, rows, generator))
        return found


def _change(sentences: RaggedSentences, change: Change, generator: np.random.Generator) -> RaggedSentences:
    """The sentences changed; what has no label that counts is to the change what has none."""
    unknown = sentences.tags == UNKNOWN_TAG
    changed = change(replace(sentences, tags=np.where(unknown, np.uint8(0), sentences.tags)), generator)
    return replace(changed, tags=np.where(unknown, np.uint8(UNKNOWN_TAG), changed.tags))


def read_blocks(payload: Path) -> Iterator[RaggedSentences]:
    """All sentences of a payload that was verified when it was taken in, as they lie there, block by block, in the order of the disk."""
    with open_payload(payload) as reader:
        for index in range(reader.blocks):
            yield as_sentences(reader.read_block(index))


def as_sentences(block: SentenceBlock) -> RaggedSentences:
    """The sentences of a block; a code is a row of one number."""
    values = block.values if block.dim else block.values[:, None]
    return RaggedSentences(values, block.casing, block.tags, block.lengths.astype(np.int64))


def read_codes(
    decoder: Decoder, sentences: RaggedSentences, generator: np.random.Generator | None = None
) -> RaggedSentences:
    """What a head gets of sentences of codes, as `as_sentences` gives them; what has no label that counts is read as what has none."""
    draws = generator or np.random.default_rng(_AS_ON_DISK)
    return _change(sentences, lambda known, ours: decoder.read_codes(as_codes(known), ours), draws)


def as_codes(sentences: RaggedSentences) -> CodedSentences:
    """Sentences of codes, as `as_sentences` gives them, without their rows."""
    codes = sentences.values[:, 0].astype(np.uint32)
    return CodedSentences(codes, sentences.casing, sentences.tags, sentences.lengths, no_features(len(codes)))


def is_held_out(sentences: int) -> NDArray[np.bool_]:
    """Which sentences of a block of so many are held out, bool `[sentences]`."""
    marked: NDArray[np.bool_] = np.arange(sentences) % _HELD_OUT == _HELD_OUT - 1
    return marked


def part_of(rows: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """To which of so many parts of a share sentences belong by their places in their block, int64 `[sentences]`: what trains is dealt out in turn.

    A share's sentences were shuffled at the hospital, so every part is a random sample.
    """
    return (rows - rows // _HELD_OUT) % parts
