"""A head that never learns a label of a share: heads that have not seen a sentence label it, and the one that is released learns what they say.

A head remembers the labels that it learned from, so whoever has a note and its labels can tell whether the note was in the pool. Here teachers learn from all of the
pool but one part each, and each labels the part that it has not seen. In every pass the tags of a sentence are drawn anew by the probability that its teacher gives
them: a student that was surer of them than a head which has never seen the sentence would lose by it (Tang et al. 2022, "SELENA", sections 4.2 and 4.3, who train
on probabilities; drawn tags have the same loss on average). There is no epsilon. The provider's own notes are public, and keep their labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aggregator.training.defences.defence import Defence, Defended, PoolMaterial
from aggregator.training.pool import PUBLIC, part_of, read_codes
from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences
from shared.taggers.tagger import Tagger

_BATCH = 64


@dataclass(frozen=True, repr=False)
class HeldOutLabels:
    """Gives sentences the tags of the teacher that has not seen them; a `Relabel`.

    Args:
        teachers: each without the part of its place.
        public: payloads whose labels stay.
        read: what a teacher gets of sentences as a pool holds them, under one draw.
    """

    teachers: Sequence[Tagger]
    public: frozenset[Path]
    read: Callable[[RaggedSentences, np.random.Generator], RaggedSentences]

    def __call__(
        self, payload: Path, sentences: RaggedSentences, rows: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.uint8]:
        """See `Relabel`; what the hospital itself did not know stays unknown."""
        if payload in self.public:
            return sentences.tags
        tags, parts = sentences.tags.copy(), part_of(rows, len(self.teachers))
        for part, teacher in enumerate(self.teachers):
            if len(chosen := np.flatnonzero(parts == part)):
                drawn = _drawn_tags(teacher, self.read(sentences.select(chosen), generator), generator)
                tags[sentences.tokens_of(chosen)] = drawn
        return np.where(sentences.tags == UNKNOWN_TAG, np.uint8(UNKNOWN_TAG), tags)


def _drawn_tags(teacher: Tagger, shown: RaggedSentences, generator: np.random.Generator) -> NDArray[np.uint8]:
    tags, starts = np.zeros(shown.tokens, dtype=np.uint8), shown.starts
    for batch in shown.batches(_BATCH):
        drawn = teacher.draw(batch, generator).numpy().astype(np.uint8)
        for row, length, own in zip(batch.rows.tolist(), batch.lengths.tolist(), drawn, strict=True):
            tags[starts[row] : starts[row] + length] = own[:length]
    return tags


class SelfDistillation(Defence):
    """Another defence trains teachers without a part of the pool each, and the head on what they say of it.

    Args:
        teaching: trains all of them.
        parts: of the pool, as many as teachers, from 2.
    """

    name = "self-distillation"
    title = "the head learns the pool as heads label it that have not seen it"

    def __init__(self, teaching: Defence, parts: int) -> None:
        self._teaching, self._parts = teaching, parts

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence. Sizes and counts are of the student's training, which takes as many steps as one on the labels would."""
        teachers = []
        for part in range(self._parts):
            apart = material.in_phase(material.progress, f"without-part-{part}")
            teachers.append(self._teaching.train(replace(apart, without_part=(part, self._parts))).head.eval())
        public = frozenset(material.payloads.get(PUBLIC, ()))
        decoder = material.decoder

        def read(sentences: RaggedSentences, generator: np.random.Generator) -> RaggedSentences:
            return sentences if decoder is None else read_codes(decoder, sentences, generator)

        return self._teaching.train(replace(material, relabel=HeldOutLabels(teachers, public, read)))

    def steps(self, material: PoolMaterial) -> tuple[int, ...]:
        """See Defence. All parts of the pool are of a size."""
        apart = replace(material, without_part=(0, self._parts))
        return self._teaching.steps(apart) * self._parts + self._teaching.steps(material)
