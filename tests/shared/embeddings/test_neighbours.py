from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.embeddings.files.read import read_vectors
from shared.embeddings.neighbour_cache import cached_nearest
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.errors import ConfigurationError, EmbeddingError
from tests.data import corpus
from tests.shared.embeddings.made import table, with_subwords


def _words(count: int) -> list[str]:
    return [f"w{number}" for number in range(count)]


def _brute(vectors: WordVectors, queries: NDArray[np.float32], n: int) -> NDArray[np.float64]:
    """The n largest cosines of each query, in double precision."""
    rows = queries.astype(np.float64)
    matrix = vectors.matrix.astype(np.float64)
    cosines = rows @ matrix.T / np.linalg.norm(rows, axis=1)[:, None] / np.linalg.norm(matrix, axis=1)
    return -np.sort(-cosines, axis=1)[:, :n]


@pytest.mark.parametrize("n", [1, 2, 10, 60, 500, 2999, 3000])
def test_neighbours_are_those_of_brute_force(n: int) -> None:
    vectors = with_subwords(_words(3000), dim=16)
    asked = ["w7", "never seen", "the", "w2999", "Will"]
    ids, cosines = Neighbours(vectors).find_nearest(asked, n)
    expected = _brute(vectors, vectors.rows(asked), n)
    np.testing.assert_allclose(cosines, expected, atol=1e-6)
    itself = np.einsum("qd,qnd->qn", vectors.rows(asked), vectors.matrix[ids])
    np.testing.assert_allclose(itself, expected, atol=1e-6)
    assert all(len(set(row)) == n for row in ids.tolist())
    assert [vectors.words[row] for row in ids[[0, 3], 0]] == ["w7", "w2999"]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=300), st.integers(1, 300), st.integers(1, 3))
def test_equal_cosines_are_ordered_by_row(kinds: list[int], n: int, dim: int) -> None:
    # Few distinct vectors, so that nearly all cosines are ties.
    n = min(n, len(kinds))
    matrix = np.eye(4, dim + 1, dtype=np.float32)[kinds]
    matrix[np.linalg.norm(matrix, axis=1) == 0, 0] = 1
    vectors = WordVectors(_words(len(kinds)), unit_rows(matrix))
    query = np.eye(1, dim + 1, dtype=np.float32)
    ids, _ = Neighbours(vectors).find_nearest(query, n)
    assert ids[0].tolist() == np.argsort(-(matrix @ query[0]), kind="stable")[:n].tolist()


def test_a_word_comes_first_even_among_words_with_its_vector() -> None:
    vectors = WordVectors(_words(200), np.tile(np.array([[1, 0]], dtype=np.float32), (200, 1)))
    ids, cosines = Neighbours(vectors).find_nearest(["w150"], 3)
    assert ids.tolist() == [[150, 0, 1]]
    assert cosines.tolist() == [[1, 1, 1]]


def test_words_of_which_nothing_is_known_have_neighbours() -> None:
    vectors = table(_words(100))
    ids, cosines = Neighbours(vectors).find_nearest(["?", "never seen"], 5)
    assert ids[0].tolist() == ids[1].tolist()
    assert np.isfinite(cosines).all()
    np.testing.assert_allclose(cosines, _brute(vectors, vectors.rows(["?", "!"]), 5), atol=1e-6)


def test_a_zero_vector_in_the_vocabulary_keeps_cosines_exact() -> None:
    matrix = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    matrix[3] = 0
    vectors = WordVectors(_words(50), unit_rows(matrix))
    _, cosines = Neighbours(vectors).find_nearest(["w3", "w4"], 50)
    np.testing.assert_allclose(cosines, _brute(vectors, vectors.matrix[[3, 4]], 50), atol=1e-6)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    neighbours = Neighbours(table(_words(500)))
    whole = neighbours.find_nearest(_words(40), 20)
    monkeypatch.setattr("shared.embeddings.neighbours._BLOCK_COSINES", 500 * 7)
    blocks = neighbours.find_nearest(_words(40), 20)
    np.testing.assert_array_equal(whole[0], blocks[0])
    assert neighbours.find_nearest([], 3)[0].shape == (0, 3)


@pytest.mark.parametrize("n", [0, -1, 6])
def test_a_number_out_of_range_is_refused(n: int) -> None:
    with pytest.raises(ConfigurationError, match="1 to 5"):
        Neighbours(table(_words(5))).find_nearest(["w1"], n)


def test_rows_of_another_dimension_are_refused() -> None:
    with pytest.raises(EmbeddingError, match=r"\[m, 8\]"):
        Neighbours(table(_words(5))).find_nearest(np.ones((2, 7), np.float32), 1)
    with pytest.raises(EmbeddingError, match="finite"):
        Neighbours(table(_words(5))).find_nearest(np.full((2, 8), np.nan, np.float32), 1)


def test_digit_words_are_found_by_length() -> None:
    neighbours = Neighbours(table(["a", "12", "7", "2b", "99", "1.5", "²", "٣٤"]))
    assert neighbours.digit_words().tolist() == [1, 2, 4, 7]
    assert neighbours.digit_words(2).tolist() == [1, 4, 7]
    assert neighbours.digit_words(9).tolist() == []


def test_a_table_is_searched_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    neighbours = Neighbours(table(_words(30)))
    first = cached_nearest(neighbours, ["w1", "x"], 4, tmp_path / "cache")
    monkeypatch.setattr(Neighbours, "_block", None)
    again = cached_nearest(neighbours, ["w1", "x"], 4, tmp_path / "cache")
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_a_table_of_other_vectors_words_or_number_is_not_taken(tmp_path: Path) -> None:
    one, other = Neighbours(table(_words(30))), Neighbours(table(_words(30), seed=1))
    cached_nearest(one, ["w1"], 4, tmp_path)
    for neighbours, words, n in ((other, ["w1"], 4), (one, ["w2"], 4), (one, ["w1"], 3)):
        np.testing.assert_array_equal(
            cached_nearest(neighbours, words, n, tmp_path)[0], neighbours.find_nearest(words, n)[0]
        )
    assert len(list(tmp_path.iterdir())) == 4


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    neighbours = Neighbours(table(_words(30)))
    cached_nearest(neighbours, ["w1"], 4, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(len(whole))]
    ids = whole.index(np.int32(1).tobytes(), len(whole) - 32)
    damaged.append(whole[:ids] + np.int32(30).tobytes() + whole[ids + 4 :])
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(EmbeddingError, match="delete it"):
            cached_nearest(neighbours, ["w1"], 4, tmp_path)


def test_neighbours_in_a_genuine_vocabulary() -> None:
    vectors = read_vectors(corpus("glove_twitter_25d_12k/glove.twitter.25d.top12k.txt.gz"))
    asked = ["Will", "monday", "zzzunseen"]
    ids, cosines = Neighbours(vectors).find_nearest(asked, 1000)
    np.testing.assert_allclose(cosines, _brute(vectors, vectors.rows(asked), 1000), atol=1e-6)
    assert vectors.words[ids[0, 0]] == "will"
    assert {"tuesday", "friday"} <= {vectors.words[row] for row in ids[1, :10]}
