from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from foundation.errors import StorageError
from shared.embeddings.cache import RowCache
from shared.embeddings.files import artefact
from shared.embeddings.files.artefact import TENSORS_NAME, VOCABULARY_NAME, load_vectors, save_vectors
from shared.embeddings.files.read import read_vectors
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import UNKNOWN_LENGTH, WordVectors, unit_rows
from shared.errors import EmbeddingError
from tests.shared.embeddings.made import table, with_subwords
from tests.shared.tensor_reading import watch_tensors


def test_known_words_get_their_rows() -> None:
    vectors = table(["Alder", "Birke", "Cedro"])
    np.testing.assert_array_equal(vectors.rows(["Cedro", "Alder", "Cedro"]), vectors.matrix[[2, 0, 2]])
    assert vectors.rows([]).shape == (0, 8)


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("Will", 1),
        ("will", 0),
        ("WILL", 0),
        ("o'clock", 2),
        ("O'Clock", 2),
        ("2019", 3),
        ("15mg", 4),
        ("(will)", 0),
        ("(15-MG)", 4),
        ("9", -1),
        ("'", -1),
    ],
)
def test_other_spellings_stand_in_for_a_word(word: str, row: int) -> None:
    vectors = table(["will", "Will", "oclock", "0000", "00mg"])
    assert vectors.ids([word]).tolist() == [row]
    if row >= 0:
        np.testing.assert_array_equal(vectors.rows([word])[0], vectors.matrix[row])
    else:
        assert np.linalg.norm(vectors.rows([word])) == pytest.approx(UNKNOWN_LENGTH, rel=1e-5)


def test_vectors_with_subwords_know_no_other_spelling() -> None:
    vectors = with_subwords(["will"])
    assert vectors.ids(["will", "Will"]).tolist() == [0, -1]
    assert np.linalg.norm(vectors.rows(["Will", "x", "\ud800"]), axis=1) == pytest.approx([1, 1, 1], rel=1e-5)


def test_a_word_without_ngrams_is_near_zero() -> None:
    vectors = WordVectors(["a"], unit_rows(np.ones((1, 3), np.float32)), Subwords(5, 6, np.ones((4, 3), np.float32)))
    assert np.linalg.norm(vectors.rows(["x"])) == pytest.approx(UNKNOWN_LENGTH, rel=1e-5)


