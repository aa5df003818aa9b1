"""The k-anonymous vocabulary: no word outside the public list is told from the others of its cluster."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.embeddings import bisecting
from shared.embeddings.files.artefact import VOCABULARY_NAME, load_vectors, save_vectors
from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors, fold_casing, generalise
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.errors import ConfigurationError, EmbeddingError
from shared.text.casing import casing_class
from shared.text.tokens import tokenise


def vectors(words: list[str], dim: int = 6, seed: int = 0, subwords: bool = True) -> WordVectors:
    generator = np.random.default_rng(seed)
    grams = Subwords(2, 3, generator.normal(size=(50, dim)).astype(np.float32)) if subwords else None
    return WordVectors(words, unit_rows(generator.normal(size=(len(words), dim)).astype(np.float32)), grams)


def lower(words: list[str], dim: int = 6, seed: int = 0, subwords: bool = True) -> FoldedVectors:
    return fold_casing(vectors(words, dim, seed, subwords))


def names(count: int) -> list[str]:
    return ["w" + "".join("abcdefghij"[int(digit)] for digit in str(i)) for i in range(count)]


def mask(count: int, public: set[int]) -> NDArray[np.bool_]:
    return np.array([i in public for i in range(count)])


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 12), st.integers(30, 120), st.integers(0, 20), st.integers(0, 99))
def test_every_cluster_has_k_words_with_one_vector(k: int, count: int, public: int, seed: int) -> None:
    # With fewer words, numbers join them: there are not enough of a kind.
    assume(count - public >= k)
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


def bisected_by_size_alone(features: NDArray[np.float32], rows: NDArray[np.int64], k: int) -> list[frozenset[int]]:
    """The clusters of at least k words where nothing else is promised."""
    if len(rows) < 2 * k:
        return [frozenset(rows.tolist())]
    score = bisecting.split_score(features[rows])
    order = rows[np.argsort(score, kind="stable")]
    cut = min(max(int((score <= 0).sum()), k), len(rows) - k)
    return [part for half in (order[:cut], order[cut:]) for part in bisected_by_size_alone(features, half, k)]


def clusters(made: GeneralisedVectors) -> list[list[int]]:
    return [np.flatnonzero(made.classes == own).tolist() for own in range(int(made.classes.max()) + 1)]


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 12), st.integers(30, 120), st.integers(0, 99))
def test_without_a_largest_share_the_clusters_are_those_of_size_alone(k: int, count: int, seed: int) -> None:
    base = lower(names(count), seed=seed)
    use = np.random.default_rng(seed).geometric(0.01, size=count)
    expected = set(bisected_by_size_alone(base.matrix, np.arange(count), k))
    nothing = mask(count, set())
    for made in (generalise(base, nothing, k), generalise(base, nothing, k, use), generalise(base, nothing, k, use, 1)):
        assert {frozenset(members) for members in clusters(made)} == expected


def share_of(counts: Sequence[int]) -> float:
    """What the commonest word holds; one of as many where public text uses none of them."""
    return max(counts) / sum(counts) if sum(counts) else 1 / len(counts)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 8),
    st.lists(st.integers(0, 9) | st.just(0) | st.integers(0, 200), min_size=20, max_size=90),
    st.integers(0, 25),
    st.floats(0.02, 1),
    st.integers(0, 9),
)
def test_no_word_holds_more_of_its_cluster_than_was_promised(
    k: int, counts: list[int], numbers: int, most: float, public: int
) -> None:
    words = [*names(len(counts) - numbers), *map(str, range(numbers))][: len(counts)]
    counts = counts[: len(words)]
    base, shown = lower(words), mask(len(words), set(range(public)))
    if share_of(counts[public:]) > most:
        with pytest.raises(ConfigurationError, match=r"a largest share of 0\.\d+ to 1|a largest share of 1 to 1"):
            generalise(base, shown, k, np.array(counts), most)
        return
    made = generalise(base, shown, k, np.array(counts), most)
    found = clusters(made)
    shares = [share_of([counts[row] for row in members]) for members in found]
    assert made.largest_share == max(shares) <= most
    assert min(map(len, found)) == made.k >= k
    assert sum(map(len, found)) == len(words) - public
    hidden = [word.isdecimal() for word in words[public:]]
    least = {kind: min(k, hidden.count(kind)) for kind in (True, False)}
    for members in found:
        # What was not split could not be: every cut between its two means leaves a half that breaks a promise.
        score = bisecting.split_score(base.matrix[members])
        for own in (False, True):
            same = [words[row].isdecimal() is own for row in members]
            if 0 < sum(same) < 2 * least[own]:
                score[same] = score[same].mean()
        order = [counts[members[place]] for place in np.argsort(score, kind="stable")]
        kinds = [words[members[place]].isdecimal() for place in np.argsort(score, kind="stable")]
        assert all(
            share_of(order[:cut]) > most
            or share_of(order[cut:]) > most
            or few_of_a_kind(kinds[:cut], least)
            or few_of_a_kind(kinds[cut:], least)
            for cut in range(k, len(order) - k + 1)
        )


def few_of_a_kind(numbers: Sequence[bool], least: dict[bool, int]) -> bool:
    """Whether a half has words of a casing class, but less than there must be."""
    return any(0 < numbers.count(kind) < least[kind] for kind in (True, False))


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 8), st.integers(0, 9), st.lists(st.text("ab1-", min_size=1, max_size=4), unique=True, max_size=12)
)
def test_given_the_casing_class_fewer_words_look_alike(k: int, seed: int, mixed: list[str]) -> None:
    words = [*names(30), *mixed]
    made = generalise(lower(words, seed=seed), mask(len(words), {0}), k)
    everywhere = written(words[1:])
    fewest = len(words)
    for members in clusters(made):
        alike = written([words[row] for row in members])
        assert all(count >= min(k, everywhere[kind]) for kind, count in alike.items())
        fewest = min([fewest, *alike.values()])
    assert made.k_in_casing == fewest


def written(words: list[str]) -> Counter[int]:
    """How many of the words can stand in a text in each casing class, by writing each of them in every way."""
    found: Counter[int] = Counter()
    for word in words:
        if tokenise(word).words == [word]:
            letters = [{letter, letter.upper()} for letter in word]
            found.update({casing_class("".join(spelling)) for spelling in product(*letters)})
    return found


def test_few_letters_by_themselves_make_no_cluster_smaller() -> None:
    """A cluster of so many words, of which one is a letter, has fewer that are written with a capital and small letters."""
    words = [*names(40), *"bcdfg"]
    for seed in range(5):
        made = generalise(lower(words, seed=seed), mask(len(words), set()), 8)
        assert len(clusters(made)) > 1
        assert made.k_in_casing >= 8


def test_a_handful_of_numbers_stays_together() -> None:
    words = [*names(40), *map(str, range(5))]
    for seed in range(5):
        made = generalise(lower(words, seed=seed), mask(len(words), set()), 8)
        assert len(clusters(made)) > 1
        assert made.k_in_casing == 5


def test_what_mixes_digits_with_letters_in_one_token_has_no_row() -> None:
    made = lower([*names(20), "mm³", "²", "½", "a1"])
    assert list(made.words) == [*names(20), "²", "½", "a1"]
    assert generalise(made, mask(23, set()), 5).cluster(["mm³"])[0] >= 0


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


@pytest.mark.parametrize("subwords", [True, False])
def test_another_spelling_of_a_public_word_is_an_unknown_word(subwords: bool) -> None:
    # "Peña" with the accent as a character of its own, as some systems write it, is a surname and not "pena" (grief).
    made = generalise(lower(["pena", *names(20)], subwords=subwords), mask(21, {0}), 5)
    spellings = ["Pen\u0303a", "pe-na", "pena'"]
    assert (made.cluster(["pena"]) == PUBLIC).all()
    assert (made.cluster(spellings) != PUBLIC).all()
    np.testing.assert_array_equal(made.rows(spellings), made.centres[made.cluster(spellings)])


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


def test_what_is_small_on_the_disk_asks_for_little_memory(tmp_path: Path) -> None:
    """A limit on memory, as of a job or a container, counts what is asked for, used or not."""
    save_vectors(generalise(lower(names(40)), mask(40, {1, 2}), 6), tmp_path)
    tracemalloc.start()
    try:
        load_vectors(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_the_largest_share_survives_the_disk_and_older_releases_have_none(tmp_path: Path) -> None:
    made = generalise(lower(names(40)), mask(40, {1, 2}), 6, np.arange(40))
    save_vectors(made, tmp_path)
    back = load_vectors(tmp_path)
    assert isinstance(back, GeneralisedVectors)
    assert back.largest_share == made.largest_share is not None
    stored = json.loads((tmp_path / VOCABULARY_NAME).read_text())
    del stored["largest_share"]
    (tmp_path / VOCABULARY_NAME).write_text(json.dumps(stored))
    older = load_vectors(tmp_path)
    assert isinstance(older, GeneralisedVectors)
    assert older.largest_share is None
    assert older.digest == made.digest
    for wrong in (0.0, 1.5, "0.1", True, float("nan")):
        (tmp_path / VOCABULARY_NAME).write_text(json.dumps(stored | {"largest_share": wrong}))
        with pytest.raises(EmbeddingError):
            load_vectors(tmp_path)


def test_the_digest_knows_which_columns_are_flags() -> None:
    """They decide what an unknown number looks like, and noise that is kept must not be used for it again."""
    one = lower(names(8), dim=12)
    other = FoldedVectors(one.words, one.matrix, one.flags + 3, one.subwords)
    assert (one.rows(["73154"]) != other.rows(["73154"])).any()
    assert one.digest != other.digest
    shown = generalise(one, mask(8, {0, 1}), 2)
    again = GeneralisedVectors(shown.words, shown.matrix, shown.flags + 3, shown.classes, shown.subwords)
    assert shown.digest != again.digest
    assert one.digest not in {shown.digest, WordVectors(one.words, one.matrix, one.subwords).digest}


def test_the_digest_knows_the_clusters() -> None:
    base = lower(names(40))
    one, other = (generalise(base, mask(40, public), 6) for public in (set(), {0}))
    assert one.digest != other.digest != base.digest
    # Words that look alike may be of one cluster, of two, or public.
    alike = unit_rows(np.ones((4, 6), dtype=np.float32))
    classes = ([0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, PUBLIC])
    made = [GeneralisedVectors(names(4), alike, 3, np.array(own, dtype=np.int32)) for own in classes]
    assert len({one.digest for one in made}) == 3


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
    made = fold_casing(base, [["Quill", "STONE"], ["will"]])
    assert made.words == ("will", "stone", "quill")
    assert made.dim == base.dim + 5
    expected = np.concatenate([base.rows(["Will"])[0], [0, 0, 0, 0, 0.5]])
    np.testing.assert_allclose(made.matrix[0], expected / np.linalg.norm(expected), rtol=1e-5)
    assert (made.matrix[1:, -2] > 0).all()
    assert (made.matrix[1:, -1] == 0).all()


def test_numbers_show_how_many_digits_they_have_known_or_not() -> None:
    made = fold_casing(vectors(["a", "12"]))
    flags = made.rows(["12", "7", "123", "2014", "12345", "word"])[:, -3:] > 0
    assert flags.tolist() == [
        [True, False, False],
        [True, False, False],
        [True, True, False],
        [True, True, True],
        [True, True, True],
        [False, False, False],
    ]
