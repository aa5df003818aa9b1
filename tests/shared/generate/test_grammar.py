"""The grammar engine: what a template may say, and what it then writes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ConfigurationError
from shared.generate.grammar import Grammar, Piece, Rules


class Words:
    """Facts of which a test says all."""

    def __init__(self, **words: str) -> None:
        self._words = words

    def word(self, name: str) -> str | None:
        return self._words.get(name)

    def slot(self, name: str, form: str) -> Piece:
        return Piece(f"<{name}:{form}>", "PATIENT")


def written(rules: Rules, seed: int = 0, **words: str) -> str:
    grammar = Grammar(rules, frozenset(words))
    return "".join(piece.text for piece in grammar.expand("start", Words(**words), Random(seed)))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain text, 95% of < 3", "plain text, 95% of < 3"),
        ("a{b}c", "aBc"),
        ("{^b}", "B"),
        ("{^lower}", "Lower"),
        ("{one|one}", "one"),
        ("{x{b|B}y|xBy}", "xBy"),
        ("[patient:last]'s", "<patient:last>'s"),
        ("{^slot}", "<patient:>"),
        ("<7-7>/<2.5-2.5>", "7/2.5"),
        ("{he} {^he}", "she She"),
        ("{lower*1-1; / }", "lower"),
        ("{nothing}.", "."),
    ],
)
def test_template_writes(template: str, expected: str) -> None:
    rules = {"start": (template,), "b": ("B",), "lower": ("lower",), "slot": ("[patient]",), "nothing": ("",)}
    assert written(rules, he="she") == expected


def test_only_slots_carry_a_category() -> None:
    pieces = Grammar({"start": ("Dear {b}[patient]!",), "b": ("Mr ",)}).expand("start", Words(), Random(0))
    assert [(piece.text, piece.category) for piece in pieces if piece.category] == [("<patient:>", "PATIENT")]


@given(st.integers(0, 10**6))
def test_repeated_expansions_differ_from_each_other(seed: int) -> None:
    parts = written({"start": ("{letter*2-4; + }",), "letter": ("a", "b", "c")}, seed).split(" + ")
    assert 1 <= len(parts) <= 3
    assert len(set(parts)) == len(parts)


@given(st.integers(0, 10**6))
def test_numbers_stay_in_their_range_with_the_decimals_as_written(seed: int) -> None:
    whole, fraction = written({"start": ("<3-9> <0.50-1.25>",)}, seed).split()
    assert 3 <= int(whole) <= 9
    assert 0.5 <= float(fraction) <= 1.25
    assert len(fraction.partition(".")[2]) == 2


def test_weights_decide_how_often() -> None:
    grammar = Grammar({"start": ((9, "often"), (1, "seldom"))})
    random = Random(5)
    counts = Counter(grammar.expand("start", Words(), random)[0].text for _ in range(2000))
    assert 0.87 < counts["often"] / 2000 < 0.93


_NESTED = st.recursive(
    st.text("abc ", max_size=3).map(lambda text: (text, {text})),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(
            lambda parts: ("{" + "|".join(text for text, _ in parts) + "}", set().union(*(words for _, words in parts)))
        ),
        st.tuples(inner, inner).map(
            lambda pair: (pair[0][0] + pair[1][0], {left + right for left in pair[0][1] for right in pair[1][1]})
        ),
    ),
    max_leaves=8,
)


@given(_NESTED, st.integers(0, 1000))
def test_nested_choices_write_nothing_but_their_language(nested: tuple[str, set[str]], seed: int) -> None:
    template, language = nested
    assert written({"start": (template,)}, seed) in language


@pytest.mark.parametrize(
    "rules",
    [
        {"start": ("{open",)},
        {"start": ("[open",)},
        {"start": ("{missing}",)},
        {"start": ("{not a name}",)},
        {"start": ()},
        {"start": ((0, "never"), (1, "ever"))},
    ],
)
def test_malformed_rules_are_refused_before_they_are_used(rules: Rules) -> None:
    with pytest.raises(ConfigurationError, match="start"):
        Grammar(rules)


def test_rules_without_end_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="start"):
        written({"start": ("a {start}",)})


def test_words_of_values_are_no_literal_words() -> None:
    grammar = Grammar({"start": ("Take {x} home",), "x": ("aspirin|{Big|small}",), "@city": ("Rome",)})
    assert grammar.literal_words == {"take", "home", "aspirin", "big", "small"}
