"""What a strict F1 of 0.975 would take on MEDDOCAN: how the default tagger gains with training notes, and what its errors are.

The tagger is the non-private one of `bench.generalise.meddocan`, on the first so many training notes; every size takes the same steps. Notes of odd
place of the development notes are reported; nothing is chosen on any. Errors of five kinds are counted, and of each what strict F1 would be without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import corpora
from bench.generalise.figures import counts_of, f1, interval
from bench.generalise.meddocan import STEPS, reported
from bench.outcomes import load_or_measure
from bench.privacy.worth.meddocan import sides
from bench.privacy.worth.sides import recipe
from bench.results import Entry
from shared.document import Annotation, Document
from shared.evaluation import match_corpora
from shared.evaluation.pairs import Pair
from shared.labels import load_scheme
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.raw_model import train_raw_model
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "python -m bench.results_taggers more-notes"
SIZES = (125, 250, 500)
WANTED = 0.975
KINDS = {
    "category": "a span exact, its category another",
    "edge": "a category right, an edge of the span another",
    "both": "a span that overlaps, edge and category another",
    "missed": "nothing where PHI is",
    "false": "something where no PHI is",
}
_DATA = "meddocan/dev, notes of odd place"
_RESAMPLES = 1000
_NEVER = 1_000_000


def measure() -> list[Entry]:
    """Trains what is not there yet."""
    runs = {size: load_or_measure(f"taggers-more-notes-{size}-{STEPS}-1", partial(_run, size)) for size in SIZES}
    entries = [
        _entry(
            f"MEDDOCAN, strict F1 by notes: {size} training notes",
            round(f1(run["entities"]), 4),
            "F1",
            interval([np.array(run["entities"])], f1),
            f"raw notes, the inputs of a head, {STEPS:,} steps, the last word, best tags; one seed",
            [run],
        )
        for size, run in runs.items()
    ]
    return [*entries, _notes_entry(runs), *_kind_entries(runs[SIZES[-1]])]


def _run(size: int) -> dict[str, Any]:
    notes, made = corpora.meddocan("train")[:size], sides().construction
    config = recipe(tokenised_corpus(notes, load_scheme("meddocan")).sentences, 1, STEPS)
    pipeline = replace(train_raw_model(notes, made, config), stated=LastWordSettings("Spanish"), point=None)
    bare = [Document(note.identifier, note.text) for note in reported()]
    pairs = match_corpora(reported(), list(pipeline.annotate(bare)))
    return counts_of(pairs) | {"kinds": [list(count_kinds(pair).values()) for pair in pairs]}


def count_kinds(pair: Pair) -> dict[str, int]:
    """Errors of each of KINDS in one note: labelled spans of the first four, found ones of the last.

    Args:
        pair: as labelled and as found. A found span is held against the labelled spans that nothing exact has met.
    """
    gold, found = ({(one.start, one.end, one.category): one for one in side.annotations} for side in pair)
    wrong = [one for key, one in found.items() if key not in gold]
    kinds = Counter(_kind(one, wrong) for key, one in gold.items() if key not in found)
    kinds["false"] = sum(
        not any(_overlap(one, other) for key, other in gold.items() if key not in found) for one in wrong
    )
    return {kind: kinds[kind] for kind in KINDS}


def _kind(gold: Annotation, wrong: Sequence[Annotation]) -> str:
    met = [one for one in wrong if _overlap(gold, one)]
    if any((one.start, one.end) == (gold.start, gold.end) for one in met):
        return "category"
    if any(one.category == gold.category for one in met):
        return "edge"
    return "both" if met else "missed"


def _overlap(one: Annotation, other: Annotation) -> bool:
    return one.start < other.end and other.start < one.end


def notes_needed(sizes: Sequence[int], errors: Sequence[float], wanted: float) -> float:
    """How many notes a power law has it that an error takes, by least squares of logarithms; infinity where more notes bring nothing.

    Args:
        sizes: notes. errors: 1 - F1 of each.
        wanted: the error.
    """
    slope, offset = np.polyfit(np.log(sizes), np.log(errors), 1)
    return float(np.exp((np.log(wanted) - offset) / slope)) if slope < 0 else float("inf")


def _notes_entry(runs: Mapping[int, Mapping[str, Any]]) -> Entry:
    counts = [np.array(run["entities"]) for run in runs.values()]

    def needed(chosen: NDArray[np.int64]) -> float:
        return min(_NEVER, notes_needed(SIZES, [1 - f1(one[chosen]) for one in counts], 1 - WANTED))

    chance, notes = np.random.default_rng(0), len(counts[0])
    low, high = np.quantile([needed(chance.integers(notes, size=notes)) for _ in range(_RESAMPLES)], [0.025, 0.975])
    return _entry(
        f"MEDDOCAN, training notes for a strict F1 of {WANTED}",
        round(needed(np.arange(notes))),
        "notes",
        (round(float(low)), round(float(high))),
        f"where a power law of the error through {', '.join(map(str, SIZES))} notes reaches it, {_NEVER} for never; interval over documents, "
        "given the law",
        list(runs.values()),
    )


def _kind_entries(run: Mapping[str, Any]) -> Iterator[Entry]:
    true, false, missed = np.sum(run["entities"], axis=0).tolist()
    for (kind, words), count in zip(KINDS.items(), np.sum(run["kinds"], axis=0).tolist(), strict=True):
        met, left = (0 if kind == "false" else count), (0 if kind == "missed" else count)
        yield _entry(
            f"MEDDOCAN, strict F1 with no error of one kind: {kind}",
            round(f1([(true + met, max(false - left, 0), missed - met)]), 4),
            "F1",
            None,
            f"{words}: {count} of {false + missed} errors, labelled spans that nothing exact meets and found ones that meet none; of {SIZES[-1]} notes",
            [run],
        )


def _entry(
    measure: str,
    value: float,
    unit: str,
    interval: tuple[float, float] | None,
    note: str,
    runs: Sequence[Mapping[str, Any]],
) -> Entry:
    commits = ", ".join(sorted({str(run["commit"]) for run in runs}))
    return Entry(measure, value, None, "", unit, interval, 1, _DATA, COMMAND, note, commits)
