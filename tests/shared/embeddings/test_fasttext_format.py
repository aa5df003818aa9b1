from __future__ import annotations

import gzip
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from gensim.models.fasttext import FastTextKeyedVectors, ft_ngram_hashes, load_facebook_model, load_facebook_vectors
from hypothesis import given
from hypothesis import strategies as st

from aggregator.commands.learning.public_text import bin_file
from shared.embeddings.files.fasttext_format import read_bin, save_bin
from shared.embeddings.files.read import read_vectors
from shared.embeddings.subwords import MAX_CHARACTERS, ngram_hashes
from shared.errors import EmbeddingError
from tests.shared.embeddings.made import table, with_subwords

UNKNOWN = ["Aldermann", "föhren", "日本語", "été", "😀x", "a", "0815", "Zürich-Nord", "x" * 300]
DICTIONARY = 8 + 56


@pytest.fixture(scope="module")
def theirs(gensim_bin: Path) -> FastTextKeyedVectors:
    return load_facebook_vectors(str(gensim_bin))


@given(words=st.lists(st.text(max_size=12), max_size=8), minn=st.integers(1, 4), more=st.integers(0, 3))
def test_ngram_hashes_are_those_of_gensim(words: list[str], minn: int, more: int) -> None:
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    owners, hashes = ngram_hashes([f"<{word}>".encode() for word in words], minn, minn + more)
    for number, word in enumerate(words):
        assert sorted(hashes[owners == number].tolist()) == sorted(ft_ngram_hashes(word, minn, minn + more, 2**32))


@pytest.mark.parametrize("zipped", [False, True])
def test_a_model_of_gensim_reads_as_gensim_reads_it(
    zipped: bool, gensim_bin: Path, theirs: FastTextKeyedVectors, tmp_path: Path
) -> None:
    path = gensim_bin
    if zipped:
        path = tmp_path / "model.bin.gz"
        path.write_bytes(gzip.compress(gensim_bin.read_bytes()))
    ours = read_vectors(path)
    assert list(ours.words) == theirs.index_to_key
    np.testing.assert_allclose(ours.matrix, theirs.get_normed_vectors(), atol=1e-6)
    expected = np.stack([theirs.get_vector(word, norm=True) for word in UNKNOWN])
    # The longest word sums 1,200 rows in single precision, in another order than gensim does.
    np.testing.assert_allclose(ours.rows(UNKNOWN), expected, atol=1e-5)


