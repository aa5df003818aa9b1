from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import StorageError
from shared.embeddings.files.read import read_vectors
from shared.embeddings.vectors import UNKNOWN_LENGTH
from shared.errors import EmbeddingError
from tests.data import corpus

GENUINE = (
    ("vec_clinical_es_100d/clinical_es.ppmi-svd.100d.vec.gz", False, 20_978, 100),
    ("vec_clinical_en_100d/clinical_en.ppmi-svd.100d.vec.gz", False, 13_651, 100),
    ("glove_twitter_25d_12k/glove.twitter.25d.top12k.txt.gz", True, 11_925, 25),
)

_WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r\0\ufeff"), min_size=1),
    min_size=1,
    max_size=6,
    unique=True,
)


def _file(folder: Path, content: bytes | str) -> Path:
    path = folder / "made.vec"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.mark.parametrize(("name", "no_header", "words", "dim"), GENUINE)
def test_genuine_files_read_as_gensim_reads_them(name: str, no_header: bool, words: int, dim: int) -> None:
    path = corpus(name)
    ours = read_vectors(path)
    assert ours.matrix.shape == (words, dim)
    # gensim is slow: of those with a header, which are of one make, the first words are enough.
    theirs = KeyedVectors.load_word2vec_format(str(path), no_header=no_header, limit=None if no_header else 2000)
    first = ours.matrix[: len(theirs.vectors)]
    assert list(ours.words[: len(first)]) == theirs.index_to_key
    lengths = np.linalg.norm(theirs.vectors, axis=1, keepdims=True)
    # One of these files has words whose vector is zero.
    present = lengths[:, 0] > 0
    np.testing.assert_allclose(first[present], theirs.vectors[present] / lengths[present], atol=2e-7)
    np.testing.assert_allclose(np.linalg.norm(first[~present], axis=1), UNKNOWN_LENGTH, rtol=1e-5)


@given(words=_WORDS, header=st.booleans(), zipped=st.booleans(), ending=st.sampled_from(["\n", " \n", "\r\n"]))
def test_what_is_written_is_read(
    words: list[str], header: bool, zipped: bool, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    numbers = np.random.default_rng(len(words)).standard_normal((len(words), 3)).astype(np.float32)
    lines = [f"{word} {' '.join(map(repr, row.tolist()))}" for word, row in zip(words, numbers, strict=True)]
    if header:
        lines.insert(0, f"{len(words)} 3")
    content = "".join(line + ending for line in lines).encode("utf-8")
    vectors = read_vectors(_file(tmp_path_factory.mktemp("v"), gzip.compress(content) if zipped else content))
    assert list(vectors.words) == words
    np.testing.assert_allclose(vectors.matrix, numbers / np.linalg.norm(numbers, axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_with_header_cut_anywhere_is_refused(zipped: bool, tmp_path: Path) -> None:
    whole = "4 3\none 0.125 1 2\ntwo -1e-3 .5 3\nçüß 1 2 3\nfour 0.5 0.25 0.75\n".encode()
    whole = gzip.compress(whole) if zipped else whole
    assert len(read_vectors(_file(tmp_path, whole))) == 4
    for length in range(len(whole)):
        with pytest.raises(EmbeddingError):
            read_vectors(_file(tmp_path, whole[:length]))


def test_a_file_without_header_cut_inside_a_line_is_refused(tmp_path: Path) -> None:
    whole = b"one 0.125 1 2\ntwo -1e-3 .5 3\n"
    for length in set(range(len(whole))) - {14}:
        with pytest.raises(EmbeddingError):
            read_vectors(_file(tmp_path, whole[:length]))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "got none"),
        ("2 3\n", "header says, got 0|got none"),
        ("a 1 2\nb 1 2 3\n", "line 2: expected a word and 2 numbers, got 3"),
        ("a 1 2\nb 1\n", "line 2: expected a word and 2 numbers, got 1"),
        ("a 1 2\n\nb 1 2\n", "line 2"),
        ("a 1 2\n 1 2\n", "line 2"),
        ("a 1 2\nb  1 2\n", "line 2"),
        ("a 1 2\nb 1 \t2\n", "line 2"),
        ("a 1 2\nb 1 2\nc 1 nan\n", "line 3: expected 2 finite"),
        ("a 1 2\nb 1 -inf\n", "line 2: expected 2 finite"),
        ("a 1 2\nb 1 1e99\n", "line 2: expected 2 finite"),
        ("a 1 2\nb 1 0x2\n", "line 2: expected 2 finite"),
        ("a 1 2\nb 1 1_0\n", "line 2: expected 2 finite"),
        ("a 1 2\nb 1 0,5\n", "line 2: expected 2 finite"),
        ("a 1 2\nb 3 4\na 5 6\n", "line 3: expected each word once"),
        ("3 2\na 1 2\nb 3 4\na 5 6\n", "line 4: expected each word once"),
        ("1 2\na 1 2\nb 3 4\n", "line 3: expected 1 words"),
        ("3 2\na 1 2\nb 3 4\n", "expected 3 words as the header says, got 2"),
        (b"a 1 2\nb 1 2\n\xff 3 4\n", "line 3: expected a word in UTF-8"),
        ("a\t1\t2\n", "line 1"),
        ("Alder was seen\nby the doctor\n", "line"),
        ("a 1 2\nb 1 2", "line feed at the end"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(content: bytes | str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=complaint) as caught:
        read_vectors(_file(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert "made.vec" in str(caught.value)


def test_a_word_may_hold_spaces_as_in_glove_840b(tmp_path: Path) -> None:
    vectors = read_vectors(_file(tmp_path, "a 1 2\n. . . 3 4\nat name@domain.com 5 6\n\u0085 0 1\n\xa0 1 1\n"))
    assert vectors.words == ("a", ". . .", "at name@domain.com", "\u0085", "\xa0")


def test_words_that_look_like_numbers_are_words(tmp_path: Path) -> None:
    assert read_vectors(_file(tmp_path, "2019 1 2\n7 3 4\n")).words == ("2019", "7")


def test_a_missing_zero_is_not_made_up_for_by_the_next_line(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="line 2"):
        read_vectors(_file(tmp_path, "a 1 2 3\nb 1  2\nc 1 2 3\t4\n"))


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(b"a 1 2\nb 3 4\n" * 1))
    content[-6] ^= 1
    with pytest.raises(EmbeddingError, match="gzip"):
        read_vectors(_file(tmp_path, bytes(content)))


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"absent\.vec: .*No such file"):
        read_vectors(tmp_path / "absent.vec")
