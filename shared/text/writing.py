"""Tokens written as a text again, as far as anybody can who knows nothing of the white space between them.

A share knows the tokens of a sentence, not how they stood in a line. What follows a tagger reads text, so a provider that wants to know what a
whole pipeline does at a hospital writes the tokens of its share in the usual way: marks stand at the word that they usually stand at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.text.tokens import Tokens

# Nothing stands between these and the word ahead of them, or behind them.
_AT_THE_LEFT = frozenset(".,;:!?)]}%'’")
_AT_THE_RIGHT = frozenset("([{#$@'’")
# Between two words or numbers these make one: a date, an address in the net, a name.
_INSIDE = frozenset("/-_@&'’+=~")
# Letters so few beside a number are written to it ("x97424", "22nd", "40s", "S52"), unless they are words.
_GLUED = 2
_WORDS = frozenset(
    "a am an as at be by do dr el en es et go he hr id if in is it la kg lb lo me mg ml cm cc mm mr ms my no of on or pm pt se so st to tu un up us we y".split()
)


def write_sentences(words: Sequence[str], lengths: NDArray[np.int64]) -> tuple[str, Tokens]:
    """A text of sentences, one a line.

    Args:
        words: tokens of all sentences.
        lengths: of the sentences, int64 `[sentences]`.

    Returns:
        the text, and its tokens: the words, in their order.
    """
    pieces: list[str] = []
    spans = np.zeros((len(words), 2), dtype=np.int32)
    starts = np.cumsum(lengths) - lengths
    place = 0
    for first, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        for index in range(first, first + length):
            between = "" if index == first else _between(words, index, first, first + length)
            place += len(between)
            spans[index] = place, place + len(words[index])
            pieces += (between, words[index])
            place += len(words[index])
        pieces.append("\n")
        place += 1
    return "".join(pieces), Tokens(list(words), spans, starts.astype(np.int32))


def _between(words: Sequence[str], index: int, first: int, end: int) -> str:
    """What stands between a token and the one ahead of it."""
    last, word = words[index - 1], words[index]
    if word in _INSIDE and index + 1 < end:
        return "" if last[-1:].isalnum() and words[index + 1][:1].isalnum() else " "
    if last in _INSIDE and index - 1 > first:
        return "" if word[:1].isalnum() and words[index - 2][-1:].isalnum() else " "
    if word in _AT_THE_LEFT or last in _AT_THE_RIGHT:
        return ""
    if last[-1:].isalnum() and word[:1].isalnum() and last[-1:].isdigit() != word[:1].isdigit():
        letters = last if word[:1].isdigit() else word
        return "" if len(letters) <= _GLUED and letters.lower() not in _WORDS else " "
    # "3.5", "12:30" and "mail.example.org", but "Dr. Smith" and "seen. Then".
    if last in (".", ":") and index - 1 > first and word[:1].isalnum():
        both = words[index - 2][-1:].isdigit() and word[:1].isdigit()
        return "" if both or (last == "." and word[:1].islower() and words[index - 2].islower()) else " "
    return " "
