"""What is left out of a share when sentences without PHI are."""

from __future__ import annotations

import numpy as np
import pytest

from bench.privacy.worth.chosen import kept_sentences
from shared.sentences.tokenised import TokenisedSentences

SENTENCES = TokenisedSentences(
    [f"w{place}" for place in range(1200)],
    np.tile(np.array([0, 0, 0, 1, 0, 0], dtype=np.uint8), 200),
    np.full(400, 3, dtype=np.int64),
)


@pytest.mark.parametrize(("dropped", "least", "most"), [(0.0, 200, 200), (0.5, 80, 120), (1.0, 0, 0)])
def test_sentences_with_phi_and_those_of_the_provider_stay(dropped: float, least: int, most: int) -> None:
    kept = kept_sentences(SENTENCES, dropped, own=10)
    assert kept[1::2].all()
    assert kept[:10].all()
    without = kept_sentences(SENTENCES, dropped)[::2].sum()
    assert least <= without <= most
