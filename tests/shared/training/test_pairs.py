from __future__ import annotations

import numpy as np
import pytest

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import RaggedSentences
from shared.training.adversarial.pairs import (
    NeighbourTable,
    false_twins,
    neighbour_table,
    replaceable_tokens,
    sentences_with_phi,
)
from tests.shared.training.toy import VECTORS, WORDS, toy


def made(source: RaggedSentences, n: int = 5, words: tuple[str, ...] = WORDS) -> NeighbourTable:
    return neighbour_table(source, words, Pseudonymiser(Neighbours(VECTORS), n), np.random.default_rng(0))


@pytest.mark.parametrize("n", [2, 5, len(WORDS)])
def test_a_twin_differs_from_its_original_in_one_phi_word(n: int) -> None:
    source = toy(60)
    assert source.ids is not None
    table = made(source, n)
    rows = sentences_with_phi(source, table)
    generator = np.random.default_rng(1)
    for _ in range(20):
        offsets, replacements = false_twins(source, rows, table, generator)
        places = source.starts[rows] + offsets
        assert np.all(offsets < source.lengths[rows])
        assert np.all(source.tags[places] > 0)
        assert np.all(replacements != source.ids[places])
        # Different rows of a matrix may hold the same numbers, which would make a twin that is none.
        assert np.all(np.any(source.values[replacements] != source.values[source.ids[places]], axis=1))


def test_every_phi_word_and_every_neighbour_is_drawn_in_the_end() -> None:
    source = toy(6)
    assert source.ids is not None
    table = made(source, 4)
    rows = sentences_with_phi(source, table)
    generator = np.random.default_rng(1)
    places: set[int] = set()
    drawn: dict[int, set[int]] = {}
    for _ in range(300):
        offsets, replacements = false_twins(source, rows, table, generator)
        at = source.starts[rows] + offsets
        places |= set(at.tolist())
        for word, other in zip(source.ids[at].tolist(), replacements.tolist(), strict=True):
            drawn.setdefault(word, set()).add(other)
    assert places == set(np.flatnonzero(source.tags > 0).tolist())
    assert {len(others) for others in drawn.values()} == {3}


def test_the_neighbours_of_a_word_are_the_nearest_by_cosine_without_itself() -> None:
    source = toy(60)
    assert source.ids is not None
    table = made(source, 4)
    for word in np.unique(source.ids[source.tags > 0]).tolist():
        cosine = VECTORS.matrix @ VECTORS.matrix[word]
        cosine[word] = -2
        nearest = set(np.argsort(-cosine)[:3].tolist())
        assert set(table.neighbours[table.position[word]].tolist()) == nearest


def test_a_word_outside_the_vocabulary_has_neighbours_too() -> None:
    source = toy(3)
    assert source.ids is not None
    ids = source.ids.copy()
    place = int(np.flatnonzero(source.tags == 1)[0])
    ids[place] = len(WORDS)
    values = np.concatenate([VECTORS.matrix, VECTORS.rows(["Unheardof"])])
    strange = RaggedSentences(values, source.casing, source.tags, source.lengths, ids)
    table = made(strange, 4, (*WORDS, "Unheardof"))
    assert table.position[len(WORDS)] >= 0
    assert np.all(table.neighbours < len(WORDS))


def test_punctuation_and_words_that_are_no_phi_are_not_replaced() -> None:
    source = toy(20)
    assert source.ids is not None
    tags = source.tags.copy()
    tags[source.ids == WORDS.index(".")] = 1
    marked = RaggedSentences(source.values, source.casing, tags, source.lengths, source.ids)
    can_be = replaceable_tokens(marked, made(marked))
    np.testing.assert_array_equal(can_be, source.tags > 0)


def test_no_phi_is_no_training() -> None:
    source = toy(5, phi=False)
    with pytest.raises(TrainingError, match="PHI"):
        made(source)
    table = made(toy(5))
    assert len(sentences_with_phi(source, table)) == 0
    assert len(sentences_with_phi(source.select(np.zeros(0, dtype=np.int64)), table)) == 0


def test_one_neighbour_is_none() -> None:
    with pytest.raises(ConfigurationError, match="at least 2"):
        made(toy(5), 1)
