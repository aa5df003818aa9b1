"""The k-anonymous vocabulary: no word outside the public list is told from the others of its cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.embeddings.artefact import load_vectors, save_vectors
from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors, folded, generalise
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.errors import ConfigurationError, EmbeddingError


def vectors(words: list[str], dim: int = 6, seed: int = 0, subwords: bool = True) -> WordVectors:
    generator = np.random.default_rng(seed)
    grams = Subwords(2, 3, generator.normal(size=(50, dim)).astype(np.float32)) if subwords else None
    return WordVectors(words, unit_rows(generator.normal(size=(len(words), dim)).astype(np.float32)), grams)


def lower(words: list[str], dim: int = 6, seed: int = 0, subwords: bool = True) -> FoldedVectors:
    return folded(vectors(words, dim, seed, subwords))


def names(count: int) -> list[str]:
    return ["w" + "".join("abcdefghij"[int(digit)] for digit in str(i)) for i in range(count)]


def mask(count: int, public: set[int]) -> NDArray[np.bool_]:
    return np.array([i in public for i in range(count)])


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(30, 120), st.integers(0, 20), st.integers(0, 99))
def test_every_cluster_has_k_words_with_one_vector(k: int, count: int, public: int, seed: int) -> None:
    words = names(count) + [str(i) for i in range(25)]
    base = lower(words, seed=seed)
    made = generalise(base, mask(len(words), set(range(public))), k)
    assert (made.classes[:public] == PUBLIC).all()
    np.testing.assert_array_equal(made.rows(words[:public]), base.rows(words[:public]))
    sizes = np.bincount(made.classes[made.classes >= 0])
    assert sizes.min() == made.k >= k
    assert sizes.max() < 2 * k
    for cluster in range(len(sizes)):
        members = [word for word, own in zip(words, made.classes, strict=True) if own == cluster]
        assert len(np.unique(made.rows(members), axis=0)) == 1
        # Casing and digits travel too: no cluster may be told apart by them.
        assert len({member.isdecimal() for member in members}) == 1


def test_casing_is_folded() -> None:
    made = generalise(lower(names(20)), mask(20, {0}), 5)
    np.testing.assert_array_equal(made.rows(["WA", "Wb"]), made.rows(["wa", "wb"]))


def test_few_numbers_join_the_words() -> None:
    words = [*names(20), "1", "2"]
    made = generalise(lower(words), mask(22, set()), 5)
    assert np.bincount(made.classes).min() >= 5


@pytest.mark.parametrize("subwords", [True, False])
def test_an_unknown_word_shows_a_cluster_and_never_a_public_word(subwords: bool) -> None:
    made = generalise(lower(names(60), subwords=subwords), mask(60, set(range(30))), 5)
    unknown = ["zzzz", "Wabc", "123", "ñandú", "w"]
    rows = made.rows(unknown)
    centres = {row.tobytes() for row in made.centres}
    assert all(row.tobytes() in centres for row in rows)
    np.testing.assert_array_equal(made.centres[made.cluster(unknown)], rows)
    assert (made.cluster(["wa"]) == PUBLIC).all()


def test_it_survives_the_disk_in_half_precision(tmp_path: Path) -> None:
    made = generalise(lower(names(40)), mask(40, {1, 2}), 6)
    save_vectors(made, tmp_path, dtype="float16")
    back = load_vectors(tmp_path)
    assert isinstance(back, GeneralisedVectors)
    np.testing.assert_array_equal(back.classes, made.classes)
    assert back.k == made.k
    np.testing.assert_allclose(back.matrix, made.matrix, atol=1e-3)
    assert len(np.unique(back.rows(["wd", "we", "zzz"]), axis=0)) <= 3
    assert "wd" not in repr(back)


def test_the_digest_knows_the_clusters() -> None:
    base = lower(names(40))
    one, other = (generalise(base, mask(40, public), 6) for public in (set(), {0}))
    assert one.digest != other.digest != base.digest


@pytest.mark.parametrize(("k", "public"), [(1, set()), (11, set()), (6, set(range(5)))])
def test_impossible_sizes_are_refused(k: int, public: set[int]) -> None:
    with pytest.raises(ConfigurationError, match="in a cluster"):
        generalise(lower(names(10)), mask(10, public), k)


def test_rows_that_would_tell_words_of_a_cluster_apart_are_refused() -> None:
    base = vectors(["a", "b", "c"])
    with pytest.raises(EmbeddingError, match="equal vectors within a cluster"):
        GeneralisedVectors(base.words, base.matrix, 3, np.zeros(3, dtype=np.int32))
    with pytest.raises(EmbeddingError, match="numbered from 0"):
        GeneralisedVectors(base.words, base.matrix, 3, np.array([-1, -1, 1], dtype=np.int32))
    with pytest.raises(EmbeddingError, match="lower case"):
        FoldedVectors(["A", "b"], unit_rows(np.ones((2, 4), dtype=np.float32)), 3)
    with pytest.raises(EmbeddingError, match="columns of flags"):
        FoldedVectors(["a", "b"], unit_rows(np.ones((2, 4), dtype=np.float32)), 4)


def test_folding_keeps_the_most_frequent_spelling_and_adds_names() -> None:
    base = vectors(["Will", "will", "stone"])
    made = folded(base, [["Quill", "STONE"], ["will"]])
    assert made.words == ("will", "stone", "quill")
    assert made.dim == base.dim + 5
    expected = np.concatenate([base.rows(["Will"])[0], [0, 0, 0, 0, 0.5]])
    np.testing.assert_allclose(made.matrix[0], expected / np.linalg.norm(expected), rtol=1e-5)
    assert (made.matrix[1:, -2] > 0).all()
    assert (made.matrix[1:, -1] == 0).all()


def test_numbers_show_how_many_digits_they_have_known_or_not() -> None:
    made = folded(vectors(["a", "12"]))
    flags = made.rows(["12", "7", "123", "2014", "12345", "word"])[:, -3:] > 0
    assert flags.tolist() == [
        [True, False, False], [True, False, False], [True, True, False], [True, True, True], [True, True, True],
        [False, False, False],
    ]  # fmt: skip
