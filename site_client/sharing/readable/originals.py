"""Finds the sentences of a share again among the hospital's own notes. Nothing of it leaves the house.

The sentences of a share stand in random order. But what it shows outside PHI follows from the notes and the release alone, so a
sentence of the notes is known by its labels, its casing and its codes; how many words a labelled span has may be drawn anew, and does
not count. Sentences that are alike in all of that share one place: which of them is which the file does not tell either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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
from shared.text.tokens import Tokens
from site_client.sharing.readable.lexicon import Lexicon
from site_client.sharing.readable.recorded import RecordedNotes

_DOCUMENTS = 256


@dataclass(frozen=True, repr=False)
class _Shape:
    """Sentences with one token for each labelled span, laid end to end.

    Args:
        codes: uint32 `[kept]`.
        tags: uint8 `[kept]`.
        casing: uint8 `[kept]`.
        offsets: first token of each sentence and the end of the last, int64 `[sentences + 1]`.
    """

    codes: NDArray[np.uint32]
    tags: NDArray[np.uint8]
    casing: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @staticmethod
    def of(
        codes: NDArray[np.uint32], tags: NDArray[np.uint8], casing: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> _Shape:
        """Of sentences as they are; a span goes on with even tags."""
        kept = _are_kept(tags)
        ends = np.append(0, np.cumsum(kept))[offsets]
        return _Shape(codes[kept], tags[kept], casing[kept], ends)

    def marks(self) -> Iterator[int]:
        """A number for what each sentence shows outside PHI."""
        clear = self.tags == 0
        shown = np.where(clear, self.codes, 0).astype("<u4").tobytes()
        written, labels = np.where(clear, self.casing, 0).astype(np.uint8).tobytes(), self.tags.tobytes()
        for begin, end in pairwise(self.offsets.tolist()):
            yield hash((shown[4 * begin : 4 * end], written[begin:end], labels[begin:end]))

    def split(self) -> Iterator[_Shape]:
        """Each sentence for itself."""
        for begin, end in pairwise(self.offsets.tolist()):
            yield _Shape(
                self.codes[begin:end], self.tags[begin:end], self.casing[begin:end], np.array([0, end - begin])
            )

    def __len__(self) -> int:
        return len(self.tags)


@dataclass(frozen=True, repr=False)
class Own:
    """A sentence of the hospital's notes.

    Args:
        words: these may be PHI: never log them.
        tags: as labelled, uint8 `[tokens]`.
        content: content words that are no PHI.
        shape: what it is known by.
        note: number of its note.
    """

    words: list[str]
    tags: NDArray[np.uint8]
    content: int
    shape: _Shape
    note: int


class HiddenTokens:
    """Where a share shows labelled PHI of no category as if it were none, as far as its notes tell."""

    def __init__(self) -> None:
        self._of: dict[int, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self._of)

    def add(self, sentence: int, tokens: NDArray[np.int64]) -> None:
        """Take in what was found.

        Args:
            sentence: its place in the share.
            tokens: their places in the sentence.
        """
        if len(tokens):
            self._of[sentence] = tokens

    def masks(self, blocks: Iterable[SentenceBlock]) -> Iterator[tuple[SentenceBlock, NDArray[np.bool_]]]:
        """Each block of the share, and which of its tokens they are, bool `[tokens]`."""
        first = 0
        for block in blocks:
            found = np.zeros(len(block.tags), dtype=np.bool_)
            for place, begin in enumerate(block.offsets[:-1].tolist(), first):
                if place in self._of:
                    found[begin + self._of[place]] = True
            yield block, found
            first += block.sentences


class Originals:
    """The sentences of a share, to be found in notes.

    Args:
        construction: of the release.
        lexicon: of the same.
        wanted: places of the sentences whose words are wanted; of the others content words are counted.
        recorded: what of the notes is of the share: sentences that left with another, or stay, are not looked for. None where that is
            not known, so that all are.
        read: takes each sentence that was found.
    """

    def __init__(
        self,
        construction: Coded,
        lexicon: Lexicon,
        wanted: Iterable[int],
        recorded: RecordedNotes | None = None,
        read: Callable[[Own], object] = lambda own: None,
    ) -> None:
        self._construction, self._lexicon, self._wanted = construction, lexicon, frozenset(wanted)
        self._waiting: dict[int, list[int]] = defaultdict(list)
        self._left: list[Own] = []
        self._sentences = self._notes = 0
        self._recorded, self._read = recorded, read
        self.content: dict[int, int] = {}
        """Content words of each sentence that was found, by its place in the share."""
        self.notes: dict[int, int] = {}
        """The note of each of them, by the number that it has here."""
        self.found: dict[int, Own] = {}
        """Those of them that are wanted."""
        self.hidden = HiddenTokens()
        """What the notes call PHI of no category, and the share none."""

    def add_share(self, block: SentenceBlock) -> None:
        """Take in the next block of the share; all of them before any note."""
        for key in _Shape.of(block.values, block.tags, block.casing, block.offsets).marks():
            self._waiting[key].append(self._sentences)
            self._sentences += 1

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are; on the way their sentences are looked for."""
        source = iter(documents)
        while batch := list(islice(source, _DOCUMENTS)):
            cut = list(tokenise_documents(batch if self._recorded is None else filter(self._recorded.take, batch)))
            kept = np.concatenate([np.zeros(0, dtype=np.bool_), *(self._left_with_share(*one) for one in cut)])
            sizes = [len(tokens.sentence_starts) for _, tokens in cut]
            notes, done = np.repeat(np.arange(self._notes, self._notes + len(cut)), sizes), 0
            self._notes += len(cut)
            for chunk in tokenised_chunks(cut, self._construction.scheme):
                here = slice(done, done + chunk.sentences)
                if kept[here].any():
                    self._add_notes(chunk.leave_out(~kept[here]), notes[here][kept[here]])
                done += chunk.sentences
            yield from batch

    def _left_with_share(self, document: Document, tokens: Tokens) -> NDArray[np.bool_]:
        if self._recorded is None:
            return np.ones(len(tokens.sentence_starts), dtype=np.bool_)
        return self._recorded.sentences(document, tokens)

    def _add_notes(self, chunk: TokenisedSentences, notes: NDArray[np.int64]) -> None:
        ends = np.append(chunk.starts, chunk.tokens)
        shapes = _Shape.of(self._construction.codes(chunk), chunk.tags, casing_classes(chunk.words), ends)
        counted = zip(self._content(chunk).tolist(), notes.tolist(), strict=True)
        each = zip(pairwise(ends.tolist()), counted, shapes.marks(), shapes.split(), strict=True)
        for (begin, end), (content, note), key, shape in each:
            own = Own(chunk.words[begin:end], chunk.tags[begin:end], content, shape, note)
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
        self.content[place], self.notes[place] = own.content, own.note
        self._read(own)
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
            by_length[len(own.shape)].append(own)
        left = {length: _Candidates(owns, self._lexicon) for length, owns in by_length.items()}
        place = 0
        for block in blocks:
            shapes = _Shape.of(block.values, block.tags, block.casing, block.offsets).split()
            for shape, (begin, end) in zip(shapes, pairwise(block.offsets.tolist()), strict=True):
                if place not in self.content and (candidates := left.get(len(shape))):
                    fits = candidates.take(shape)
                    if fits is not None:
                        hidden = (fits.shape.tags == UNKNOWN_TAG) & (shape.tags == 0)
                        self.hidden.add(place, np.flatnonzero(_are_kept(block.tags[begin:end]))[hidden])
                        self._take(place, fits)
                place += 1


