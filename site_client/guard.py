"""What the best attacker tells of a hospital's own notes: measured beside their encoding, and held to a bound if asked for.

Nobody else can measure it, for it takes the notes. With surrogates it is known ahead: a guess. Otherwise a sample of the
pairs of a PHI word and a neighbour is looked at, so that it costs less than the encoding, or every pair where a bound is to
be held. A neighbour is a word that the release shows differently: words of one cluster can't be told apart by anybody.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.distinct import DistinctVectors
from shared.embeddings.generalised import GeneralisedVectors
from shared.embeddings.neighbours import Neighbours
from shared.encoding import TokenisedSentences
from shared.files import read_text
from shared.models.noise import SharingNoise
from shared.pipeline import Encoder
from shared.privacy.enforcement import AdvantageBound, enforce, raised_value_bound
from shared.privacy.white_box import WhiteBoxBound, WhiteBoxTally, construction
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings, WordPairs

NEIGHBOURS = 100
_TRAINING = "representer.training.json"
_EVERYTHING = WhiteBoxSettings(draws=1)
# What decides over a sentence is the same whenever it is shared: its seed is fixed.
_BOUNDED = WhiteBoxSettings(draws=2)
# Pairs that are held at a time.
_PAIRS = 1 << 20


@dataclass(frozen=True)
class Guarded:
    """What was found in the notes, and done about it.

    Args:
        white_box: of what is shared.
        neighbours: of a word, itself included, that were looked at; 0 where none had to be.
        bound: that was held; None for none.
        raised: sentences whose noise was raised.
        left_out: sentences that may not be shared.
    """

    white_box: WhiteBoxBound
    neighbours: int
    bound: AdvantageBound | None
    raised: int
    left_out: int


class Guard:
    """Every chunk passes it on its way to the encoder.

    Args:
        encoder: any construction.
        neighbours: N, the words looked at for each PHI word, itself included; no more than are shown differently.
        bound: to be held; None only measures.
        noise: for the input noise of the bound, not that of the share; a MemoisedNoise, so that a sentence that is shared
            again is treated as before.
    """

    def __init__(self, encoder: Encoder, neighbours: int, bound: AdvantageBound | None, noise: SharingNoise) -> None:
        kind = construction(encoder)
        self._encoder, self._bound, self._noise = encoder, bound, noise
        vectors = encoder.vectors
        if isinstance(vectors, GeneralisedVectors):
            vectors = DistinctVectors(vectors)
        self._neighbours = 0 if kind == "surrogates" else min(neighbours, len(vectors))
        self._raised = self._left_out = 0
        pseudonyms = None
        if self._neighbours:
            pseudonyms = Pseudonymiser(Neighbours(vectors), self._neighbours)
        # Surrogates keep any bound.
        self._pairs = None if bound is None or pseudonyms is None else WordPairs(pseudonyms, _BOUNDED)
        # A seed that nobody knows: the figures leave with the share.
        settings = replace(_EVERYTHING if kind == "surrogates" else WHILE_ENCODING, seed=secrets.randbits(31))
        self._tally = WhiteBoxTally(encoder, pseudonyms, settings if self._pairs is None else _BOUNDED)

    @property
    def value_bound(self) -> float:
        """L2 norm that no token's representation exceeds, however much noise was added. It tells nothing about the notes."""
        factor = 1.0 if self._bound is None or self._pairs is None else self._bound.max_factor
        return raised_value_bound(self._encoder.representer, factor)

    def passed(self, chunk: TokenisedSentences) -> tuple[TokenisedSentences, NDArray[np.float64] | None]:
        """The sentences that may be shared, and how many times its scale the noise of each must have; None for once."""
        factors, left_out = [], []
        for piece in self._pieces(chunk):
            if self._bound is None or self._pairs is None:
                self._tally.add(piece)
                continue
            held = enforce(self._encoder, piece, self._bound, self._pairs, self._noise)
            self._tally.count(piece, held.found)
            factors.append(held.factors)
            left_out.append(held.left_out)
        if not factors:
            return chunk, None
        away = np.concatenate(left_out)
        used = np.concatenate(factors)[~away]
        self._left_out += int(away.sum())
        self._raised += int((used > 1).sum())
        return without(chunk, away), used

    def _pieces(self, chunk: TokenisedSentences) -> Iterator[TokenisedSentences]:
        """The chunk, cut between sentences where it has more pairs than are to be held at a time."""
        most = self._tally.settings.neighbours or self._neighbours
        ends = np.cumsum(chunk.lengths)
        pairs = np.append(0, np.cumsum(chunk.tags > 0))[ends] * most
        begin = 0
        for part in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(pairs // _PAIRS)) + 1):
            end = int(ends[part[-1]])
            yield TokenisedSentences(chunk.words[begin:end], chunk.tags[begin:end], chunk.lengths[part])
            begin = end

    def result(self) -> Guarded:
        """What was found in all chunks so far."""
        return Guarded(self._tally.bound(), self._neighbours, self._bound, self._raised, self._left_out)


def without(chunk: TokenisedSentences, left_out: NDArray[np.bool_]) -> TokenisedSentences:
    """The sentences that are not left out, in their order."""
    if not left_out.any():
        return chunk
    kept = np.flatnonzero(~np.repeat(left_out, chunk.lengths))
    return TokenisedSentences(
        [chunk.words[token] for token in kept.tolist()], chunk.tags[kept], chunk.lengths[~left_out]
    )


def neighbours_of(release: Path) -> int:
    """N of the training of a release's representer; NEIGHBOURS where it does not say.

    Args:
        release: verified folder.
    """
    path = release / _TRAINING
    if not path.exists():
        return NEIGHBOURS
    try:
        stated = json.loads(read_text(path))["options"]["neighbours"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return NEIGHBOURS
    return stated if type(stated) is int and stated >= 2 else NEIGHBOURS
