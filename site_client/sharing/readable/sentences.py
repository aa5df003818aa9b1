"""The sentences of a share as anybody reads them who has the release, each beside the hospital's own where that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.labels import UNKNOWN_TAG, LabelScheme, tag_spans
from site_client.sharing.readable.lexicon import Lexicon, Token, printable

UNKNOWN = "unknown"
"""Mark of a token whose label the share leaves open."""


@dataclass(frozen=True, repr=False)
class Part:
    """Tokens of a sentence that belong together.

    Args:
        mark: category of the PHI that they are labelled; UNKNOWN, or "" for no PHI.
        tokens: as they are read. Of a hospital's own sentence they may be PHI: never log them.
    """

    mark: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, repr=False)
class Sentence:
    """A sentence of a share.

    Args:
        number: its place in the file, from 1 on.
        parts: as anybody reads it.
        original: as it stands in the hospital's notes; None where no note that was given has it.
    """

    number: int
    parts: tuple[Part, ...]
    original: tuple[Part, ...] | None = None

    @property
    def tokens(self) -> int:
        """How many there are."""
        return sum(len(part.tokens) for part in self.parts)


def read_tokens(codes: NDArray[np.uint32], casing: NDArray[np.uint8], lexicon: Lexicon) -> list[Token]:
    """The tokens of a share."""
    return [lexicon.read(code, kind) for code, kind in zip(codes.tolist(), casing.tolist(), strict=True)]


def own_tokens(words: Sequence[str]) -> list[Token]:
    """The words of a hospital's own sentence. They may be PHI."""
    return [Token(printable(word)) for word in words]


def parted(tokens: Sequence[Token], tags: NDArray[np.uint8], scheme: LabelScheme) -> tuple[Part, ...]:
    """The tokens of a sentence, those of a span of PHI together.

    Args:
        tokens: of the sentence.
        tags: uint8 `[tokens]`, of a share or of labelled notes.
        scheme: names the categories.
    """
    parts, done = list[Part](), 0
    for start, end, category in tag_spans(tags):
        mark = UNKNOWN if tags[start] == UNKNOWN_TAG else scheme.categories[category]
        if done < start:
            parts.append(Part("", tuple(tokens[done:start])))
        parts.append(Part(mark, tuple(tokens[start:end])))
        done = end
    if done < len(tokens):
        parts.append(Part("", tuple(tokens[done:])))
    return tuple(parts)


def sentence_line(parts: Sequence[Part]) -> str:
    """A sentence for a terminal: [CATEGORY words] is PHI, ⟨fever, cough … 1240⟩ one of so many words, and ⟨like fever, cough⟩ none
    of the release's.
    """
    said = []
    for part in parts:
        text = " ".join(_said(token) for token in part.tokens)
        said.append(f"[{part.mark} {text}]" if part.mark else text)
    return " ".join(said)


def _said(token: Token) -> str:
    if token.exact:
        return token.text
    return f"⟨{token.text} … {token.size}⟩" if token.size else f"⟨like {token.text}⟩"