def _are_kept(tags: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which tokens are not those with which a span goes on, bool `[tokens]`."""
    kept: NDArray[np.bool_] = (tags == 0) | (tags % 2 == 1)
    return kept


class _Candidates:
    """Sentences of one length that wait to be found."""

    def __init__(self, owns: list[Own], lexicon: Lexicon) -> None:
        self._owns, self._lexicon = owns, lexicon
        self._tags = np.stack([own.shape.tags for own in owns])
        self._casing = np.stack([own.shape.casing for own in owns])
        self._groups = np.stack([lexicon.groups_of(own.shape.codes) for own in owns])
        self._open = (self._tags == UNKNOWN_TAG).any(axis=1)
        self._waiting = np.ones(len(owns), dtype=np.bool_)

    def take(self, shape: _Shape) -> Own | None:
        """The first that can be a sentence of the share, if it or that sentence leaves something open."""
        open_here = shape.tags == UNKNOWN_TAG
        rows = np.flatnonzero(self._waiting if open_here.any() else self._waiting & self._open)
        told = ~open_here & (self._tags[rows] != UNKNOWN_TAG)
        # What is near a word in doubt is shown otherwise, but of the same group.
        same = (self._groups[rows] == self._lexicon.groups_of(shape.codes)) & (self._casing[rows] == shape.casing)
        fits = (~told | (self._tags[rows] == shape.tags) & (same | (shape.tags > 0))).all(axis=1)
        if not fits.any():
            return None
        row = int(rows[fits.argmax()])
        self._waiting[row] = False
        return self._owns[row]
