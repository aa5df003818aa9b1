"""Tokens and sentences of labelled text: exact offsets, and no look at what is labelled.

What a span may show is told here from how it was made, never by cutting it with our own patterns.
"""

from __future__ import annotations

import unicodedata
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text.labelled import MAX_SPAN_TOKENS, PUNCTUATION, Span, grown_spans, tokenise_labelled
from shared.text.tokens import MAX_SENTENCE_TOKENS, tokenise

# None of these may change a share: symbols, marks, what has no width, what directs the writing, private, unprintable.
PASSED_OVER = "€+™|~^$=<>★😀\xad\u0301\u0591\u200b\u200d\u200f\u202e\u2066\ufe0f\ufeff\ue000\x00\x1b\x7f!?%*[]{}¿§¶"
BLANKS = (" ", "  ", "\n", "\r\n", "\n\n", "\t", "\xa0", "\u2028", "\u3000", "\x85")
LETTERS = {"lower": "añxß", "upper": "AÑXД", "uncased": "שم漢"}
DIGITS = "07٣५"

# Whatever decides where a sentence ends, around spans and without any.
_WORDS = ("the", "The", "Dr", "paseo", "J", "12", "a line that is so long that a printer may have wrapped it somewhere")
_MARKS = (*'.!:;,-*()"', "...", "\n", "\n\n", " ", "  ", "\t", "\u0301", "\u200b", "\ue000")
OUTSIDE = st.lists(st.sampled_from([*_WORDS, *_MARKS]), max_size=12).map("".join)


@st.composite
def shapes(draw: st.DrawFn) -> list[tuple[str, bool]]:
    """A span as a share may show it: for each token its kind, and whether white space comes ahead of it."""
    kinds = draw(st.lists(st.sampled_from([*LETTERS, "digits", *PUNCTUATION]), min_size=1, max_size=6))
    shape: list[tuple[str, bool]] = []
    for kind in kinds:
        runs_on = bool(shape) and (
            (kind in LETTERS and shape[-1][0] in LETTERS) or kind == shape[-1][0] or (kind == "." == shape[-1][0])
        )
        shape.append((kind, bool(shape) and (runs_on or draw(st.booleans()))))
    return shape


@st.composite
def written(draw: st.DrawFn, shape: list[tuple[str, bool]]) -> str:
    """PHI of a shape, of any length in characters, with anything strewn in that has no right to show."""
    noise = st.text(PASSED_OVER, max_size=3)
    parts = [draw(noise)]
    for kind, apart in shape:
        parts.append(draw(st.sampled_from(BLANKS)) + draw(noise) if apart else "")
        if kind in PUNCTUATION:
            parts.append(kind + draw(noise))
        else:
            alphabet = DIGITS if kind == "digits" else LETTERS[kind]
            for character in draw(st.text(alphabet, min_size=2, max_size=70 if draw(st.booleans()) else 4)):
                parts.append(character + draw(noise))
    return "".join(parts) + draw(st.sampled_from(["", *BLANKS]) if len(shape) > 1 else st.just(""))


def kinds(words: list[str]) -> list[str]:
    """What a share shows of words at most, but for punctuation: told character by character."""
    return [
        word
        if word in PUNCTUATION
        else "digits"
        if word.isdecimal()
        else "upper"
        if word.isupper()
        else "lower"
        if word.islower()
        else "uncased"
        for word in words
    ]


def placed(pieces: list[str]) -> tuple[str, list[Span]]:
    """A text of pieces, of which every second is labelled."""
    ends = list(accumulate(map(len, pieces)))
    return "".join(pieces), [(ends[i - 1], ends[i]) for i in range(1, len(pieces), 2)]


def cut(text: str, spans: list[Span]) -> tuple[list[str], list[bool], list[tuple[int, int]]]:
    """Words, which of them lie in spans, and the sentences."""
    tokens = tokenise_labelled(text, spans, [MAX_SPAN_TOKENS] * len(spans))
    inside = [any(start < last and first < end for first, last in spans) for start, end in tokens.spans.tolist()]
    return tokens.words, inside, tokens.sentences()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_nothing_but_the_shape_of_a_span_shows(data: st.DataObject) -> None:
    shape = data.draw(st.lists(shapes(), min_size=1, max_size=3))
    around = [data.draw(OUTSIDE) for _ in range(len(shape) + 1)]
    found = []
    for _ in range(2):
        pieces = [
            part for pair in zip(around, (data.draw(written(one)) for one in shape), strict=False) for part in pair
        ]
        words, inside, sentences = cut(*placed([*pieces, around[-1]]))
        outside = [word for word, within in zip(words, inside, strict=True) if not within]
        labelled = [word for word, within in zip(words, inside, strict=True) if within]
        assert kinds(labelled) == [kind for one in shape for kind, _ in one]
        found.append((outside, inside, sentences))
    assert found[0] == found[1]


