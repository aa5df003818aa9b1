"""Finds the sentences of a share again among the hospital's own notes. Nothing of it leaves the house.

The sentences of a share stand in random order. But what it shows outside PHI follows from the notes and the release alone, so a
sentence of the notes is known by its labels, its casing and its codes. Sentences that are alike in all of that share one place: which
of them is which the file does not tell either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import SentenceBlock
from shared.constructions.procedures.coded import Coded
from shared.document import Document
from shared.labels import UNKNOWN_TAG
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.casing import casing_classes
from site_client.sharing.readable.lexicon import Lexicon

_DOCUMENTS = 256


@dataclass(frozen=True, repr=False)
class Own:
    """A sentence of the hospital's notes.

    Args:
        words: these may be PHI: never log them.
        tags: as labelled.
        groups: of its words, int64 `[tokens]`.
        casing: of its words.
        content: content words that are no PHI.
    """

    words: list[str]
    tags: NDArray[np.uint8]
    groups: NDArray[np.int64]
    casing: NDArray[np.uint8]
    content: int

    @property
    def open(self) -> bool:
        """Whether it has PHI of no category of the release, of which a share may show one thing or another."""
        return bool((self.tags == UNKNOWN_TAG).any())


class Originals:
    """The sentences of a share, to be found in notes.

    Args:
        construction: of the release.
        lexicon: of the same.
        wanted: places of the sentences whose words are wanted; of the others content words are counted.
    """

    def __init__(self, construction: Coded, lexicon: Lexicon, wanted: Iterable[int]) -> None:
        self._construction, self._lexicon, self._wanted = construction, lexicon, frozenset(wanted)
        self._waiting: dict[int, list[int]] = defaultdict(list)
        self._left: list[Own] = []
        self._sentences = 0
        self.content: dict[int, int] = {}
        """Content words of each sentence that was found, by its place in the share."""
        self.found: dict[int, Own] = {}
        """Those of them that are wanted."""

    def add_share(self, block: SentenceBlock) -> None:
        """Take in the next block of the share; all of them before any note."""
        for key in _keys(block.values, block.tags, block.casing, block.offsets):
            self._waiting[key].append(self._sentences)
            self._sentences += 1

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are; on the way their sentences are looked for."""
        source = iter(documents)
        while batch := list(islice(source, _DOCUMENTS)):
            for chunk in tokenised_chunks(tokenise_documents(batch), self._construction.scheme):
                self._add_notes(chunk)
            yield from batch

    def _add_notes(self, chunk: TokenisedSentences) -> None:
        codes, casing = self._construction.codes(chunk), casing_classes(chunk.words)
        ends = np.append(chunk.starts, chunk.tokens)
        groups = self._lexicon.groups_of(codes)
        content = self._content(chunk)
        keys = _keys(codes, chunk.tags, casing, ends)
        for key, (begin, end), held in zip(keys, pairwise(ends.tolist()), content.tolist(), strict=True):
            own = Own(chunk.words[begin:end], chunk.tags[begin:end], groups[begin:end], casing[begin:end], held)
            places = self._waiting.get(key)
            if places:
                self._take(places.pop(), own)
            else:
                self._left.append(own)

    def _content(self, chunk: TokenisedSentences) -> NDArray[np.int64]:
        """Content words of each sentence that are no PHI."""
        different = list(set(chunk.words))
        known = dict(zip(different, self._lexicon.are_content(different).tolist(), strict=True))
        counted = np.fromiter((known[word] for word in chunk.words), np.int64, chunk.tokens) * (chunk.tags == 0)
        sums: NDArray[np.int64] = np.add.reduceat(counted, chunk.starts)
        return sums

    def _take(self, place: int, own: Own) -> None:
        self.content[place] = own.content
        if place in self._wanted:
            self.found[place] = own

    def find_open(self, blocks: Iterable[SentenceBlock]) -> None:
        """Look for what the share or the notes leave open: a token of which only one of the two says whether it is PHI.

        Args:
            blocks: all of the share, once more; not looked at if there is nothing to find.
        """
        if not self._left or len(self.content) == self._sentences:
            return
        by_length: dict[int, list[Own]] = defaultdict(list)
        for own in self._left:
            by_length[len(own.words)].append(own)
        left = {length: _Candidates(owns) for length, owns in by_length.items()}
        place = 0
        for block in blocks:
            groups = self._lexicon.groups_of(block.values)
            for begin, end in pairwise(block.offsets.tolist()):
                if place not in self.content and (candidates := left.get(end - begin)):
                    fits = candidates.take(block.tags[begin:end], block.casing[begin:end], groups[begin:end])
                    if fits is not None:
                        self._take(place, fits)
                place += 1


class _Candidates:
    """Sentences of one length that wait to be found."""

    def __init__(self, owns: list[Own]) -> None:
        self._owns = owns
        self._tags, self._casing = np.stack([own.tags for own in owns]), np.stack([own.casing for own in owns])
        self._groups = np.stack([own.groups for own in owns])
        self._open = np.array([own.open for own in owns])
        self._waiting = np.ones(len(owns), dtype=np.bool_)

    def take(self, tags: NDArray[np.uint8], casing: NDArray[np.uint8], groups: NDArray[np.int64]) -> Own | None:
        """The first that can be a sentence of the share, if it or that sentence leaves something open."""
        open_here = tags == UNKNOWN_TAG
        rows = np.flatnonzero(self._waiting if open_here.any() else self._waiting & self._open)
        told = ~open_here & (self._tags[rows] != UNKNOWN_TAG)
        same = (self._groups[rows] == groups) & (self._casing[rows] == casing)
        fits = (~told | (self._tags[rows] == tags) & (same | (tags > 0))).all(axis=1)
        if not fits.any():
            return None
        row = int(rows[fits.argmax()])
        self._waiting[row] = False
        return self._owns[row]


def _keys(
    codes: NDArray[np.uint32],
    tags: NDArray[np.uint8],
    casing: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> Iterator[int]:
    """A number for what each sentence shows outside PHI."""
    clear = tags == 0
    shown = np.where(clear, codes, 0).astype("<u4").tobytes()
    written, labels = np.where(clear, casing, 0).astype(np.uint8).tobytes(), tags.tobytes()
    for begin, end in pairwise(offsets.tolist()):
        yield hash((shown[4 * begin : 4 * end], written[begin:end], labels[begin:end]))
