"""Looks for PHI that nobody has labelled in a hospital's own labelled notes: the pipeline in use, patterns, and lists of names.

What is found is a suspicion. `site-client check` shows it to a person, who corrects the labels; `encode` hides what is probable enough
like labelled PHI, and says in the share that nobody knows what these tokens are. What labels cover has no part in that: `check` reads a
constant in its place. What it has a part in is for a person in the house alone: `read_labelled`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from shared.anonymity.shipped_lists import ordinary_words
from shared.document import Annotation, Document
from shared.labels import HIDDEN, LabelScheme
from shared.patterns.engine import Patterns
from shared.patterns.given_names import GivenNames
from shared.patterns.kinds import Suspicion
from shared.patterns.names import NameLists
from shared.patterns.reading import read
from shared.pipeline.forgotten.blinding import Blinded, blind
from shared.pipeline.forgotten.elsewhere import labelled_elsewhere
from shared.pipeline.forgotten.suspicion import LEAST, suspect
from shared.pipeline.pipeline import Pipeline
from shared.sentences.referenced import decoded_apart
from shared.text.tokens import ABBREVIATIONS

OwnLists: TypeAlias = Callable[[str], Iterable[Annotation]]
"""Finds in a text what lists of a hospital's own name."""
HIDE_ABOVE = 0.5
"""How probable it must be that something is PHI for `encode` to hide it."""
# What is left beside a label of what was found, and is no name and no number: a title, or a comma too much.
_LEFT_OVER = 0.5
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, repr=False)
class Checked:
    """A labelled note, and what in it may be PHI that nobody has labelled.

    Args:
        document: with its labels.
        suspicions: in the order of the text; none touches a label or another.
    """

    document: Document
    suspicions: tuple[Suspicion, ...]

    def __repr__(self) -> str:
        return f"Checked({self.document.identifier!r}, {len(self.suspicions)} suspicions)"

    def with_doubts(self, above: float) -> Document:
        """The note with what is more probable than that among its annotations, marked as doubtful."""
        added = [
            Annotation(one.start, one.end, one.category, doubtful=True)
            for one in self.suspicions
            if one.certainty >= above
        ]
        return replace(self.document, annotations=(*self.document.annotations, *added)) if added else self.document


class Checker:
    """Everything that looks.

    Args:
        scheme: of the release.
        pipeline: the newest one that was pulled; None where there is none.
        listed: what it finds is certain; None where the hospital gave no lists.
        above: how probable it must be that something is hidden: what is so probable stands by itself, whatever is beside it.
        given: names of the hospital's country; what they find is no surer than what the shipped lists do.
    """

    def __init__(
        self,
        scheme: LabelScheme,
        pipeline: Pipeline | None = None,
        listed: OwnLists | None = None,
        above: float = HIDE_ABOVE,
        given: GivenNames | None = None,
    ) -> None:
        self._scheme, self._pipeline, self._listed = scheme, pipeline, listed
        self._levels = (LEAST, max(LEAST, above))
        # Rules and lists of all languages: what a release says of itself may add to what is found, and take nothing of it away.
        self._patterns = Patterns(scheme)
        self._names = NameLists(scheme, given=given)
        self.own_lists = listed is not None or bool(given)
        """Whether lists of the hospital's own look, too."""
        self.given = {} if given is None else given.counts()
        """How many names of each kind the hospital gave."""

    def check(self, documents: Iterable[Document]) -> Iterator[Checked]:
        """Each note with what was found in it, in their order; the words of labelled spans change nothing of it."""
        waiting: deque[tuple[Document, Blinded]] = deque()

        def blinded() -> Iterator[Document]:
            for document in documents:
                waiting.append((document, blind(document)))
                yield waiting[-1][1].document

        for blinded_one, found in self._look(blinded()):
            document, blind_one = waiting.popleft()
            yield Checked(document, tuple(blind_one.in_note(settle(blinded_one, found))))

    def read_labelled(self, checked: Iterable[Checked]) -> Iterator[Checked]:
        """The same with what is found besides by who reads the labelled words, too; for the house alone.

        Args:
            checked: as `check` yields them. What it found is found here, at least as surely.
        """
        given = list(checked)
        documents = [one.document for one in given]
        looked = zip(given, self._look(documents), labelled_elsewhere(documents), strict=True)
        for one, (document, found), labelled in looked:
            yield Checked(document, tuple(settle(document, [*one.suspicions, *found, *labelled])))

    def _look(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Suspicion]]]:
        """Each text with everything that is found in it."""
        nothing = ((one, list[Suspicion]()) for one in documents)
        suspected = nothing if self._pipeline is None else suspect(self._pipeline, documents, self._levels)
        for document, found in suspected:
            own = [
                Suspicion(one.start, one.end, one.category, 1.0, "list of the hospital")
                for one in (() if self._listed is None else self._listed(document.text))
            ]
            known = [
                one if one.category in self._scheme.category_index else replace(one, category=HIDDEN)
                for one in (*own, *found)
            ]
            yield document, [*known, *self._patterns.find(document.text), *self._names.find(document.text)]


