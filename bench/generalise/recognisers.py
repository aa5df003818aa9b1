"""Precision and recall of every kind of pattern by itself, on notes that nothing was written or chosen by.

A match is right if every letter and digit of it is labelled PHI, of whatever category; an entity is found if a kind covers all of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench import corpora
from bench.results import Entry
from shared.document import Document
from shared.evaluation.intervals import clopper_pearson
from shared.labels import load_scheme
from shared.patterns.engine import Patterns
from shared.patterns.kinds import Suspicion, stated_kinds
from shared.pipeline.last_word import FLOOR
from shared.text.tokens import tokenise

COMMAND = "python -m bench.results_generalise patterns"
# What a kind that is measured at a hospital has to match there, to say something.
LEAST_MATCHES = 20
_MOST = 0.99
# Each is a beginning of what some kind looks for, without its end.
_ADVERSARIAL = (
    "1" * 20000,
    "1/" * 10000,
    "(+#1 " * 4000,
    "Dr " * 6000,
    "A. " * 6000,
    "a@a." * 5000,
    "St. A " * 3000,
    "XX-" * 6000,
)


@dataclass
class Found:
    """What one kind does on some notes.

    Args:
        category: that its matches have.
        matches, right: how many, and how many of them are PHI.
        entities, whole: of its category, and how many of them it covers.
    """

    category: str
    matches: int = 0
    right: int = 0
    entities: int = 0
    whole: int = 0

    @property
    def precision(self) -> float:
        """Share of its matches that are PHI; 0 of none."""
        return self.right / max(self.matches, 1)


@dataclass(frozen=True)
class _Corpus:
    """Notes of one hospital.

    Args:
        name: for reports.
        scheme: of its labels.
        language: of its notes.
        notes: labelled.
    """

    name: str
    scheme: str
    language: str
    notes: Sequence[Document] = field(repr=False)

    def patterns(self) -> Patterns:
        return Patterns(load_scheme(self.scheme), self.language)


def _corpora(split: str) -> list[_Corpus]:
    """All training hospitals, or what is held out."""
    sites = [_Corpus(site, "i2b2_2014", "English", corpora.en_site(site, split)) for site in corpora.SITES]
    return [
        *sites,
        _Corpus("meddocan", "meddocan", "Spanish", corpora.meddocan("train" if split == "train" else "dev")),
    ]


def measure() -> list[Entry]:
    """Every kind on held-out notes, and how long all take."""
    held_out = _corpora("test")
    english = [one for corpus in held_out[:-1] for one in [by_kind(corpus.patterns(), corpus.notes)]]
    entries = _entries(_together(english), "en_sites/test")
    entries += _entries(by_kind(held_out[-1].patterns(), held_out[-1].notes), "meddocan/dev")
    return entries + _times(held_out)


def certainties() -> list[str]:
    """For every kind what its file states, and its least precision over training hospitals."""
    found = {corpus.name: by_kind(corpus.patterns(), corpus.notes) for corpus in _corpora("train")}
    lines = []
    for kind, stated in stated_kinds().items():
        counts = {name: kinds[kind] for name, kinds in found.items() if kind in kinds and kinds[kind].matches}
        enough = [one.precision for one in counts.values() if one.matches >= LEAST_MATCHES]
        least = f"{min(_MOST, *enough):.3f}" if enough else "    -"
        listed = ", ".join(f"{name} {one.right}/{one.matches}" for name, one in counts.items())
        lines.append(f"{kind:28} states {stated['certainty']:.2f}  least {least}  {listed}")
    return lines


def by_kind(patterns: Patterns, notes: Iterable[Document]) -> dict[str, Found]:
    """What each kind does on some notes, also one without a match."""
    categories = patterns.kinds
    counts = Counter[tuple[str, str]]()
    entities = Counter[str]()
    for note in notes:
        telling = np.array([sign.isalnum() for sign in note.text], dtype=np.bool_)
        phi = _covered(note.text, [(span.start, span.end) for span in note.annotations])
        found: dict[str, set[Suspicion]] = {}
        for one in patterns.find(note.text):
            found.setdefault(one.source, set()).add(one)
        for kind, matches in found.items():
            counts[kind, "matches"] += len(matches)
            counts[kind, "right"] += sum(bool((phi | ~telling)[one.start : one.end].all()) for one in matches)
            hidden = _covered(note.text, [(one.start, one.end) for one in matches]) | ~telling
            own = [span for span in note.annotations if span.category == categories[kind]]
            counts[kind, "whole"] += sum(bool(hidden[span.start : span.end].all()) for span in own)
        entities.update(span.category for span in note.annotations)
    return {
        kind: Found(category, counts[kind, "matches"], counts[kind, "right"], entities[category], counts[kind, "whole"])
        for kind, category in categories.items()
    }


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    covered = np.zeros(len(text), dtype=np.bool_)
    for start, end in spans:
        covered[start:end] = True
    return covered


def _together(hospitals: Sequence[Mapping[str, Found]]) -> dict[str, Found]:
    total: dict[str, Found] = {}
    for found in hospitals:
        for kind, one in found.items():
            sums = total.setdefault(kind, Found(one.category))
            sums.matches += one.matches
            sums.right += one.right
            sums.entities += one.entities
            sums.whole += one.whole
    return total


def _entries(found: Mapping[str, Found], data: str) -> list[Entry]:
    entries = []
    for kind, one in found.items():
        if not one.matches:
            continue
        heard = "has a say" if stated_kinds()[kind]["certainty"] >= FLOOR else "has no say behind the tagger"
        low, high = clopper_pearson(one.right, one.matches)
        note = f"{one.right} of {one.matches} matches; {heard}; interval of matches as if they were independent"
        entries.append(
            _entry(f"pattern {kind}, precision, {data}", one.precision, "of its matches", (low, high), data, note)
        )
        if one.entities:
            low, high = clopper_pearson(one.whole, one.entities)
            note = f"{one.whole} of {one.entities} entities {one.category} whole, by this kind alone"
            recall = one.whole / one.entities
            entries.append(
                _entry(f"pattern {kind}, recall, {data}", recall, f"of {one.category}", (low, high), data, note)
            )
    return entries


def _times(held_out: Sequence[_Corpus]) -> list[Entry]:
    """CPU time of all patterns against that of cutting tokens, on notes and on texts that are made to take long."""
    entries = []
    for corpus in (held_out[2], held_out[-1]):
        patterns, texts = corpus.patterns(), [note.text for note in corpus.notes]
        cut = min(_seconds(tokenise, texts) for _ in range(3))
        found = min(_seconds(lambda text, own=patterns: list(own.find(text)), texts) for _ in range(3))
        worst = max(
            _seconds(lambda text, own=patterns: list(own.find(text)), [text]) / len(text) for text in _ADVERSARIAL
        )
        signs = sum(map(len, texts))
        note = f"in one run; the slowest of {len(_ADVERSARIAL)} texts of one repeated beginning takes {worst / (found / signs):.1f} times as long a character"
        entries.append(
            _entry(f"patterns, CPU time, {corpus.name}", found / cut, "times cutting tokens", None, corpus.name, note)
        )
    return entries


def _seconds(work: object, texts: Iterable[str]) -> float:
    assert callable(work)
    began = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - began


def _entry(measure: str, value: float, unit: str, interval: tuple[float, float] | None, data: str, note: str) -> Entry:
    rounded = None if interval is None else (round(interval[0], 4), round(interval[1], 4))
    return Entry(measure, round(value, 4), None, "", unit, rounded, 1, data, COMMAND, note)
