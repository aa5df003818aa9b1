"""Noninterference, tried: labelled PHI becomes other PHI of like casing and pattern, and what would leave must stay the same to the last bit.

What leaves are rows, casing classes, tags, sentence lengths, and the feature columns that a construction declares. A representer has a say in
the rows alone, by type: it maps one vector to one row. All else is made by this program from the notes and what is drawn in the place
of PHI; it is compared all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.augment.pseudonyms import is_punctuation
from shared.constructions.construction import Construction, OwnSet
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import cased_like, casing_class

# Words that are drawn at most until one can take the place of another.
_TRIES = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Interference:
    """What was tried, and what came of it. That a sentence stays the same in which nothing was changed says nothing.

    Args:
        interfering: which sentences look otherwise, bool `[sentences]`.
        could_change: which tokens are labelled PHI that may become other PHI, bool `[tokens]`; none where the construction claims
            to hide a word among no others.
        changed: which of those became another word, bool `[tokens]`.
    """

    interfering: NDArray[np.bool_]
    could_change: NDArray[np.bool_]
    changed: NDArray[np.bool_]

    def any(self) -> bool:
        """Whether a sentence looks otherwise."""
        return bool(self.interfering.any())


def find_interfering(
    construction: Construction, chunk: TokenisedSentences, generator: np.random.Generator
) -> Interference:
    """Which sentences look otherwise once labelled PHI is changed, under the same draw.

    Args:
        construction: any.
        chunk: labelled sentences.
        generator: of the changes, and of the seed of the draw.
    """
    own = construction.own_set()
    if own is None:
        nothing = np.zeros(len(chunk.words), dtype=np.bool_)
        return Interference(np.zeros(chunk.sentences, dtype=np.bool_), nothing, nothing)
    seed = int(generator.integers(2**62))
    other = chunk.with_words(change_phi(construction, own, chunk, generator))
    could_change = (chunk.tags > 0) & ~np.array([is_punctuation(word) for word in chunk.words], dtype=np.bool_)
    changed = could_change & (np.array(chunk.words, dtype=object) != np.array(other.words, dtype=object))
    interfering = _differing(construction, chunk, other, seed)
    return Interference(interfering, could_change, changed)


def _differing(
    construction: Construction, chunk: TokenisedSentences, other: TokenisedSentences, seed: int
) -> NDArray[np.bool_]:
    """Which sentences look otherwise than those in their place, under the same draw, bool `[sentences]`."""
    both = chunk, other
    true, false = (construction.rehearse_share(one, torch.Generator().manual_seed(seed)) for one in both)
    columns = [construction.rehearse_features(one, torch.Generator().manual_seed(seed)) for one in both]
    if not np.array_equal(true.lengths, false.lengths):
        return np.ones(chunk.sentences, dtype=np.bool_)
    # Bits, not values: a zero has two signs.
    bits, others = (np.ascontiguousarray(one.values).view(np.uint16) for one in (true, false))
    differs = (bits != others).any(1) | (true.casing != false.casing) | (true.tags != false.tags)
    differs |= (columns[0] != columns[1]).any(1)
    found: NDArray[np.bool_] = np.bincount(chunk.sentence_of_token, weights=differs, minlength=chunk.sentences) > 0
    return found


def change_phi(
    construction: Construction, own: OwnSet, chunk: TokenisedSentences, generator: np.random.Generator
) -> list[str]:
    """The words with other ones in the place of labelled PHI, as many and with punctuation where it was.

    Where surrogates hide casing and punctuation, the other words are those of other labelled tokens, whatever they look like. Else they
    have the casing class of the word: from the set that the word is claimed to hide in, or, where PHI is replaced before anything is
    computed, made of other letters and digits.

    Args:
        construction: any.
        own: its set.
        chunk: labelled sentences.
        generator: of the changes.
    """
    words = list(chunk.words)
    marked = np.flatnonzero(chunk.tags > 0).tolist()
    if construction.hides_casing:
        for token, other in zip(marked, generator.permutation(marked).tolist(), strict=True):
            words[token] = chunk.words[other]
        return words
    for token in marked:
        word = words[token]
        if not is_punctuation(word):
            made_up = construction.replaces_phi and generator.random() < 0.5
            words[token] = _scrambled(word, generator) if made_up else _drawn(own, word, generator)
    return words


def _drawn(own: OwnSet, word: str, generator: np.random.Generator) -> str:
    """Another word of a set in the casing of this one; the word itself if none was drawn."""
    kind = casing_class(word)
    candidates = own(word)
    if not candidates:
        return word
    # So many and not all: a set may be the whole vocabulary.
    for place in generator.integers(len(candidates), size=_TRIES).tolist():
        other = cased_like(candidates[place], word)
        if not is_punctuation(other) and casing_class(other) == kind and other != word:
            return other
    return word


def _scrambled(word: str, generator: np.random.Generator) -> str:
    """Other letters and digits in the same casing."""
    other = "".join(_like(character, generator) for character in word)
    return other if casing_class(other) == casing_class(word) else word


def _like(character: str, generator: np.random.Generator) -> str:
    if character.isdigit():
        return str(generator.integers(10))
    if not character.isalpha():
        return character
    letter = _LETTERS[int(generator.integers(len(_LETTERS)))]
    return letter.upper() if character.isupper() else letter
