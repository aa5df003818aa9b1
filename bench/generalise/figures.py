"""What a pipeline finds in labelled notes as counts, document by document, and their figures: [true, false, missed] of tokens or entities, [hidden, all] of entities."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bench.outcomes import draw_documents
from shared.document import Document
from shared.evaluation import binary_token_scores, match_corpora, strict_entity
from shared.evaluation.hospital import evaluate_hospital
from shared.evaluation.pairs import Pair
from shared.pipeline.pipeline import Pipeline

_RESAMPLES = 1000


def counts_of(pairs: Sequence[Pair]) -> dict[str, list[list[int]]]:
    """Counts of every note, labelled and as it was read, under "tokens", "entities" and "hidden"."""
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    return {
        "tokens": np.asarray(binary_token_scores(pairs).by_document).tolist(),
        "entities": np.asarray(strict_entity(pairs).by_document).tolist(),
        "hidden": [[one.hits, one.total] for one in hidden],
    }


def counts_read(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, list[list[int]]]:
    """`counts_of` labelled notes, of which the pipeline is shown the text alone."""
    bare = [Document(note.identifier, note.text) for note in notes]
    return counts_of(match_corpora(notes, pipeline.annotate(bare)))


def f1(counts: Any) -> float:
    """F1 of [true, false, missed]."""
    true, false, missed = np.sum(counts, axis=0)
    return float(2 * true / max(2 * true + false + missed, 1))


def precision(counts: Any) -> float:
    """Precision of [true, false, missed]."""
    true, false, _ = np.sum(counts, axis=0)
    return float(true / max(true + false, 1))


def recall(counts: Any) -> float:
    """Recall of [true, false, missed]."""
    true, _, missed = np.sum(counts, axis=0)
    return float(true / max(true + missed, 1))


def share(counts: Any) -> float:
    """The part that is hidden, of [hidden, all]."""
    hits, total = np.sum(counts, axis=0)
    return float(hits / max(total, 1))


COUNTED: tuple[tuple[str, str, Callable[[Any], float], str], ...] = (
    ("strict F1", "entities", f1, "F1"),
    ("entities hidden whole", "hidden", share, "of entities"),
    ("token precision", "tokens", precision, "precision"),
)
"""What a reader of notes is judged by: name, which counts, figure of them, unit."""


def interval(counts: Sequence[Any], figure: Callable[[Any], float]) -> tuple[float, float]:
    """95% interval of the mean over runs, documents of each drawn again."""
    chance, sizes = np.random.default_rng(0), [len(one) for one in counts]
    means = [
        statistics.fmean(figure(one[chosen]) for one, chosen in zip(counts, draw_documents(sizes, chance), strict=True))
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return round(float(low), 4), round(float(high), 4)


def gain(
    counts: Sequence[Any], others: Sequence[Any], figure: Callable[[Any], float]
) -> tuple[float, tuple[float, float]]:
    """Mean over runs of a figure less that of others on the same documents, and its 95% interval: both draw the same documents again."""
    chance, sizes = np.random.default_rng(0), [len(one) for one in counts]

    def mean(drawn: Iterable[Any]) -> float:
        runs = zip(drawn, counts, others, strict=True)
        return statistics.fmean(figure(one[which]) - figure(other[which]) for which, one, other in runs)

    means = [mean(draw_documents(sizes, chance)) for _ in range(_RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    return mean(map(np.arange, sizes)), (round(float(low), 4), round(float(high), 4))
