"""In how many notes a phrase stands, and of which of them it is taken: what is left are phrases of at least k of them.

Notes of one patient count once where the hospital says whose they are; so do notes that are copies of one another, for most of their words stand in
sentences of an earlier one, or most of their runs of words, wherever its lines end. A phrase that touches PHI in any note, as a label or a program marks it there, leaves from none;
nor does one in which the words of PHI that is sure stand whole, two or more of them, whatever is beside them.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

import numpy as np

from protocols.share.fragments import LEAST_WORDS, MOST_WORDS
from shared.document import Annotation, Document
from shared.pipeline.mentions import folded
from shared.text.letters import as_printed, only_words
from shared.text.tokens import Tokens, tokenise
from site_client.fragments.phrases import Kind, Phrase, PhraseParser, find_phrases
from site_client.sharing.digest_files import Digests, compared_runs, kept_runs

Key = tuple[Kind, str]
MayStand = Callable[[Sequence[str]], Sequence[bool]]
# A note of which a larger part stands in an earlier one is that one again.
_COPIED = 0.5
# Shorter sentences and runs stand in notes of different patients by chance. Some notes have short sentences alone, so both are looked at.
_LEAST_WORDS = 8


@dataclass(slots=True)
class _Use:
    """Where a phrase stands.

    Args:
        owners: that have it, up to as many as it takes.
        owner: one of them, drawn.
        seen: how many have it; behind the first `least`, notes are counted and not their owners.
    """

    owners: set[int] = field(default_factory=set)
    owner: int = -1
    seen: int = 0


@dataclass(frozen=True)
class Owned:
    """A phrase that may leave.

    Args:
        kind: noun or verb phrase.
        text: in lower case.
        owner: number of the patient, or note, that it is taken from.
        notes: how many have it.
    """

    kind: Kind
    text: str
    owner: int
    notes: int

    def __repr__(self) -> str:
        return f"Owned({self.kind}, {self.notes} notes)"


class Copies:
    """Tells which notes are one: of one patient, or copies of one another.

    Args:
        patients: the patient of a note by its id; empty where nobody says.
    """

    def __init__(self, patients: Mapping[str, str]) -> None:
        self._patients = patients
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[int, int] = {}

    @property
    def owners(self) -> int:
        """How many there are so far."""
        return len(set(self._numbers.values()))

    def owner(self, document: Document, tokens: Tokens) -> int:
        """A number for the patient, or the note, that this note counts for."""
        sentences, runs = _sentences(tokens), _runs(document.text)
        said = self._patients.get(document.identifier)
        number = self._copied(sentences, runs, len(tokens)) if said is None else None
        if number is None:
            number = self._numbered(said, document.identifier)
        for digest in (*sentences, *kept_runs(runs).tolist()):
            self._known.setdefault(digest, number)
        return number

    def _copied(self, sentences: Mapping[int, int], runs: Digests, tokens: int) -> int | None:
        """The owner of an earlier note that this one is a copy of."""
        number = self._earlier(sentences, tokens)
        compared = compared_runs(runs).tolist()
        return self._earlier(dict.fromkeys(compared, 1), len(compared)) if number is None else number

    def _earlier(self, parts: Mapping[int, int], whole: int) -> int | None:
        """The owner of more than half of a note.

        Args:
            parts: of the note, each with its size.
            whole: size of the note.
        """
        found: Counter[int] = Counter()
        for digest, size in parts.items():
            if (known := self._known.get(digest)) is not None:
                found[known] += size
        [(number, size)] = found.most_common(1) or [(0, 0)]
        return number if size > _COPIED * whole else None

    def _numbered(self, patient: str | None, note: str) -> int:
        key = ("note", note) if patient is None else ("patient", patient)
        return self._numbers.setdefault(key, len(self._numbers))


class PhraseCounts:
    """Counts phrases, note by note.

    Args:
        parser: of the language.
        may_stand: which words may stand in what leaves, see `site_client.fragments.words`.
        least: patients, or notes, that a phrase must stand in.
        chance: draws the owner of a phrase; the operating system's, but in measurements.
        copies: which notes are one.
    """

    def __init__(
        self, parser: PhraseParser, may_stand: MayStand, least: int, chance: random.Random, copies: Copies
    ) -> None:
        self._parser, self._may_stand, self._least = parser, may_stand, least
        self._chance, self._copies = chance, copies
        self._uses: dict[Key, _Use] = {}
        self._touched: set[str] = set()
        # What is PHI for sure, without what is beside it.
        self._said: set[str] = set()
        self._allowed: dict[str, bool] = {}
        self.notes = 0

    @property
    def owners(self) -> int:
        """Patients, or notes, that were counted."""
        return self._copies.owners

    def add(self, note: Document, left: Sequence[bool] | None = None, sure: Sequence[Annotation] | None = None) -> None:
        """Count a note.

        Args:
            note: with everything that may be PHI among its annotations.
            left: which of its sentences have left before, so that they are not counted; None for none.
            sure: what of it is PHI for sure; None where all is.
        """
        tokens = tokenise(note.text)
        owner = self._copies.owner(note, tokens)
        self.notes += 1
        self._touch(tokens, note, sure)
        phrases = list(find_phrases(note.text, self._parser, tokens, left))
        self._learn(one.text for one in phrases)
        for phrase in phrases:
            if not touches(phrase, note.annotations) and self._may_leave(phrase.text):
                self._count((phrase.kind, phrase.text), owner)

    def touch(self, note: Document, sure: Sequence[Annotation] | None = None) -> None:
        """Take what may be PHI in a note that is not counted: no phrase that touches it leaves.

        Args:
            note, sure: as in `add`.
        """
        self._touch(tokenise(note.text), note, sure)

    def kept(self) -> list[Owned]:
        """What may leave, each text once, in no order."""
        kept: dict[str, Owned] = {}
        for (kind, text), use in self._uses.items():
            if len(use.owners) < self._least or text in self._touched or not self._said.isdisjoint(_runs_in(text)):
                continue
            # What is a noun phrase here and a verb phrase there is what it is more often.
            if text not in kept or kept[text].notes < use.seen:
                kept[text] = Owned(kind, text, use.owner, use.seen)
        return list(kept.values())

    def _count(self, key: Key, owner: int) -> None:
        use = self._uses.setdefault(key, _Use())
        if owner in use.owners:
            return
        if len(use.owners) < self._least:
            use.owners.add(owner)
        use.seen += 1
        # One of all, each as likely, without a list of them (Vitter 1985, algorithm R).
        if self._chance.randrange(use.seen) == 0:
            use.owner = owner

    def _may_leave(self, text: str) -> bool:
        return all(self._allowed[word] for word in text.split(" "))

    def _touch(self, tokens: Tokens, note: Document, sure: Sequence[Annotation] | None) -> None:
        said = list(_said(tokens, note.annotations if sure is None else sure))
        for found, known in ((list(_around(tokens, note.annotations)), self._touched), (said, self._said)):
            self._learn(found)
            known.update(filter(self._may_leave, found))

    def _learn(self, texts: Iterable[str]) -> None:
        new = sorted({word for text in texts for word in text.split(" ")} - self._allowed.keys())
        if new:
            self._allowed.update(zip(new, map(bool, self._may_stand(new)), strict=True))


def _around(tokens: Tokens, spans: Sequence[Annotation]) -> Iterator[str]:
    """Every run of 2 to 4 words that has a word in a span, whether a parser takes it for a phrase or not.

    Args:
        tokens: of a note.
        spans: sorted, none overlaps another.
    """
    words = list(map(folded, tokens.words))
    for first, behind in _places(tokens, spans):
        for size in range(LEAST_WORDS, MOST_WORDS + 1):
            for place in range(max(first - size + 1, 0), min(behind, len(words) - size + 1)):
                run = words[place : place + size]
                if all(map(str.isalpha, run)):
                    yield " ".join(run)


def _said(tokens: Tokens, spans: Sequence[Annotation]) -> Iterator[str]:
    """The words of each span, as far as 2 to 4 of them stand beside each other, and also with what stands between words passed over ("Market-Street").

    Args:
        tokens: of a note.
        spans: in any order.
    """
    for first, behind in _places(tokens, spans):
        words = list(map(folded, tokens.words[first:behind]))
        for passed in (words, [word for word in words if any(map(str.isalnum, word))]):
            for are_words, run in groupby(passed, str.isalpha):
                found = list(run)
                if are_words and LEAST_WORDS <= len(found) <= MOST_WORDS:
                    yield " ".join(found)


def _places(tokens: Tokens, spans: Sequence[Annotation]) -> Iterator[tuple[int, int]]:
    """The first token of each span, and the one behind it."""
    starts, ends = tokens.spans[:, 0], tokens.spans[:, 1]
    for span in spans:
        yield int(np.searchsorted(ends, span.start, side="right")), int(np.searchsorted(starts, span.end))


def _runs_in(text: str) -> Iterator[str]:
    """Every run of two words or more of a phrase, itself among them."""
    words = text.split(" ")
    for first, behind in combinations(range(len(words) + 1), 2):
        if behind - first >= LEAST_WORDS:
            yield " ".join(words[first:behind])


def touches(phrase: Phrase, spans: Sequence[Annotation]) -> bool:
    """Whether a phrase has a character in one of the spans, which are sorted and do not overlap."""
    behind = bisect_left(spans, phrase.end, key=lambda span: span.start)
    return behind > 0 and spans[behind - 1].end > phrase.start


def _sentences(tokens: Tokens) -> Mapping[int, int]:
    """The sentences of a note that are long enough, each with its tokens there; of one process, for `hash` is drawn anew in each."""
    sizes: Counter[int] = Counter()
    for first, end in tokens.sentences():
        if end - first >= _LEAST_WORDS:
            sizes[hash(("sentence", *(word.lower() for word in tokens.words[first:end])))] += end - first
    return sizes


def _runs(text: str) -> Digests:
    """The runs of words of a note, uint64, likewise; neither where its lines end matters, nor how they are written."""
    words = only_words(as_printed(text))
    runs = {hash(("run", *words[place : place + _LEAST_WORDS])) for place in range(len(words) - _LEAST_WORDS + 1)}
    return np.array(sorted(runs), dtype=np.int64).view(np.uint64)
