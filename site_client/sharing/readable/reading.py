"""A share of codes as an attacker reads it who has the release and nothing else, for those who decide whether it may leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from protocols.errors import MismatchError
from protocols.payload.base import PayloadReader
from protocols.payload.codes import CodeRules
from protocols.payload.sentence_block import SentenceBlock
from protocols.share.sealing import VerifiedShare
from shared.constructions.procedures.coded import Coded
from shared.document import Document
from shared.labels import LabelScheme
from site_client.sharing.readable.counts import Counts, Tally
from site_client.sharing.readable.figures import NOTES_NEEDED, Figure
from site_client.sharing.readable.lexicon import COMMONEST, CONTENT_LETTERS, Lexicon
from site_client.sharing.readable.originals import HiddenTokens, Originals
from site_client.sharing.readable.phi_forms import PhiForms
from site_client.sharing.readable.recorded import UNRECORDED, RecordedNotes
from site_client.sharing.readable.same_note import SameNote
from site_client.sharing.readable.sentences import Sentence, own_tokens, parted, read_tokens, sentence_line

CONTENT = f"words of at least {CONTENT_LETTERS} letters that are not among the {COMMONEST} commonest public words of the release"
"""What a content word is."""


@dataclass(frozen=True, repr=False)
class Reading:
    """What is read of a share.

    Args:
        counts: over all of it.
        sentences: some of them, drawn at random, in the order in which they were drawn.
        replaces_phi: whether public PHI stands in the place of labelled PHI.
        figures: what else is counted of this share by itself, one for each of KEYS.
    """

    counts: Counts
    sentences: tuple[Sentence, ...]
    replaces_phi: bool
    figures: tuple[Figure, ...] = ()

    @property
    def is_a(self) -> str:
        """What such a share is, in a sentence."""
        phi = "its PHI replaced" if self.replaces_phi else "its PHI NOT replaced but treated as any other word"
        return f"a shuffled text with {phi}, everything far from PHI generalised, given lengths, casing and punctuation"


class Reader:
    """Reads a share; the notes that it was made from may pass by.

    Args:
        share: of codes, verified.
        construction: of the release that it was made with.
        most: how many sentences are shown.
        recorded: the notes that it was made from, as far as that is known.
        hidden: tokens labelled PHI of no category that are in it; None where nothing tells.

    Raises:
        CodebookError: it holds a code where the release allows none.
        MismatchError: it has other feature columns than the release declares.
    """

    def __init__(
        self,
        share: VerifiedShare,
        construction: Coded,
        most: int,
        recorded: RecordedNotes | None = None,
        hidden: int | None = None,
    ) -> None:
        self._share, self._construction, self._recorded = share, construction, recorded
        self._lexicon = Lexicon(construction)
        self._drawn = drawn_sentences(share.manifest.payload_sha256, share.manifest.sentences, most)
        self._tally = Tally(self._lexicon, share.manifest.sentences, hidden)
        self._hidden = hidden
        self._originals: Originals | None = None
        self._same_note, self._phi_forms = SameNote(), PhiForms(construction)
        self._read: dict[int, Sentence] = {}
        with share.open() as reader:
            self._read_all(reader)

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are; on the way the sentences of the share are looked for in them."""
        known = () if self._recorded is None else (self._recorded, self._phi_forms.add)
        originals = self._originals = Originals(self._construction, self._lexicon, self._drawn, *known)
        with self._share.open() as reader:
            for block in reader:
                originals.add_share(block)
        yield from originals.watch(documents)
        with self._share.open() as reader:
            originals.find_open(reader)
        if len(originals.hidden):
            # What was drawn in their place was counted as words of the notes.
            self._tally = Tally(self._lexicon, self._share.manifest.sentences, self._hidden)
            with self._share.open() as reader:
                for block, hidden in originals.hidden.masks(reader):
                    self._tally.add(block, hidden)
        found = np.array(list(originals.content.items()), dtype=np.int64).reshape(-1, 2)
        self._tally.tell(found[:, 0], found[:, 1])

    @property
    def hidden(self) -> HiddenTokens:
        """Where the share shows labelled PHI of no category as if it were none; nowhere unless notes have passed by."""
        return HiddenTokens() if self._originals is None else self._originals.hidden

    def result(self) -> Reading:
        """All that was read."""
        sentences = tuple(self._beside_original(place) for place in self._drawn)
        return Reading(self._tally.counts(), sentences, self._construction.replaces_phi, self._figures())

    def _figures(self) -> tuple[Figure, ...]:
        rare = self._tally.rare_words()
        if self._originals is None:
            return (rare, self._same_note.not_counted(NOTES_NEEDED), self._phi_forms.not_counted(NOTES_NEEDED))
        with self._share.open() as reader:
            nearest = self._same_note.figure(self._originals.notes, reader)
        forms = self._phi_forms
        return (rare, nearest, forms.not_counted(UNRECORDED) if self._recorded is None else forms.figure())

    def _read_all(self, reader: PayloadReader) -> None:
        found = self._construction.code_places()
        if reader.features != self._construction.features:
            raise MismatchError("the feature columns of the release", received="others", place=self._share.path.name)
        rules, drawn, place = CodeRules(found.places, found.window), frozenset(self._drawn), 0
        for block in reader:
            rules.check(block.values, block.tags, block.offsets, self._share.path.name)
            self._tally.add(block)
            self._same_note.add(block)
            for begin, end in pairwise(block.offsets.tolist()):
                if place in drawn:
                    self._read[place] = self._sentence(place, block, slice(begin, end))
                place += 1

    def _sentence(self, place: int, block: SentenceBlock, tokens: slice) -> Sentence:
        read = read_tokens(block.values[tokens], block.casing[tokens], self._lexicon)
        return Sentence(place + 1, parted(read, block.tags[tokens], self._scheme))

    def _beside_original(self, place: int) -> Sentence:
        own = None if self._originals is None else self._originals.found.get(place)
        if own is None:
            return self._read[place]
        original = parted(own_tokens(own.words), own.tags, self._scheme)
        return Sentence(place + 1, self._read[place].parts, original)

    @property
    def _scheme(self) -> LabelScheme:
        return self._construction.scheme