@given(st.lists(st.text("abc", max_size=3), max_size=60), st.integers(1, 5))
def test_a_cache_of_any_size_gives_the_same_rows(words: list[str], capacity: int) -> None:
    def compute(new: list[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        assert len(set(new)) == len(new) <= capacity
        return np.array([[len(word), hash(word) % 1000] for word in new])

    cache = RowCache(capacity, 2, np.int64, compute)
    for _ in range(2):
        assert cache.rows(words).tolist() == [[len(word), hash(word) % 1000] for word in words]
        assert len(cache) <= capacity


def test_a_repeated_word_is_computed_once() -> None:
    asked: list[str] = []

    def compute(new: list[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        asked.extend(new)
        return np.zeros((len(new), 1), np.int64)

    cache = RowCache(10, 1, np.int64, compute)
    for _ in range(5):
        cache.rows(["a", "b", "a"])
    assert asked == ["a", "b"]


def test_endless_huge_words_do_not_fill_the_memory() -> None:
    cache = RowCache(1000, 1, np.int64, lambda new: np.zeros((len(new), 1), np.int64))
    for number in range(50):
        cache.rows([f"{number}" + "x" * 20_000])
    assert len(cache) <= 4


def test_equal_content_means_equal_digest() -> None:
    base = with_subwords(["a", "b"])
    others = [
        with_subwords(["a", "c"]),
        with_subwords(["a", "b"], seed=1),
        with_subwords(["a", "b"], buckets=49),
        table(["a", "b"]),
    ]
    assert with_subwords(["a", "b"]).digest == base.digest
    assert len({base.digest, *(other.digest for other in others)}) == 5


@pytest.mark.parametrize(
    ("words", "matrix"),
    [
        (["a", "a"], np.eye(2)),
        (["a"], np.eye(2)),
        ([], np.eye(2)[:0]),
        (["a", "b"], 3 * np.eye(2)),
        (["a", "b"], np.array([[1, 0], [np.nan, 1]])),
        (["a", "b"], np.array([[1, 0], [0, 0]])),
    ],
)
def test_unfit_vectors_are_refused(words: list[str], matrix: np.ndarray[Any, Any]) -> None:
    with pytest.raises(EmbeddingError):
        WordVectors(words, matrix.astype(np.float32))


@pytest.mark.parametrize(
    "subwords",
    [
        Subwords(0, 2, np.ones((3, 2), np.float32)),
        Subwords(1, 2, np.ones((3, 3), np.float32)),
        Subwords(1, 2, np.full((3, 2), np.inf, np.float32)),
        Subwords(1, 33, np.ones((3, 2), np.float32)),
    ],
)
def test_unfit_subwords_are_refused(subwords: Subwords) -> None:
    with pytest.raises(EmbeddingError):
        WordVectors(["a", "b"], np.eye(2, dtype=np.float32), subwords)


def test_unit_rows_hold_for_tiny_huge_and_zero_rows() -> None:
    rows = unit_rows(np.array([[3e-20, 4e-20], [3e20, 4e20], [0, 0]], dtype=np.float32))
    np.testing.assert_allclose(rows[:2], [[0.6, 0.8]] * 2, rtol=1e-6)
    assert np.linalg.norm(rows[2]) == pytest.approx(UNKNOWN_LENGTH)


@pytest.mark.parametrize("made", [table, with_subwords])
def test_an_artefact_reads_back(made: Any, tmp_path: Path) -> None:
    vectors: WordVectors = made(["Alder", "ñandú", "\ud800", ""])
    save_vectors(vectors, tmp_path)
    assert read_vectors(tmp_path).digest == vectors.digest
    save_vectors(vectors, tmp_path, dtype="float16")
    again = read_vectors(tmp_path)
    assert again.words == vectors.words
    np.testing.assert_allclose(again.rows(["Alder", "other"]), vectors.rows(["Alder", "other"]), atol=2e-3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [TENSORS_NAME, VOCABULARY_NAME]


def test_an_artefact_cut_or_changed_anywhere_is_refused(tmp_path: Path) -> None:
    save_vectors(with_subwords(["Alder", "Birke"], dim=2, buckets=3), tmp_path)
    for name in (TENSORS_NAME, VOCABULARY_NAME):
        whole = (tmp_path / name).read_bytes()
        for length in range(len(whole)):
            (tmp_path / name).write_bytes(whole[:length])
            with pytest.raises(EmbeddingError):
                load_vectors(tmp_path)
        (tmp_path / name).write_bytes(whole)
    whole = (tmp_path / TENSORS_NAME).read_bytes()
    (tmp_path / TENSORS_NAME).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(EmbeddingError, match="expected the tensors"):
        load_vectors(tmp_path)


@pytest.mark.parametrize(
    "tensors",
    [
        {"matrix": np.eye(2, dtype=np.float64)},
        {"matrix": np.eye(3, dtype=np.float32)},
        {"other": np.eye(2, dtype=np.float32)},
        {"matrix": np.eye(2, dtype=np.float32), "more": np.eye(2, dtype=np.float32)},
        {"matrix": np.array([[1, 0], [0, np.nan]], dtype=np.float32)},
        {"matrix": np.array([[1, 0], [0, np.inf]], dtype=np.float16)},
    ],
)
def test_a_foreign_release_with_unfit_tensors_is_refused(tensors: dict[str, Any], tmp_path: Path) -> None:
    save_vectors(WordVectors(["a", "b"], np.eye(2, dtype=np.float32)), tmp_path)
    save_file(tensors, tmp_path / TENSORS_NAME)
    vocabulary = json.loads((tmp_path / VOCABULARY_NAME).read_text())
    vocabulary["tensors_sha256"] = hashlib.sha256((tmp_path / TENSORS_NAME).read_bytes()).hexdigest()
    (tmp_path / VOCABULARY_NAME).write_text(json.dumps(vocabulary))
    with pytest.raises(EmbeddingError):
        load_vectors(tmp_path)


def test_tensors_of_other_shapes_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_vectors(WordVectors(["a", "b"], np.eye(2, dtype=np.float32)), tmp_path)
    size = 1 << 16
    header = json.dumps({"matrix": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with (tmp_path / TENSORS_NAME).open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    vocabulary = json.loads((tmp_path / VOCABULARY_NAME).read_text())
    vocabulary["tensors_sha256"] = hashlib.sha256((tmp_path / TENSORS_NAME).read_bytes()).hexdigest()
    (tmp_path / VOCABULARY_NAME).write_text(json.dumps(vocabulary))

    read = watch_tensors(monkeypatch, artefact)
    with pytest.raises(EmbeddingError, match="expected tensors"):
        load_vectors(tmp_path)
    assert not read


def test_tensors_larger_than_any_memory_are_refused_by_their_size(tmp_path: Path) -> None:
    save_vectors(WordVectors(["a", "b"], np.eye(2, dtype=np.float32)), tmp_path)
    with (tmp_path / TENSORS_NAME).open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(EmbeddingError, match="at most"):
        load_vectors(tmp_path)


def test_a_full_disk_leaves_the_old_artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = table(["a", "b"])
    save_vectors(old, tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        save_vectors(table(["c", "d"]), tmp_path)
    assert load_vectors(tmp_path).digest == old.digest
    assert len(list(tmp_path.iterdir())) == 2


def test_no_word_shows_in_a_repr() -> None:
    assert "Alder" not in repr(table(["Alder"])) + repr(with_subwords(["Alder"]))
