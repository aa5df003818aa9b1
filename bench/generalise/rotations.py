"""What each step behind the tagger adds at a hospital that nobody has seen: leave-one-hospital-out on `en_sites`.

Each hospital in turn is the provider, the next three share, the last is unseen. One head for each rotation and seed; all choices of
steps are scored on what it found in the test notes of the unseen hospital. What taggers found is kept, so that steps can be measured again without them.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.worth.sides import STEPS as HEAD_STEPS
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from shared.document import Annotation, Document
from shared.evaluation import binary_token_scores, match_corpora, strict_entity
from shared.evaluation.hospital import evaluate_hospital
from shared.labels import load_scheme
from shared.pipeline.last_word import STEPS, LastWord, LastWordSettings

CHOICES: dict[str, tuple[str, ...]] = {
    "tagger alone": (),
    "patterns": ("patterns",),
    "whole entities": ("whole",),
    "further mentions": ("mentions",),
    "patterns and whole entities": ("patterns", "whole"),
    "patterns and further mentions": ("patterns", "mentions"),
    "the last word": STEPS,
}
_RESAMPLES = 1000


@dataclass(frozen=True)
class Effort:
    """How much is trained.

    Args:
        part: of the command.
        seeds: of each rotation.
        steps: of each head.
    """

    part: str
    seeds: tuple[int, ...]
    steps: int


FULL = Effort("rotations", (1, 2, 3), HEAD_STEPS)
QUICK = Effort("rotations-quick", (1,), HEAD_STEPS // 10)


def measure(effort: Effort) -> list[Entry]:
    """Train what is not there yet; the entries of all."""
    runs, commits = [], set()
    for seed in effort.seeds:
        for provider in corpora.SITES:
            name = f"generalise-tagger-{provider}-{effort.steps}-{seed}"
            kept = load_or_measure(name, lambda provider=provider, seed=seed: _train(provider, seed, effort.steps))  # type: ignore[misc]
            commits.add(kept["commit"])
            runs.append(_scored(corpora.en_site(unseen_by(provider), "test"), kept))
    trained = f"mean of {len(corpora.SITES)} rotations, heads of {effort.steps} steps of {', '.join(sorted(commits))}; interval over documents"
    return [entry for choice in CHOICES for entry in _entries(choice, [run[choice] for run in runs], effort, trained)]


def _train(provider: str, seed: int, steps: int) -> dict[str, object]:
    """What a tagger finds in the test notes of the unseen hospital, and which of their words its release calls public."""
    pipeline = sides_of(provider).train("share", seed, steps)
    notes = corpora.en_site(unseen_by(provider), "test")
    found = {
        one.identifier: [[span.start, span.end, span.category] for span in one.annotations]
        for one in pipeline.annotate(notes)
    }
    words = sorted({word for note in notes for word in re.findall(r"\w+", note.text.lower())})
    public = [word for word, known in zip(words, pipeline.encoder.are_public(words), strict=True) if known]
    return {"found": found, "public": public}


def _scored(notes: Sequence[Document], kept: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each choice the counts of every document: tokens and entities as true, false and missed, entities hidden of all."""
    public = frozenset(kept["public"])

    def are_public(words: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([word.lower() in public for word in words], dtype=np.bool_)

    found = [
        Document(note.identifier, note.text, tuple(Annotation(*span) for span in kept["found"][note.identifier]))
        for note in notes
    ]
    counts = {}
    for choice, steps in CHOICES.items():
        last = LastWord(load_scheme("i2b2_2014"), LastWordSettings("English", steps), are_public)
        counts[choice] = _counts(notes, [last.complete(one) for one in found])
    return counts


def _counts(notes: Sequence[Document], found: Sequence[Document]) -> dict[str, Any]:
    pairs = match_corpora(notes, found)
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    return {
        "tokens": binary_token_scores(pairs).by_document,
        "entities": strict_entity(pairs).by_document,
        "hidden": np.array([[one.hits, one.total] for one in hidden]),
        "by_type": {name: [one.spans.hits, one.spans.total] for name, one in evaluate_hospital(pairs).per_type.items()},
    }


def _precision(counts: Any) -> float:
    true, false, _ = np.sum(counts, axis=0)
    return float(true / max(true + false, 1))


def _recall(counts: Any) -> float:
    true, _, missed = np.sum(counts, axis=0)
    return float(true / max(true + missed, 1))


def _f1(counts: Any) -> float:
    true, false, missed = np.sum(counts, axis=0)
    return float(2 * true / max(2 * true + false + missed, 1))


def _share(counts: Any) -> float:
    hits, total = np.sum(counts, axis=0)
    return float(hits / max(total, 1))


_MEASURES = (
    ("token precision", "tokens", _precision),
    ("token recall", "tokens", _recall),
    ("token-binary F1", "tokens", _f1),
    ("strict F1", "entities", _f1),
    ("entities hidden whole", "hidden", _share),
)


def _entries(choice: str, runs: Sequence[Mapping[str, Any]], effort: Effort, note: str) -> list[Entry]:
    entries = []
    types = sorted({name for run in runs for name in run["by_type"]})
    by_type = {name: np.sum([run["by_type"].get(name, [0, 0]) for run in runs], axis=0) for name in types}
    recalls = ", ".join(f"{name} {hits / total:.2f}" for name, (hits, total) in by_type.items())
    for measure, key, figure in _MEASURES:
        counts = [np.array(run[key], dtype=np.int64) for run in runs]
        entries.append(
            Entry(
                f"unseen hospital, {measure}, {choice}, {effort.steps} steps",
                round(statistics.fmean(figure(one) for one in counts), 4),
                None,
                "",
                "of entities" if key == "hidden" else measure.rsplit(" ", 1)[1],
                _interval(counts, figure),
                len(effort.seeds),
                "en_sites/test",
                f"python -m bench.results_generalise {effort.part}",
                f"{note}; by category: {recalls}" if key == "hidden" else note,
            )
        )
    return entries


def _interval(counts: Sequence[Any], figure: Any) -> tuple[float, float]:
    chance = np.random.default_rng(0)
    means = [
        statistics.fmean(figure(one[chance.integers(len(one), size=len(one))]) for one in counts)
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return round(float(low), 4), round(float(high), 4)
