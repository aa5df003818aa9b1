"""What a hospital may do at ingest, as docs/threat-model.md says: each is bounded by other means, or left to a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from aggregator.ingestion.ingest import Decision
from bench.attack.share import Liar, Lie
from bench.attack.site.rows import changed, each_again, narrowed
from bench.attack.world import NEXT
from protocols.payload.sentence_block import SentenceBlock


def _shuffled_words(block: SentenceBlock) -> SentenceBlock:
    """The words of all sentences in another order, labels staying where they were."""
    outside = np.flatnonzero(block.tags == 0)
    values = block.values.copy()
    values[outside] = block.values[np.random.default_rng(0).permutation(outside)]
    return replace(block, values=values)


def _unlabelled(block: SentenceBlock) -> SentenceBlock:
    """Every tenth labelled span is none, the same rows as before: a trigger that a head is to overlook."""
    begun = np.cumsum((block.tags % 2 == 1).astype(np.int64))
    hidden = (block.tags > 0) & (begun % 10 == 0)
    return replace(block, tags=np.where(hidden, 0, block.tags).astype(np.uint8))


def mix_three_of_ten(liar: Liar) -> Decision:
    """Notes of which three of ten came before."""
    liar.count(liar.send_as_made(liar.world.honest))
    old = liar.world.documents(NEXT)
    three, seven = len(old) * 3 // 10, len(old) * 7 // 10
    return liar.send_as_made(liar.encode([*old[:three], *liar.world.documents("public")[:seven]], "mixed"))


KNOWN: Mapping[str, Lie] = {
    "every sentence twice": changed(lambda block: each_again(block, 2)),
    "notes of which three of ten came before": mix_three_of_ten,
    "words of a text that nobody wrote": narrowed(_shuffled_words),
    "every tenth name without its label": narrowed(_unlabelled),
}
