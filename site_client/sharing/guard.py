"""What the best attacker tells of a hospital's own notes: measured beside their encoding, and held to a bound if asked for.

Nobody else can measure it, for it takes the notes. With surrogates it is known ahead: a guess. Otherwise a sample of the
pairs of a PHI word and a neighbour is looked at, so that it costs less than the encoding, or every pair where a bound is to
be held. A neighbour is a word that the release shows differently: words of one cluster can't be told apart by anybody.

What the hospital has labelled PHI and the release has no category for never leaves as it is: surrogates take its place,
or else the sentence is left out.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.reading import read_text
from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Construction
from shared.constructions.files import RECORD
from shared.embeddings.neighbours import Neighbours
from shared.labels import HIDDEN_TAG, without_hidden
from shared.models.noise import SharingNoise
from shared.privacy.enforcement import AdvantageBound, enforce
from shared.privacy.white_box import WhiteBoxBound, WhiteBoxTally
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings, WordPairs
from shared.sentences.tokenised import TokenisedSentences

NEIGHBOURS = 100
_EVERYTHING = WhiteBoxSettings(draws=1)
# What decides over a sentence is the same whenever it is shared: its seed is fixed. The worst of the draws counts, and
# with fewer of them a bound was broken on others; see `shared.privacy.enforcement`.
_BOUNDED = WhiteBoxSettings(draws=8)
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
        left_out: sentences that would not have kept it.
        hidden_words: labelled PHI of no category of the release.
        hidden_left_out: sentences that were left out for them; with surrogates none.
    """

    white_box: WhiteBoxBound
    neighbours: int
    bound: AdvantageBound | None
    raised: int
    left_out: int
    hidden_words: int = 0
    hidden_left_out: int = 0


class Guard:
    """Every chunk passes it on its way to the encoder.

    Args:
        construction: any.
        neighbours: N, the words looked at for each PHI word, itself included; no more than are shown differently.
        bound: to be held; None only measures.
        noise: for the input noise of the bound, not that of the share; a MemoisedNoise, so that a sentence that is shared
            again is treated as before.
    """

    def __init__(
        self, construction: Construction, neighbours: int, bound: AdvantageBound | None, noise: SharingNoise
    ) -> None:
        self._construction, self._bound, self._noise = construction, bound, noise
        self._replaces = construction.replaces_phi
        vectors = construction.distinct_vectors()
        self._neighbours = 0 if self._replaces else min(neighbours, len(vectors))
        self._raised = self._left_out = self._hidden_words = self._hidden_left_out = 0
        pseudonyms = None
        if self._neighbours:
            pseudonyms = Pseudonymiser(Neighbours(vectors), self._neighbours)
        # Surrogates keep any bound.
        self._pairs = None if bound is None or pseudonyms is None else WordPairs(pseudonyms, _BOUNDED)
        # A seed that nobody knows: the figures leave with the share.
        settings = replace(_EVERYTHING if self._replaces else WHILE_ENCODING, seed=secrets.randbits(31))
        self._tally = WhiteBoxTally(construction, pseudonyms, settings if self._pairs is None else _BOUNDED)
        self.admitted = np.zeros(0, dtype=np.bool_)
        """Which sentences of the chunk that came last may be shared, bool `[sentences]`."""

    @property
    def value_bound(self) -> float:
        """L2 norm that no token's representation exceeds, however much noise was added. It tells nothing about the notes."""
        factor = 1.0 if self._bound is None or self._pairs is None else self._bound.max_factor
        return self._construction.rows(factor).value_bound

    def admit_sentences(self, chunk: TokenisedSentences) -> tuple[TokenisedSentences, NDArray[np.float64] | None]:
        """The sentences that may be shared, and how many times its scale the noise of each must have; None for once."""
        self.admitted = np.ones(chunk.sentences, dtype=np.bool_)
        chunk, looked_at = self._without_hidden(chunk)
        factors, left_out = [], []
        for piece in self._pieces(looked_at):
            if self._bound is None or self._pairs is None:
                self._tally.add(piece)
                continue
            held = enforce(self._construction, piece, self._bound, self._pairs, self._noise)
            self._tally.count(piece, held.found)
            factors.append(held.factors)
            left_out.append(held.left_out)
        if not factors:
            return chunk, None
        away = np.concatenate(left_out)
        used = np.concatenate(factors)[~away]
        self._left_out += int(away.sum())
        self._raised += int((used > 1).sum())
        self.admitted[self.admitted] = ~away
        return chunk.leave_out(away), used

    def _without_hidden(self, chunk: TokenisedSentences) -> tuple[TokenisedSentences, TokenisedSentences]:
        """What may go on to the encoder, and the same for the attacker, who knows the categories of the scheme alone."""
        hidden = chunk.tags == HIDDEN_TAG
        if not hidden.any():
            return chunk, chunk
        # What nobody labelled is told of by itself.
        self._hidden_words += int((hidden & ~chunk.are_doubtful).sum())
        if self._replaces:
            return chunk, chunk.with_tags(without_hidden(chunk.tags))
        away = chunk.sentences_with(hidden)
        self._hidden_left_out += int(away.sum())
        self.admitted = ~away
        chunk = chunk.leave_out(away)
        return chunk, chunk

    def _pieces(self, chunk: TokenisedSentences) -> Iterator[TokenisedSentences]:
        """The chunk, cut between sentences where it has more pairs than are to be held at a time."""
        if not chunk.sentences:
            return
        most = self._tally.settings.neighbours or self._neighbours
        ends = np.cumsum(chunk.lengths)
        pairs = np.append(0, np.cumsum(chunk.tags > 0))[ends] * most
        pieces = np.split(np.arange(len(ends)), np.flatnonzero(np.diff(pairs // _PAIRS)) + 1)
        yield from map(chunk.select, pieces) if len(pieces) > 1 else (chunk,)

    def result(self) -> Guarded:
        """What was found in all chunks so far."""
        return Guarded(
            self._tally.bound(),
            self._neighbours,
            self._bound,
            self._raised,
            self._left_out,
            self._hidden_words,
            self._hidden_left_out,
        )


def neighbours_of(release: Path) -> int:
    """N of the training of a release's representer, or NEIGHBOURS if that is more: what an audit attacked does not hold it.

    Args:
        release: verified folder.
    """
    path = release / RECORD
    if not path.exists():
        return NEIGHBOURS
    try:
        stated = json.loads(read_text(path))["options"]["neighbours"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return NEIGHBOURS
    return max(stated, NEIGHBOURS) if type(stated) is int else NEIGHBOURS
