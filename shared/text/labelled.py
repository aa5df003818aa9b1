"""Tokens and sentences of a labelled text, cut so that neither can see what the labelled spans say.

A share shows how many tokens a note has and where its sentences end. So both are cut on a text in which every labelled
span is one placeholder, always the same: nothing inside a span moves a boundary or changes a token outside of it. The
tokens of a span are cut by themselves and put in its place. They depend on its letters, digits, white space and PUNCTUATION
alone, not on what else may stand among these: symbols, combining marks, what has no width, what directs the writing.

What stands right beside a span and goes on with its letters or digits was probably forgotten by whoever labelled it;
`grown_spans` takes it in, and asks of the span only whether it has white space at that edge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.text.tokens import Placeholders, Tokens, cut_sentences, cut_tokens

MAX_SPAN_TOKENS = 16
"""A span has no more tokens than these; the last one has all that is left, and of it the letters."""
PUNCTUATION = ".,:;-/'\"()@#&_\\"
"""All that a span shows of its characters that are neither letters nor digits."""

# For private use: a token of its own, no letter, and nothing that a sentence begins or ends with.
_PLACEHOLDER = "\ue000"
# What a span counts for in a line: about as much as spans are long.
_SPAN_CHARACTERS = 11
# Fewer letters beside a span are a unit or a title ("58yo", "MR1234567"), and little of a name.
_FORGOTTEN_LETTERS = 3
# The word of a span without letters, digits and punctuation.
_EMPTY = "-"

# Punctuation as it is printed, and as it is typed.
_TYPED = str.maketrans("‘’‚‛′“”„‟«»″‐‑‒–—―", "''''" + "'" + '"' * 7 + "-" * 6)
_KEPT = re.escape(PUNCTUATION + "".join(map(chr, _TYPED)))
_PASSED_OVER = rf"[^\w\s…{_KEPT}]*"
_RUN = re.compile(
    rf"(?:[^\W\d_]{_PASSED_OVER})+|(?:\d{_PASSED_OVER})+"
    rf"|(?:\.{_PASSED_OVER}){{3}}|…{_PASSED_OVER}|[{_KEPT}]{_PASSED_OVER}"
)
_NOTHING_TO_PASS_OVER = re.compile(rf"[A-Za-z0-9ÁÉÍÓÚÜÑáéíóúüñ\s{re.escape(PUNCTUATION)}]*")

Span = tuple[int, int]


def tokenise_labelled(text: str, spans: Sequence[Span], most: Sequence[int]) -> Tokens:
    """Cut a labelled text into tokens and sentences; every span lies within one sentence and has at least one token.

    Args:
        text: any text.
        spans: half-open offsets of what is labelled, ascending, none empty, no two with a character in common.
        most: how many tokens each may have, at most MAX_SPAN_TOKENS.
    """
    edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
    blind = _blinded(text, spans)
    around, places = cut_tokens(blind)
    # In the blind text each span is one character long.
    shorter = edges[:, 1] - edges[:, 0] - 1
    held = np.searchsorted(places[:, 0], edges[:, 0] - (np.cumsum(shorter) - shorter))
    starts = cut_sentences(blind, around, places, Placeholders(held, _SPAN_CHARACTERS, MAX_SPAN_TOKENS))
    inside = [_cut_span(text, *span, limit) for span, limit in zip(spans, most, strict=True)]

    counts = np.ones(len(around), dtype=np.int64)
    counts[held] = [len(own) for own, _ in inside]
    moved = np.zeros(len(around), dtype=np.int64)
    moved[held] = shorter
    tokens = np.repeat(places + (np.cumsum(moved) - moved)[:, None], counts, axis=0).astype(np.int32)
    is_held = np.zeros(len(around), dtype=np.bool_)
    is_held[held] = True
    tokens[np.repeat(is_held, counts)] = np.array([place for _, own in inside for place in own]).reshape(-1, 2)
    words = _put_in(around, held, [own for own, _ in inside])
    return Tokens(words, tokens, (np.cumsum(counts) - counts)[starts].astype(np.int32))


def grown_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans with the run of letters or digits that stands right beside them.

    Args:
        text: any text.
        spans: as in `tokenise_labelled`.
    """
    grown: list[Span] = []
    behind = 0
    limits = [*(start for start, _ in spans), len(text)][1:]
    for (start, end), ahead in zip(spans, limits, strict=True):
        # Who labelled white space along has forgotten nothing behind it.
        first = start if text[start].isspace() else start - _forgotten(text, range(start - 1, behind - 1, -1))
        behind = end if text[end - 1].isspace() else end + _forgotten(text, range(end, ahead))
        grown.append((first, behind))
    return grown


def _forgotten(text: str, beside: range) -> int:
    """How many characters beside a span belong to it.

    Args:
        text: of the span.
        beside: their places, the nearest first.
    """
    kind, letters, marks, count = "", 0, 0, 0
    for character in map(text.__getitem__, beside):
        own = "digit" if character.isdecimal() else "letter" if character.isalnum() else ""
        if not own and unicodedata.category(character) not in ("Mn", "Mc", "Me", "Cf"):
            break
        if own and kind not in ("", own):
            break
        kind = kind or own
        letters += own == "letter"
        marks += not kind
        count += 1
    if kind == "digit" or letters >= _FORGOTTEN_LETTERS:
        return count
    # A mark behind a span belongs to its last letter; one ahead of it does not.
    return marks if beside.step > 0 else 0


def _blinded(text: str, spans: Sequence[Span]) -> str:
    """The text with a placeholder for each span."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return _PLACEHOLDER.join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _put_in(around: list[str], held: NDArray[np.int64], inside: list[list[str]]) -> list[str]:
    """The words with those of each span in the place of its placeholder."""
    words: list[str] = []
    done = 0
    for place, own in zip(held.tolist(), inside, strict=True):
        words += around[done:place]
        words += own
        done = place + 1
    return words + around[done:]


def _cut_span(text: str, start: int, end: int, limit: int) -> tuple[list[str], list[Span]]:
    """Words and offsets of the tokens of a span."""
    found = list(_RUN.finditer(text, start, end))
    if not found:
        return [_EMPTY], [(start, end)]
    words, places = [run.group() for run in found], [run.span() for run in found[:limit]]
    if not _NOTHING_TO_PASS_OVER.fullmatch(text, start, end):
        words = list(map(_spelled, words))
    if len(found) > limit:
        places[-1] = places[-1][0], found[-1].end()
        # Its casing is that of all that is left, whatever stands first.
        letters = "".join(word for word in words[limit - 1 :] if word[0].isalpha())
        words[limit - 1 :] = [letters or words[limit - 1]]
    return words, places


def _spelled(run: str) -> str:
    """A run as a word: without what was passed over, but for the marks of letters, and with punctuation as it is typed."""
    if run[0] == "…":
        return "..."
    typed = run.translate(_TYPED)
    if typed[0] in PUNCTUATION:
        return "".join(character for character in typed if character in PUNCTUATION)
    if any(map(str.isdigit, run)):
        return "".join(filter(str.isalnum, run))
    return "".join(character for character in run if unicodedata.category(character)[0] in "LMN")
