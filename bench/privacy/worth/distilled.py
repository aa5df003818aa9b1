"""What shares are worth to a head that never saw them: a student of public text, beside one of each other side, on MEDDOCAN.

A teacher is what `bench.privacy.worth.meddocan` measures. Its student learns from the provider's notes and from the public texts of its construction as
the teacher labels them, as `train-head --distil` has it, in as many steps. `python -m bench.results_privacy distilled`.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from bench import corpora
from bench.outcomes import Comparison, Outcome, is_there, load_or_measure, score_pipeline, with_interval
from bench.privacy.worth.meddocan import DATA, RECASED, sides
from bench.privacy.worth.pool import (
    ALONE,
    RAW,
    SHARES,
    STEPS,
    SharedCodesSource,
    Undersampled,
    public_codes,
    taught,
    trained_as_provider,
)
from bench.privacy.worth.sides import recipe
from bench.results import Entry
from shared.document import Document
from shared.pipeline.pipeline import Pipeline
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_privacy distilled"
SEEDS = (1,)
_SAID = {ALONE: "the provider's notes alone", RAW: "raw notes pooled", SHARES: "shares pooled"}


def measure(*, train: bool = True) -> list[Entry]:
    """F1 of the teachers and students of each side, and what shares are worth among students.

    Args:
        train: what is not there yet; else those that are there are told of.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for side in (SHARES, ALONE, RAW):
        for seed in SEEDS:
            name = f"distilled-{STEPS}-{side}-{seed}"
            if train or is_there(name):
                found.setdefault(side, []).append(load_or_measure(name, partial(_scored, side, seed)))
    entries = []
    for side, runs in found.items():
        for who in ("teacher", "student"):
            entries += _f1_entries(side, who, runs)
    if set(found) == set(_SAID):
        students = Comparison(*(_outcomes(found[side], "student") for side in (ALONE, RAW, SHARES)))
        for kind, name in (("entities", "strict"), ("tokens", "token-binary")):
            value, interval = students.gain(kind)
            unit = "of what raw notes add"
            every = [run for runs in found.values() for run in runs]
            entries.append(_entry(f"worth of a share of codes to students, {name}", value, interval, unit, every))
    return entries


def _scored(side: str, seed: int) -> dict[str, Any]:
    teacher = trained_as_provider(sides(), side, seed, RECASED)
    made = sides().construction
    text = [Document(str(number), text) for number, text in enumerate(sides().texts)]
    codes = taught(made, teacher.head, public_codes(made, sides().provider), public_codes(made, text))
    source = Undersampled(codes, lambda some: SharedCodesSource(made, some, RECASED))
    student = Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(source.sentences, seed, STEPS)))
    notes = corpora.meddocan("dev")
    return {
        who: _without_words(asdict(score_pipeline(one, notes)))
        for who, one in (("teacher", teacher), ("student", student))
    }


def _without_words(scored: dict[str, Any]) -> dict[str, Any]:
    """A run that is kept holds no words."""
    return {"tokens": scored["tokens"], "entities": scored["entities"]}


def _outcomes(runs: list[dict[str, Any]], who: str) -> list[Outcome]:
    return [Outcome.of(run[who], run["commit"]) for run in runs]


def _f1_entries(side: str, who: str, runs: list[dict[str, Any]]) -> list[Entry]:
    begins = f"{who} of public text, {_SAID[side]}" if who == "student" else f"its teacher, {_SAID[side]}"
    return [
        _entry(f"{begins}: {name} F1", *with_interval([_outcomes(runs, who)], kind, lambda mean: mean), "F1", runs)
        for kind, name in (("entities", "strict"), ("tokens", "token-binary"))
    ]


def _entry(measure: str, value: float, interval: tuple[float, float], unit: str, runs: list[dict[str, Any]]) -> Entry:
    note = (
        f"50 provider and 450 hospital notes, all {len(sides().texts):,} public texts of the construction, {STEPS:,} steps of teacher and student each, "
        "labels of which the teacher is sure to 0.9; the tagger alone; interval over documents"
    )
    around = (round(interval[0], 4), round(interval[1], 4))
    commits = ", ".join(sorted({str(run["commit"]) for run in runs}))
    return Entry(measure, round(value, 4), None, "", unit, around, len(SEEDS), DATA, COMMAND, note, commits)
