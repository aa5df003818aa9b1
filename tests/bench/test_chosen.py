"""What is left out of a share when sentences without PHI are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.privacy.worth.chosen import kept_sentences
from bench.privacy.worth.words_figure import PAGE, PICTURE, WordsRead, write_words_read
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


def test_the_page_has_a_row_for_each_choice_and_the_picture_a_number(tmp_path: Path) -> None:
    points = [WordsRead(f"choice {place}", place / 10, (0.5, 0.4, 0.6), (0.7, 0.6, 0.8)) for place in (1, 2)]
    write_words_read(points, "Conditions.", "a command", tmp_path)
    page = (tmp_path / PAGE).read_text(encoding="utf-8")
    assert "| choice 2 | 20.0% | 0.50 (0.40 to 0.60) | 0.70 (0.60 to 0.80) |" in page
    assert PICTURE in page
    picture = (tmp_path / PICTURE).read_text(encoding="utf-8")
    assert all(f"{place}  choice {place}" in picture for place in (1, 2))
