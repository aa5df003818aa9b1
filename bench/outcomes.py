"""Scores of a model, kept from run to run, and what they come to over seeds and documents."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.results import Entry, commit
from bench.results.kept import load_kept
from foundation.files import write_text
from shared.document import Document
from shared.evaluation import binary_token_scores, bootstrap_f1, match_corpora, strict_entity
from shared.evaluation.scores import Scores
from shared.pipeline.pipeline import Pipeline

RUNS = Path(__file__).parent / ".runs"
_RESAMPLES = 1000


@dataclass(frozen=True)
class Outcome:
    """F1 of one model on one split, with counts by document for the bootstrap.

    Args:
        tokens: [tp, fp, fn] of each document, token-binary.
        entities: the same for entities, exact in span and category.
        commit: state of the code that made it.
    """

    tokens: list[list[int]]
    entities: list[list[int]]
    commit: str = ""

    @classmethod
    def of(cls, found: Mapping[str, Any], commit: str = "") -> Outcome:
        """From a kept run, which may hold more.

        Args:
            found: has "tokens" and "entities".
            commit: where the run holds several outcomes and says it only once.
        """
        return cls(found["tokens"], found["entities"], commit or found["commit"])

    @property
    def token_f1(self) -> float:
        """Token-binary F1."""
        return f1(self.tokens)

    @property
    def entity_f1(self) -> float:
        """Strict entity F1."""
        return f1(self.entities)


def f1(counts: Sequence[Sequence[int]]) -> float:
    """F1 of these counts."""
    hits, extra, missed = np.sum(counts, axis=0).tolist()
    return float(2 * hits / (2 * hits + extra + missed))


def is_there(name: str) -> bool:
    """Whether a measurement has been made: its result lies in bench/.runs or is kept."""
    return (RUNS / f"{name}.json").exists() or load_kept(name) is not None


def load_or_measure(name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of a measurement, from bench/.runs or from the kept ones where it is there already."""
    path = RUNS / f"{name}.json"
    if path.exists():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    if (kept := load_kept(name)) is not None:
        return kept
    began = time.monotonic()
    # A run may be recorded long after it was made: it keeps the state of the code that made it.
    state = commit()
    result = measure() | {"commit": state}
    RUNS.mkdir(exist_ok=True)
    write_text(path, json.dumps(result), private=False)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return result


def outcome(name: str, measure: Callable[[], Outcome]) -> Outcome:
    """`load_or_measure` for an Outcome."""
    result = Outcome.of(load_or_measure(name, lambda: asdict(measure())))
    print(f"{name}: token-binary {result.token_f1:.4f}, strict {result.entity_f1:.4f}", flush=True)
    return result


def score_pipeline(pipeline: Pipeline, gold: list[Document]) -> Outcome:
    """How a pipeline does on labelled notes."""
    pairs = match_corpora(gold, pipeline.annotate(gold))

    def counts(scores: Scores) -> list[list[int]]:
        return [[int(number) for number in row] for row in scores.by_document]

    return Outcome(counts(binary_token_scores(pairs)), counts(strict_entity(pairs)))


@dataclass(frozen=True)
class Comparison:
    """What sharing is worth on one split: runs by seed, or by rotation.

    Args:
        alone: the provider's notes, raw.
        ideal: the notes of all pooled, raw: the unreachable.
        private: all pooled by shares.
    """

    alone: list[Outcome]
    ideal: list[Outcome]
    private: list[Outcome]

    def gain(self, kind: str) -> tuple[float, tuple[float, float]]:
        """(private - alone) / (ideal - alone) of the mean F1, with a bootstrap interval over documents.

        Args:
            kind: "tokens" or "entities".
        """
        sides = [self.alone, self.ideal, self.private]
        return with_interval(sides, kind, lambda alone, ideal, private: (private - alone) / (ideal - alone))


def draw_documents(sizes: Sequence[int], chance: np.random.Generator) -> list[NDArray[np.int64]]:
    """Documents of each run, drawn again: for runs of as many the same ones.

    Seeds are scored on the same documents. Were these drawn for each by itself, an interval of three seeds would be as narrow as that of
    three times as many documents.

    Args:
        sizes: documents of each run.
        chance: of the draw.
    """
    drawn = {size: chance.integers(size, size=size) for size in dict.fromkeys(sizes)}
    return [drawn[size] for size in sizes]


def with_interval(
    sides: list[list[Outcome]], kind: str, figure: Callable[..., float]
) -> tuple[float, tuple[float, float]]:
    """A figure of the mean F1 of each side, with a bootstrap interval over documents, the same ones for all sides."""
    runs = [[np.array(getattr(one, kind), dtype=np.int64) for one in side] for side in sides]
    generator = np.random.default_rng(0)
    sizes = [len(run) for run in runs[0]]

    def means(chance: np.random.Generator | None) -> list[float]:
        drawn = map(np.arange, sizes) if chance is None else draw_documents(sizes, chance)
        totals = [0.0] * len(runs)
        for index, chosen in enumerate(drawn):
            for side, outcomes in enumerate(runs):
                totals[side] += f1(outcomes[index][chosen].tolist())
        return [total / len(runs[0]) for total in totals]

    low, high = np.quantile([figure(*means(generator)) for _ in range(_RESAMPLES)], [0.025, 0.975])
    return figure(*means(None)), (float(low), float(high))


def f1_entry(
    measure: str,
    outcomes: Sequence[Outcome],
    kind: str,
    target: float | None,
    data: str,
    note: str,
    command: str,
) -> Entry:
    """The mean of the seeds, with a bootstrap interval over documents of all seeds' counts together.

    Args:
        measure: its name.
        outcomes: one a seed.
        kind: "tokens" or "entities".
        target: of the issue; None for none.
        data: for the entry.
        note: for the entry; the score of each seed is added.
        command: for the entry.
    """
    runs = [getattr(outcome, kind) for outcome in outcomes]
    low, high = bootstrap_f1(np.sum(np.array(runs, dtype=np.int64), axis=0), np.random.default_rng(0))
    if len(runs) > 1:
        note += "; seeds " + ", ".join(f"{f1(counts):.4f}" for counts in runs)
    return Entry(
        measure=measure,
        value=round(statistics.fmean(map(f1, runs)), 4),
        target=target,
        direction="" if target is None else ">=",
        unit="F1",
        interval=(round(low, 4), round(high, 4)),
        seeds=len(runs),
        data=data,
        command=command,
        note=note,
        commit=", ".join(sorted({outcome.commit for outcome in outcomes})),
    )