def drawn_sentences(digest: str, sentences: int, most: int) -> list[int]:
    """Which sentences of a share are shown: the same ones whenever the same share is looked at, and the first few of more.

    Args:
        digest: of the payload, in hex.
        sentences: of the share.
        most: how many.
    """
    order = np.random.default_rng(int(digest[:16], 16)).permutation(sentences)[:most]
    drawn: list[int] = order.tolist()
    return drawn


def count_lines(reading: Reading) -> list[str]:
    """How much of a share is read, in words."""
    counts = reading.counts
    place = "public PHI stands in its place" if reading.replaces_phi else "shown as any other word"
    told = "" if counts.with_original == counts.sentences else "; of a group the part that are such words is counted"
    return [
        f"{counts.words_exact} of {counts.words} words that are no PHI are read exactly ({_percent(counts.words_exact, counts.words)}), "
        "of the others a group of words, in which a language model guesses some",
        f"{counts.content_exact} of {counts.content} content words are read exactly ({_percent(counts.content_exact, counts.content)}): "
        f"{CONTENT}{told}",
        f"{counts.phi} words are labelled PHI: the label is read, {place}",
        *([f"{counts.unknown} words may be PHI: no label is shown"] if counts.unknown else []),
        *([hidden] if (hidden := hidden_line(reading)) else []),
        *(figure.line for figure in reading.figures),
    ]


def hidden_line(reading: Reading) -> str:
    """How many words are labelled PHI of no category of the release, and where they are counted; "" where it is known that none is."""
    counts = reading.counts
    if not reading.replaces_phi or counts.hidden == 0:
        return ""
    if counts.hidden is None:
        return (
            "how many words are labelled PHI of no category of the release is not known without the report or the notes: where there are such, "
            "public PHI stands in their place and is counted as words that are no PHI"
        )
    said = (
        f"{counts.hidden} words are labelled PHI of no category of the release: public PHI stands in their place, without a label, and none of them "
        "is counted as a word that is no PHI"
    )
    if not (left := counts.hidden - counts.hidden_found):
        return said
    return (
        f"{said}; which {left} of them are, only the notes tell: until these are given and they are found, what was drawn in their place may be counted as read "
        "exactly, and may make a sentence stand alone"
    )


def sentence_lines(reading: Reading, most: int, *, originals: bool) -> list[str]:
    """Sentences of a share as they are read.

    Args:
        reading: of the share.
        most: so many of those that were drawn.
        originals: whether the hospital's own sentences stand below, where they were found. They hold PHI.
    """
    shown, lines = reading.sentences[:most], list[str]()
    for sentence in shown:
        lines.append(f"  {sentence.number:>6}  {sentence_line(sentence.parts)}")
        if originals and sentence.original is not None:
            lines.append(f"    note  {sentence_line(sentence.original)}")
    return [
        f"{len(shown)} of {reading.counts.sentences} sentences as anybody reads them who has the release; [CATEGORY ...] is labelled PHI, and",
        "⟨fever, cough … 1240⟩ one of 1240 words of the release that can't be told apart, of which these are common ones; ⟨like ...⟩ is none of them:",
        *lines,
    ]


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"
