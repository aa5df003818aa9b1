from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError
from tests.shared.embeddings.made import table, with_subwords

WORDS = [f"w{number}" for number in range(100)] + ["will", "Will", "the", "/", "1", "2", "3", "2018", "2019", "2020"]


def _made(n: int, **options: bool) -> Pseudonymiser:
    return Pseudonymiser(Neighbours(table(WORDS)), n, **options)


@pytest.mark.parametrize("word", ["Will", "the", "WILL", "never-seen", "w5", "\ue000", "\u0301"])
def test_stop_words_and_unknown_words_are_replaced(word: str) -> None:
    replaced = _made(50).replace([word] * 200, np.random.default_rng(0))
    assert replaced.count(word) < 20
    assert len(set(replaced)) > 30
    assert set(replaced) <= set(WORDS)


def test_a_word_stays_once_in_n_and_every_candidate_is_equally_likely() -> None:
    pseudonymiser = _made(10)
    drawn = Counter(pseudonymiser.replace(["Will"] * 20_000, np.random.default_rng(1)))
    assert set(drawn) == {WORDS[row] for row in pseudonymiser.candidates("Will")}
    assert "Will" in drawn
    # 5 standard deviations of a binomial draw.
    assert all(abs(count - 2000) < 5 * (20_000 * 0.1 * 0.9) ** 0.5 for count in drawn.values())


def test_candidates_are_the_nearest_words() -> None:
    pseudonymiser = _made(7)
    for word in ("Will", "unseen", "w3"):
        assert (
            pseudonymiser.candidates(word).tolist() == pseudonymiser.neighbours.find_nearest([word], 7)[0][0].tolist()
        )


def test_one_candidate_leaves_what_the_vocabulary_has() -> None:
    assert _made(1).replace(["Will", "w3", "2019"], np.random.default_rng(0))[:2] == ["Will", "w3"]


@pytest.mark.parametrize(
    ("token", "n", "expected"),
    [
        ("1999", 3, {"2018", "2019", "2020"}),
        ("2019", 3, {"2018", "2019", "2020"}),
        ("77", 3, {"1", "2", "3", "2018", "2019", "2020"}),
        ("1999", 4, {"1", "2", "3", "2018", "2019", "2020"}),
    ],
)
def test_digits_become_digits_of_the_same_length_where_there_are_enough(token: str, n: int, expected: set[str]) -> None:
    pseudonymiser = _made(n)
    assert {WORDS[row] for row in pseudonymiser.candidates(token)} == expected
    assert set(pseudonymiser.replace([token] * 300, np.random.default_rng(0))) == expected


def test_digits_have_n_candidates_in_a_vocabulary_with_few_digits() -> None:
    assert len(_made(50).candidates("1999")) == 50
    replaced = _made(50).replace(["1999"] * 100, np.random.default_rng(0))
    assert "1999" not in replaced


def test_punctuation_stays_unless_asked_for() -> None:
    assert _made(5).replace(["/", "...", "€"], np.random.default_rng(0)) == ["/", "...", "€"]
    assert not _made(5).candidates("/").size
    replaced = _made(50, replace_punctuation=True).replace(["/"] * 200, np.random.default_rng(0))
    assert replaced.count("/") < 20


@pytest.mark.parametrize(
    ("word", "punctuation"),
    [
        ("/", True),
        ("...", True),
        ("+", True),
        ("a", False),
        ("7", False),
        ("\u0301", False),
        ("\ud800", False),
        ("x.", False),
    ],
)
def test_only_punctuation_and_symbols_count_as_punctuation(word: str, punctuation: bool) -> None:
    assert is_punctuation(word) is punctuation


def test_the_same_seed_gives_the_same_pseudonyms_in_any_cache_state() -> None:
    words = [*WORDS, "unseen", "1999", "Will"] * 3
    first = _made(20)
    once = first.replace(words, np.random.default_rng(5))
    assert first.replace(words, np.random.default_rng(5)) == once
    assert _made(20).replace(words, np.random.default_rng(5)) == once
    assert first.replace(words, np.random.default_rng(6)) != once


def test_an_unknown_word_is_never_given_back() -> None:
    pseudonymiser = Pseudonymiser(Neighbours(with_subwords(WORDS)), 100)
    assert "Willmann" not in pseudonymiser.replace(["Willmann"] * 500, np.random.default_rng(0))


def test_no_words_give_no_words() -> None:
    assert _made(5).replace([], np.random.default_rng(0)) == []


@pytest.mark.parametrize("n", [0, len(WORDS) + 1])
def test_a_number_out_of_range_is_refused(n: int) -> None:
    with pytest.raises(ConfigurationError, match=f"1 to {len(WORDS)}"):
        _made(n)
