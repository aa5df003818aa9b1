"""What a provider may do, as docs/threat-model.md says: labelled PHI is protected all the same, or the hospital is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from bench.attack.provider.bank import changed_bank
from bench.attack.provider.vocabulary import remember
from bench.attack.release import Draft, Lie, drafted, forged
from bench.attack.world import NEXT, World, require
from shared.embeddings.generalised import PUBLIC, GeneralisedVectors, generalise
from shared.taggers.registry import build_tagger, default_config, save_head

_WORDS = 99


def pad_clusters(draft: Draft) -> None:
    """A hidden word alone in its cluster but for 99 words that nobody writes, though a text could hold them."""
    vectors = draft.construction.vectors
    own = next(row for row in np.flatnonzero(vectors.classes >= 0).tolist() if vectors.words[row].isalpha())
    centre = np.roll(vectors.matrix[own], 1)
    words = [*vectors.words, *(f"zq{chr(97 + number // 10)}{chr(97 + number % 10)}zq" for number in range(_WORDS))]
    matrix = np.concatenate([vectors.matrix, np.tile(centre, (_WORDS, 1))])
    matrix[own] = centre
    more = np.full(_WORDS, len(vectors.centres), dtype=np.int32)
    classes = np.concatenate([vectors.classes, more])
    classes[own] = len(vectors.centres)
    made = GeneralisedVectors(words, matrix, vectors.flags, classes, vectors.subwords)
    replace(draft.construction, vectors=remember(made, vectors)).save(draft.folder)


def draw_clusters_anew(world: World) -> None:
    """Once a share has left, the same words in other clusters: what is shown twice lies in two of them."""
    share = world.root / "first.parquet"
    require(world.encode("north", world.notes(NEXT), share))
    require(world.submit("north", share))
    forged(_other_clusters)(world)


def _other_clusters(draft: Draft) -> None:
    vectors = draft.construction.vectors
    public = vectors.classes == PUBLIC
    matrix = vectors.matrix.copy()
    hidden = np.flatnonzero(~public)
    matrix[hidden] = matrix[np.random.default_rng(0).permutation(hidden)]
    spread = GeneralisedVectors(vectors.words, vectors.matrix, vectors.flags, vectors.classes, vectors.subwords)
    spread.matrix.flags.writeable = True
    spread.matrix[:] = matrix
    made = generalise(spread, public, vectors.k)
    replace(draft.construction, vectors=remember(made, vectors)).save(draft.folder)


def mark_nothing(world: World) -> None:
    """A pipeline whose head finds no PHI: a share does not hang on it, and `deid` says that it found nothing."""
    with drafted(world) as draft:
        made = draft.construction
        torch.manual_seed(0)
        head = build_tagger(default_config(made.dim, len(made.scheme.tags), hidden=4))
        for weight in head.parameters():
            weight.data.zero_()
        save_head(head, draft.folder)
        draft.sign(kind="pipeline")


def _one_span_each(bank: dict) -> None:  # type: ignore[type-arg]
    first: dict[int, list[object]] = {}
    for span in bank["spans"]:
        first.setdefault(span[0], span)
    bank |= {"spans": list(first.values()), "lists": [], "later": []}


KNOWN: Mapping[str, Lie] = {
    "a cluster padded with 99 words that nobody writes": forged(pad_clusters),
    "clusters drawn anew after notes were shared": draw_clusters_anew,
    "a pipeline whose head marks nothing": mark_nothing,
    "a bank with one span for each category": forged(changed_bank(_one_span_each)),
}
