"""Sentences and their false twins, as the fresh adversaries get them: a twin differs in one PHI word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.vectors import WordVectors
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import RaggedSentences, batch_rows
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import cased_like, casing_classes
from shared.training.adversarial.pairs import NeighbourTable, false_twins, neighbour_table, sentences_with_phi

# So often a neighbour is drawn again that can't be written in the casing class of the word.
_DRAWS = 20


@dataclass(frozen=True, repr=False)
class Material:
    """Sentences with their words as ids, and what may stand in each PHI word's place.

    Args:
        rows: sentences that have a twin.
        words: the word of each id.
    """

    chunk: TokenisedSentences
    source: RaggedSentences
    words: tuple[str, ...]
    table: NeighbourTable
    rows: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        chunk: TokenisedSentences,
        vectors: WordVectors,
        pseudonyms: Pseudonymiser,
        generator: np.random.Generator,
        cache: Path | None,
    ) -> Material:
        """The material of labelled sentences."""
        source, words = index_sentences([chunk], vectors)
        table = neighbour_table(source, words, pseudonyms, generator, cache=cache)
        return cls(chunk, source, words, table, sentences_with_phi(source, table))

    def twins(self, rows: NDArray[np.int64], generator: np.random.Generator) -> TokenisedSentences:
        """These sentences, each with one PHI word replaced by a neighbour of its casing class, if it has one.

        Casing travels in clear and is counted elsewhere: a twin in another class would tell nothing of what hides the word.
        """
        offsets, replacements = false_twins(self.source, rows, self.table, generator)
        twin = self.chunk.select(rows)
        places = twin.starts + offsets
        words = [twin.words[place] for place in places.tolist()]
        made = self._cased(replacements, words)
        for _ in range(_DRAWS):
            other = np.flatnonzero(casing_classes(made) != casing_classes(words))
            drawn = self.table.draw(self._ids(rows, offsets)[other], generator)
            for index, word in zip(other.tolist(), self._cased(drawn, [words[index] for index in other]), strict=True):
                made[index] = word
        for place, word in zip(places.tolist(), made, strict=True):
            twin.words[place] = word
        return twin

    def _ids(self, rows: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        assert self.source.ids is not None
        found: NDArray[np.int32] = self.source.ids[self.source.starts[rows] + offsets]
        return found

    def _cased(self, replacements: NDArray[np.integer], words: list[str]) -> list[str]:
        """Words by id, in the casing of others; the same word in another casing stays, for a twin never equals its original."""
        made = []
        for row, true in zip(replacements.tolist(), words, strict=True):
            cased = cased_like(self.words[row], true)
            made.append(self.words[row] if cased == true else cased)
        return made


@dataclass(frozen=True, repr=False)
class Looks:
    """What the adversaries may see of some sentences: float32 `[tokens, size]` each, laid end to end."""

    vectors: NDArray[np.float32]
    again: NDArray[np.float32]
    real: NDArray[np.float32]
    twin: NDArray[np.float32]
    lengths: NDArray[np.int64]

    def batches(
        self, size: int, generator: np.random.Generator | None
    ) -> Iterator[tuple[list[Tensor], Tensor, NDArray[np.int64]]]:
        """Padded vectors, second look, share and twin of some sentences, their lengths and rows."""
        nothing = np.zeros(int(self.lengths.sum()), dtype=np.uint8)
        kinds = [
            RaggedSentences(values, nothing, nothing, self.lengths)
            for values in (self.vectors, self.again, self.real, self.twin)
        ]
        for rows in batch_rows(self.lengths, size, generator):
            found = [kind.batch(rows, kind.starts) for kind in kinds]
            yield [batch.inputs for batch in found], found[0].lengths, rows
