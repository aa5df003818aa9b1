"""Words that a k-anonymous vocabulary shows differently, against the rows that it shows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.distinct import DistinctVectors
from shared.embeddings.generalised import fold_casing, generalise
from tests.shared.embeddings.made import table, with_subwords


@given(count=st.integers(8, 30), k=st.integers(2, 4), seed=st.integers(0, 99), subwords=st.booleans())
def test_every_word_stands_for_one_that_looks_like_it_and_no_two_look_alike(
    count: int, k: int, seed: int, subwords: bool
) -> None:
    names = [f"name{number}" for number in range(count)] + ["12", "7", "1999"]
    made = (with_subwords if subwords else table)(names, 6, seed=seed)
    public = np.random.default_rng(seed).random(len(names)) < 0.3
    public[: 2 * k] = False
    whole = generalise(fold_casing(made), public, k)
    distinct = DistinctVectors(whole)
    assert len(distinct) == whole.public_words + len(whole.centres)
    assert len(np.unique(distinct.matrix, axis=0)) == len(distinct)
    words = [*names, *(name.upper() for name in names), "nobody"]
    np.testing.assert_array_equal(distinct.rows(words), whole.rows(words))