@pytest.mark.parametrize("subwords", [True, False])
def test_what_we_write_reads_back_here_and_in_gensim(subwords: bool, tmp_path: Path) -> None:
    words = ["Alder", "ñandú", "x", "日本", "0"]
    vectors = with_subwords(words) if subwords else table(words)
    path = tmp_path / "ours.bin"
    save_bin(vectors, path)
    again = read_vectors(path)
    theirs = load_facebook_model(str(path)).wv
    assert again.words == vectors.words
    assert theirs.index_to_key == words
    assert again.kind == vectors.kind
    np.testing.assert_allclose(again.matrix, vectors.matrix, atol=1e-6)
    np.testing.assert_allclose(theirs.get_normed_vectors(), vectors.matrix, atol=1e-6)
    np.testing.assert_array_equal(again.rows(UNKNOWN), vectors.rows(UNKNOWN))
    if subwords:
        expected = np.stack([theirs.get_vector(word, norm=True) for word in UNKNOWN])
        np.testing.assert_allclose(vectors.rows(UNKNOWN), expected, atol=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["ours.bin"]


def test_the_end_of_sentence_has_no_ngrams_as_in_fasttext(tmp_path: Path) -> None:
    vectors = with_subwords(["</s>", "Alder"])
    save_bin(vectors, tmp_path / "m.bin")
    # What `train-embeddings --bin` may write over.
    assert bin_file.convert(str(tmp_path / "m.bin"), None, None) == tmp_path / "m.bin"
    assert vectors.subwords is not None
    sums, counts = vectors.subwords.sums(["</s>", "Alder"])
    assert counts.tolist() == [0, 6 + 5 + 4]
    assert not np.any(sums[0])
    np.testing.assert_allclose(read_vectors(tmp_path / "m.bin").matrix, vectors.matrix, atol=1e-6)


def test_a_model_cut_anywhere_is_refused(tmp_path: Path) -> None:
    save_bin(with_subwords(["Alder", "ñandú"], dim=2, buckets=5), tmp_path / "whole.bin")
    whole = (tmp_path / "whole.bin").read_bytes()
    for content in [*(whole[:length] for length in range(len(whole))), whole + b"\0"]:
        (tmp_path / "cut.bin").write_bytes(content)
        with pytest.raises(EmbeddingError):
            read_vectors(tmp_path / "cut.bin")


@given(place=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_changed_byte_never_ends_in_a_foreign_error(
    place: int, value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    save_bin(with_subwords(["Alder", "ñandú"], dim=2, buckets=5), folder / "m.bin")
    content = bytearray((folder / "m.bin").read_bytes())
    content[place % len(content)] = value
    (folder / "m.bin").write_bytes(content)
    with suppress(EmbeddingError):
        assert np.isfinite(read_vectors(folder / "m.bin").rows(["Alder", "unknown"])).all()


@pytest.mark.parametrize(
    ("offset", "value", "complaint"),
    [
        (4, struct.pack("<i", 10), "version 12, got 10"),
        (8, struct.pack("<i", 0), "sensible arguments"),
        (8, struct.pack("<i", 3), r"expected vectors \[7, 3\], got \[7, 2\]"),
        (8 + 4 * 7, struct.pack("<i", 3), "classifier"),
        (DICTIONARY, struct.pack("<i", 3), "2 words in 3 entries"),
        (DICTIONARY + 8, struct.pack("<i", 2), "without labels, got 2"),
        (DICTIONARY + 20, struct.pack("<q", 4), "pruned"),
        (DICTIONARY + 28, b"\xff", "entry 1 of the dictionary in UTF-8"),
        (DICTIONARY + 28 + 6 + 9 + 6 + 9, b"\1", "quantised"),
        (DICTIONARY + 28 + 6 + 9 + 6 + 9 + 17, struct.pack("<f", float("nan")), "NaN"),
    ],
)
def test_models_that_can_not_serve_are_refused(offset: int, value: bytes, complaint: str, tmp_path: Path) -> None:
    save_bin(with_subwords(["Alder", "Birke"], dim=2, buckets=5), tmp_path / "m.bin")
    content = bytearray((tmp_path / "m.bin").read_bytes())
    content[offset : offset + len(value)] = value
    (tmp_path / "m.bin").write_bytes(content)
    with pytest.raises(EmbeddingError, match=complaint):
        read_vectors(tmp_path / "m.bin")


def test_another_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(struct.pack("<2i", 100, 5) + bytes(100))
    with pytest.raises(EmbeddingError, match="another format"):
        read_vectors(tmp_path / "m.bin")


def test_a_word_that_utf8_can_not_hold_is_not_written(tmp_path: Path) -> None:
    for word in ("\ud800", "a\0b"):
        with pytest.raises(EmbeddingError):
            save_bin(table(["Alder", word]), tmp_path / "m.bin")
    assert not list(tmp_path.iterdir())


def test_a_word_without_end_is_not_read_to_the_end_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    save_bin(table(["Alder"]), path)
    data = path.read_bytes()
    start = data.index(b"Alder")
    path.write_bytes(data[:start] + b"a" * 10_000_000)
    with pytest.raises(EmbeddingError, match="65536 bytes and more"):
        read_bin(path)


def test_a_huge_word_is_read_up_to_the_bound() -> None:
    vectors = with_subwords(["Alder"])
    np.testing.assert_array_equal(vectors.rows(["ab" * 1_000_000]), vectors.rows(["ab" * (MAX_CHARACTERS // 2)]))
