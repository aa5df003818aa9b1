"""What a hospital asks before it trusts a de-identification: what would have been read by someone who should not?

Type and exact edges don't matter here, only what stays in clear. A character counts when it is a letter or a digit; in
a span without any, every visible character counts. A span or token is found when all its characters that count are
hidden. Where gold spans overlap, each is asked for by itself, but a character that leaks is one.
Nothing in a report is text of a note: a miss is a document id, offsets and a category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shared.document import AnnotatedText, Annotation
from shared.evaluation.entities import TokenSpans, token_spans
from shared.evaluation.intervals import clopper_pearson
from shared.evaluation.pairs import Pair, check_pairs
from shared.evaluation.scores import ratio
from shared.evaluation.spans import hiding_spans


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of things counted; 0.0 where there was none."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share, in [0, 1]; 0 of nothing."""
        return ratio(self.hits, self.total)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper-Pearson; too narrow for spans, tokens and characters, which are not independent within a document."""
        return clopper_pearson(self.hits, self.total, level=level)


@dataclass(frozen=True, slots=True)
class Recall:
    """Found of all: spans hidden altogether, tokens hidden altogether, characters hidden."""

    spans: Rate
    tokens: Rate
    characters: Rate


@dataclass(frozen=True, slots=True, order=True)
class Miss:
    """A gold span of which something stays in clear.

    Args:
        document: id of the document.
        start: first code point of the gold span. end: one past its last.
        category: gold category.
        leaked_characters: how many that count stay in clear.
        hidden_in_part: whether some other part of it is hidden.
    """

    document: str
    start: int
    end: int
    category: str
    leaked_characters: int
    hidden_in_part: bool


@dataclass(frozen=True, slots=True)
class HospitalReport:
    """What stays in clear, over a whole corpus.

    Args:
        recall: over all categories.
        per_type: the same per gold category.
        documents_with_miss: documents in which anything stays in clear, of all documents.
        misses: every span of which something stays in clear, in the order of the documents.
        leaked_characters: characters that count and stay in clear.
        needless_characters: letters and digits hidden that no gold span covers.
    """

    recall: Recall
    per_type: Mapping[str, Recall]
    documents_with_miss: Rate
    misses: tuple[Miss, ...]
    leaked_characters: int
    needless_characters: int

    @property
    def missed_by_type(self) -> dict[str, int]:
        """Number of spans missed, altogether or in part, per category that has any."""
        return dict(sorted(Counter(miss.category for miss in self.misses).items()))


@dataclass(slots=True)
class _Count:
    """Found and all, of spans, tokens and characters."""

    found: list[int] = field(default_factory=lambda: [0, 0, 0])
    total: list[int] = field(default_factory=lambda: [0, 0, 0])

    def add(self, found: Sequence[int], total: Sequence[int]) -> None:
        self.found = [old + new for old, new in zip(self.found, found, strict=True)]
        self.total = [old + new for old, new in zip(self.total, total, strict=True)]

    def recall(self) -> Recall:
        return Recall(*(Rate(found, total) for found, total in zip(self.found, self.total, strict=True)))


def evaluate_hospital(pairs: Iterable[Pair], *, spans: TokenSpans = token_spans) -> HospitalReport:
    """What the system leaves in clear.

    Args:
        pairs: (gold, system) documents, as `match_corpora` gives them.
        spans: int32 `[tokens, 2]` of a text; the project's own tokens by default.

    Raises:
        EvaluationError: pairs that don't belong together.
    """
    counts: dict[str, _Count] = {}
    misses: list[Miss] = []
    documents = with_miss = leaked = needless = 0
    for gold, system in check_pairs(pairs):
        hidden = hidden_characters(system)
        token_starts = spans(gold.text)[:, 0]
        before, clear = len(misses), np.zeros(len(gold.text), dtype=np.bool_)
        for span in hiding_spans(gold):
            miss = _judge(gold, span, hidden, token_starts, counts.setdefault(span.category, _Count()), clear)
            misses += [miss] if miss else []
        documents += 1
        with_miss += len(misses) > before
        leaked += int(clear.sum())
        needless += _needless(gold, hidden)
    everything = _Count()
    for count in counts.values():
        everything.add(count.found, count.total)
    return HospitalReport(
        everything.recall(),
        {category: counts[category].recall() for category in sorted(counts)},
        Rate(with_miss, documents),
        tuple(misses),
        leaked,
        needless,
    )


def hidden_characters(document: AnnotatedText) -> NDArray[np.bool_]:
    """Which code points lie under a span, bool `[characters]`."""
    hidden = np.zeros(len(document.text), dtype=np.bool_)
    for span in hiding_spans(document):
        hidden[span.start : span.end] = True
    return hidden


def _judge(
    document: AnnotatedText,
    span: Annotation,
    hidden: NDArray[np.bool_],
    token_starts: NDArray[np.int32],
    count: _Count,
    clear: NDArray[np.bool_],
) -> Miss | None:
    """Add one gold span to the count of its category, and what leaks of it to `clear`, bool `[characters]`."""
    positions = characters_that_count(document, span)
    leaked = positions[~hidden[positions]]
    clear[leaked] = True
    tokens = np.unique(np.searchsorted(token_starts, positions, side="right"))
    leaking = np.unique(np.searchsorted(token_starts, leaked, side="right"))
    count.add(
        (int(not len(leaked)), len(tokens) - len(leaking), len(positions) - len(leaked)),
        (1, len(tokens), len(positions)),
    )
    if not len(leaked):
        return None
    in_part = len(leaked) < len(positions)
    return Miss(document.identifier, span.start, span.end, span.category, len(leaked), in_part)


def characters_that_count(document: AnnotatedText, span: Annotation) -> NDArray[np.int64]:
    """Which code points of a span must be hidden, int64, at least one."""
    covered = document.covered_text(span)
    chosen = [index for index, character in enumerate(covered) if character.isalnum()]
    chosen = chosen or [index for index, character in enumerate(covered) if not character.isspace()]
    chosen = chosen or list(range(len(covered)))
    return span.start + np.array(chosen, dtype=np.int64)


def _needless(gold: AnnotatedText, hidden: NDArray[np.bool_]) -> int:
    return sum(gold.text[position].isalnum() for position in np.flatnonzero(hidden & ~hidden_characters(gold)).tolist())
