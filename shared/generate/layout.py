"""From pieces to a note: typing errors, lost spaces, case, line breaks; spans stay exact, as each step knows its piece."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from random import Random

from shared.document import Annotation, Document
from shared.generate.grammar import Piece
from shared.generate.profile import Layout
from shared.generate.slots import NAME_CATEGORIES

_LONG_WORD = re.compile(r"\b[a-záéíóúñ]{5,}\b")
_NAME_PART = re.compile(r"[^\W\d_]{4,}")
_COMBINING = re.compile(r"[\u0300-\u036f]")


def lay_out(identifier: str, pieces: list[Piece], layout: Layout, random: Random) -> Document:
    """The note that these pieces make under these habits.

    Args:
        identifier: of the document.
        pieces: in order; every piece with a category becomes one annotation.
        layout: the habits.
        random: source of chance.
    """
    if layout.case != "kept" and random.random() >= layout.case_rate:
        layout = replace(layout, case="kept")
    written = [_written(piece, layout, random) for piece in _joined(pieces)]
    if layout.glue_rate:
        written = _glued(written, layout.glue_rate, random)
    text, annotations = _assembled(written)
    if layout.wrap:
        text = _wrapped(text, annotations, layout.wrap)
    return Document(identifier, text, tuple(annotations))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Runs of pieces that are not PHI as one, so that a word that two rules made is one word."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and not piece.category and not joined[-1].category:
            joined[-1] = Piece(joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


def _written(piece: Piece, layout: Layout, random: Random) -> Piece:
    text = piece.text
    if piece.category in NAME_CATEGORIES:
        text = _written_name(text, layout, random)
    elif not piece.category and layout.typo_rate:
        text = _LONG_WORD.sub(lambda match: _perhaps_mistyped(match.group(), layout.typo_rate, random), text)
    if layout.plain_letters:
        text = unicodedata.normalize("NFC", _COMBINING.sub("", unicodedata.normalize("NFD", text)))
    if layout.case != "kept":
        text = text.upper() if layout.case == "upper" else text.lower()
    return Piece(text, piece.category)


def _written_name(text: str, layout: Layout, random: Random) -> str:
    if random.random() < layout.name_typo_rate:
        text = _NAME_PART.sub(lambda match: _mistyped(match.group(), random), text, count=1)
    chance = random.random()
    if chance < layout.name_upper_rate:
        return text.upper()
    return text.lower() if chance > 1 - layout.name_lower_rate else text


def _perhaps_mistyped(word: str, rate: float, random: Random) -> str:
    return _mistyped(word, random) if random.random() < rate else word


def _mistyped(word: str, random: Random) -> str:
    """The word with two inner letters swapped, or one lost or doubled."""
    place = random.randrange(1, len(word) - 2)
    kind = random.randrange(3)
    if kind == 0:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + (word[place] * 2 if kind == 1 else "") + word[place + 1 :]


def _glued(pieces: list[Piece], rate: float, random: Random) -> list[Piece]:
    """Some spans lose the space behind a colon before them, or between their last digit and a letter behind them."""
    glued = list(pieces)
    for place, piece in enumerate(pieces):
        if not piece.category:
            continue
        before = glued[place - 1].text if place else ""
        if before.endswith(": ") and random.random() < rate:
            glued[place - 1] = Piece(before[:-1])
        behind = glued[place + 1] if place + 1 < len(glued) else Piece("")
        word_behind = not behind.category and behind.text[:1] == " " and behind.text[1:2].isalpha()
        if word_behind and piece.text[-1].isdigit() and random.random() < rate:
            glued[place + 1] = Piece(behind.text[1:])
    return glued


def _assembled(pieces: list[Piece]) -> tuple[str, list[Annotation]]:
    parts: list[str] = []
    annotations: list[Annotation] = []
    place = 0
    for piece in pieces:
        if piece.category:
            annotations.append(Annotation(place, place + len(piece.text), piece.category, f"T{len(annotations) + 1}"))
        parts.append(piece.text)
        place += len(piece.text)
    return "".join(parts), annotations


def _wrapped(text: str, annotations: list[Annotation], width: int) -> str:
    """The text with spaces turned into line ends where a line is longer than `width`; as long as before."""
    characters = list(text)
    inside = bytearray(len(text))
    for span in annotations:
        inside[span.start : span.end] = b"\1" * (span.end - span.start)
    line_start, last_space = 0, -1
    for place, character in enumerate(text):
        if character == "\n":
            line_start, last_space = place + 1, -1
            continue
        if place - line_start >= width and last_space >= line_start:
            characters[last_space] = "\n"
            line_start, last_space = last_space + 1, -1
        if character == " " and not inside[place]:
            last_space = place
    return "".join(characters)