@given(st.lists(st.text(min_size=1) | st.text("aZ1. \n\u200b", min_size=1), min_size=1, max_size=7))
def test_offsets_are_exact_whatever_is_labelled(pieces: list[str]) -> None:
    text, spans = placed(pieces)
    tokens = tokenise_labelled(text, spans, [MAX_SPAN_TOKENS] * len(spans))
    places = tokens.spans.tolist()
    assert all(start < end for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    for first, last in spans:
        own = [(start, end) for start, end in places if start < last and first < end]
        assert 1 <= len(own) <= MAX_SPAN_TOKENS
        assert all(first <= start and end <= last for start, end in own)
    covered = [index for start, end in tokens.sentences() for index in range(start, end)]
    assert covered == list(range(len(tokens)))
    left = set(range(len(text))) - {place for start, end in places for place in range(start, end)}
    left -= {place for first, last in spans for place in range(first, last)}
    # A mark behind a span belongs to it, and not to what comes next.
    assert all(text[place].isspace() or unicodedata.category(text[place]) in ("Mn", "Mc", "Me", "Cf") for place in left)


@given(st.text() | OUTSIDE)
def test_without_labels_a_text_is_cut_as_any_other(text: str) -> None:
    labelled, plain = tokenise_labelled(text, [], []), tokenise(text)
    assert (labelled.words, labelled.spans.tolist()) == (plain.words, plain.spans.tolist())
    assert labelled.sentences() == plain.sentences()


def test_a_span_has_so_many_tokens_and_no_more() -> None:
    text = "Lives at " + "1 a " * 500 + "."
    tokens = tokenise_labelled(text, [(9, len(text) - 1)], [3])
    assert tokens.words == ["Lives", "at", "1", "a", "a" * 499, "."]
    assert tokens.spans.tolist()[4] == [13, len(text) - 2]
    assert tokenise_labelled(text, [(9, len(text) - 1)], [1]).spans.tolist()[2] == [9, len(text) - 2]


def test_sentences_of_labelled_text_are_bounded_whatever_is_labelled() -> None:
    short, long = (
        [*("x, " if part % 2 == 0 else phi for part in range(2000))] for phi in ("a", "a b c d e f g h " * 9)
    )
    (words, _, sentences), (more, _, others) = cut(*placed(short)), cut(*placed(long))
    assert len(sentences) == len(others) > 10
    assert max(end - start for start, end in others) <= MAX_SENTENCE_TOKENS
    assert len(words) < len(more)


@pytest.mark.parametrize(
    ("text", "labelled", "grown"),
    [
        ("Seen by Annabel.", "Anna", "Annabel"),
        ("by Rosanna", "nna", "Rosanna"),
        ("by Anna came", "Anna ", "Anna "),
        ("by Anna came", " Anna", " Anna"),
        ("born 1984.", "198", "1984"),
        ("a 58yo man", "58", "58"),
        ("MR1234567", "1234567", "1234567"),
        ("by Dr.Annabel", "Annabel", "Annabel"),
        ("Ann-Marie", "Ann", "Ann"),
        ("Jose\u0301 came", "Jose", "Jose\u0301"),
        ("id 12\u200b3456 x", "12", "12\u200b3456"),
        ("é\u0301Anna", "Anna", "Anna"),
    ],
)
def test_what_was_forgotten_beside_a_span_is_taken_in(text: str, labelled: str, grown: str) -> None:
    start = text.index(labelled)
    assert [text[first:last] for first, last in grown_spans(text, [(start, start + len(labelled))])] == [grown]


def test_spans_do_not_grow_into_one_another() -> None:
    text = "AnnaxxxBerta"
    assert grown_spans(text, [(0, 4), (7, 12)]) == [(0, 7), (7, 12)]
    assert grown_spans("AnnaBerta", [(0, 4), (4, 9)]) == [(0, 4), (4, 9)]
    assert grown_spans("", []) == []