def settle(document: Document, suspicions: Iterable[Suspicion]) -> list[Suspicion]:
    """What is found outside the labels of a note: the surest first, and of every other what it leaves.

    Args:
        document: its annotations are sorted and do not overlap.
        suspicions: in any order. What a label leaves of one is half as sure where it is neither name nor number.

    Returns:
        sorted; none touches a label or another.
    """
    read, note = decoded_apart(document)
    places = ((note.to_read(one.start, one.end), one) for one in suspicions)
    settled = _settled(read, [replace(one, start=start, end=end) for (start, end), one in places])
    written = ((note.to_written(one.start, one.end), one) for one in settled)
    return [replace(one, start=start, end=end) for (start, end), one in written]


def _settled(document: Document, suspicions: Iterable[Suspicion]) -> list[Suspicion]:
    taken = [(span.start, span.end) for span in document.annotations]
    beside = chain.from_iterable(_beside(one, taken, document.text) for one in suspicions)
    weighed = [
        replace(one, certainty=one.certainty * _LEFT_OVER)
        if left and _says_little(document.text[one.start : one.end])
        else one
        for one, left in beside
    ]
    settled = []
    for one in sorted(weighed, key=lambda found: (-found.certainty, found.start, -found.end)):
        for piece, _ in _beside(one, taken, document.text):
            settled.append(piece)
            insort(taken, (piece.start, piece.end))
    return sorted(settled)


def _beside(one: Suspicion, taken: Sequence[tuple[int, int]], text: str) -> list[tuple[Suspicion, bool]]:
    """What is not taken of a stretch, each piece with whether anything is.

    Args:
        one: the stretch.
        taken: sorted, disjoint.
        text: of the note.
    """
    touching = _touching(one, taken)
    edges = [one.start, *(edge for span in touching for edge in span), one.end]
    trimmed = (_trimmed(text, start, end) for start, end in zip(edges[::2], edges[1::2], strict=True))
    return [(replace(one, start=start, end=end), bool(touching)) for start, end in trimmed if start < end]


def _says_little(text: str) -> bool:
    """Whether it has no number, and no word but titles, short ones and those of a dictionary that name nobody."""
    words = {word.lower() for word in _WORD.findall(read(text).text)} - ABBREVIATIONS
    return not any(map(str.isdigit, text)) and all(map(ordinary_words(None), words))


def _touching(one: Suspicion, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is taken of a stretch.

    Args:
        one: the stretch.
        taken: sorted, disjoint.
    """
    first = bisect_left(taken, one.start, key=lambda span: span[1])
    return [span for span in taken[first : bisect_left(taken, (one.end, one.end))] if span[1] > one.start]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without what is neither letter nor digit at its ends."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end
