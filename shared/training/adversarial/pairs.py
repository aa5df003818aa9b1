"""Near-duplicate pairs of sentences: what the adversaries of Friedrich et al. 2019 (section 5.3) are trained on.

A sentence with PHI gets a false twin that differs in ONE PHI word, replaced by one of its N nearest neighbours; where adversaries ask for
words that are no PHI, in one of these. The word is never replaced by itself: a twin that equals its original would be a wrong label, and the chance level of 50%
that the adversary is held against would be no chance level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.embeddings.neighbour_cache import cached_nearest
from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import Batch, RaggedSentences


@dataclass(frozen=True)
class NeighbourTable:
    """For every word of a corpus that is asked for the rows that may stand in its place.

    Args:
        neighbours: int32 `[words asked for, candidates]`, rows of the vector matrix; the word itself is not among them.
        position: int32 `[rows of the vector matrix]`, each row's line in `neighbours`, -1 for what is never replaced.
        labelled: whether words are asked for where they are labelled PHI, or where they are not.
    """

    neighbours: NDArray[np.int32]
    position: NDArray[np.int32]
    labelled: bool = True

    def __post_init__(self) -> None:
        if self.neighbours.ndim != 2 or self.neighbours.shape[1] < 1:
            raise ConfigurationError("neighbours: expected at least 2 candidates for every word, itself included")

    def replaceable(self, tags: NDArray[np.uint8], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens may be replaced, bool, shape of `ids`."""
        marked: NDArray[np.bool_] = ((tags > 0) == self.labelled) & (self.position[ids] >= 0)
        return marked

    def draw(self, ids: NDArray[np.int32], generator: np.random.Generator) -> NDArray[np.int32]:
        """One candidate for each word, uniformly; int32, shape of `ids`."""
        column = generator.integers(self.neighbours.shape[1], size=ids.shape)
        drawn: NDArray[np.int32] = self.neighbours[self.position[ids], column]
        return drawn


def neighbour_table(
    source: RaggedSentences,
    words: Sequence[str],
    pseudonyms: Pseudonymiser,
    generator: np.random.Generator,
    *,
    cache: Path | None = None,
) -> NeighbourTable:
    """The table for the PHI words of a corpus; punctuation is left out, as it is never replaced.

    Args:
        source: sentences of word ids.
        words: the word of each id.
        pseudonyms: gives the candidates; n - 1 of them are kept, without the word itself.
        generator: chooses among the digit tokens, of which there may be more than n.
        cache: folder that keeps the searches, for the next training on the same words; None searches anew.

    Raises:
        ConfigurationError: n is 1, which leaves no candidate but the word itself.
        TrainingError: the corpus has no PHI word.
    """
    assert source.ids is not None
    if pseudonyms.n < 2:
        raise ConfigurationError(
            f"neighbours: expected at least 2, the word itself included, got {pseudonyms.n}; choose more"
        )
    ids = [row for row in np.unique(source.ids[source.tags > 0]).tolist() if not is_punctuation(words[row])]
    if not ids:
        raise TrainingError("expected PHI words to train the adversaries on, got none; check the labels of the corpus")
    # One search for all words that are no digits.
    plain = [words[row] for row in ids if not words[row].isdecimal()]
    if cache is None:
        found_rows, _ = pseudonyms.neighbours.find_nearest(plain, pseudonyms.n)
    else:
        found_rows, _ = cached_nearest(pseudonyms.neighbours, plain, pseudonyms.n, cache)
    nearest = dict(zip(plain, found_rows, strict=True))
    lines = np.empty((len(ids), pseudonyms.n - 1), dtype=np.int32)
    for line, row in enumerate(ids):
        found = nearest.get(words[row])
        others = pseudonyms.candidates(words[row]) if found is None else found
        others = others[others != row]
        lines[line] = (
            others[: pseudonyms.n - 1]
            if found is not None
            else generator.choice(others, pseudonyms.n - 1, replace=len(others) < pseudonyms.n - 1)
        )
    position = np.full(len(words), -1, dtype=np.int32)
    position[ids] = np.arange(len(ids))
    return NeighbourTable(lines, position)


def replaceable_tokens(source: RaggedSentences, table: NeighbourTable) -> NDArray[np.bool_]:
    """Which tokens may be replaced: those asked for that have neighbours; bool `[tokens]`."""
    assert source.ids is not None
    return table.replaceable(source.tags, source.ids)


def sentences_with_phi(source: RaggedSentences, table: NeighbourTable) -> NDArray[np.int64]:
    """Rows of the sentences that have a false twin."""
    return np.flatnonzero(source.sentences_with(replaceable_tokens(source, table)))


def false_twins(
    source: RaggedSentences,
    rows: NDArray[np.int64],
    table: NeighbourTable,
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Which token of each sentence is replaced, and by which row of the vector matrix.

    Args:
        source: sentences of word ids.
        rows: sentences, each with PHI.
        table: candidates of every PHI word.
        generator: chooses the token and its replacement.

    Returns:
        offset of the token in its sentence, int64 `[rows]`; row of the vector matrix, int32 `[rows]`.
    """
    assert source.ids is not None
    starts = source.starts[rows]
    offsets = np.empty(len(rows), dtype=np.int64)
    for index, (start, length) in enumerate(zip(starts.tolist(), source.lengths[rows].tolist(), strict=True)):
        sentence = slice(start, start + length)
        marked = table.replaceable(source.tags[sentence], source.ids[sentence])
        offsets[index] = generator.choice(np.flatnonzero(marked))
    return offsets, table.draw(source.ids[starts + offsets], generator)


def twin_batch(
    source: RaggedSentences, rows: NDArray[np.int64], table: NeighbourTable, generator: np.random.Generator
) -> tuple[Batch, Tensor]:
    """Some sentences, and the word vectors of their false twins, float32 `[batch, steps, inputs]`.

    Args:
        source: sentences of word ids.
        rows: sentences, each with PHI, by falling length.
        table: candidates of every PHI word.
        generator: chooses the twins.
    """
    batch = source.batch(rows, source.starts)
    offsets, replacements = false_twins(source, rows, table, generator)
    twin = batch.inputs.clone()
    twin[torch.arange(len(rows)), torch.from_numpy(offsets)] = torch.from_numpy(
        source.values[replacements].astype(np.float32)
    )
    return batch, twin
