"""How long the default tagger trains on MEDDOCAN, as the non-private model of `bench.generalise.meddocan` does: CPU time of some of its passes, times all."""

from __future__ import annotations

import time
from typing import Any

from bench import corpora
from bench.generalise.meddocan import STEPS
from bench.outcomes import load_or_measure
from bench.privacy.worth.meddocan import sides
from bench.privacy.worth.sides import recipe
from bench.results import Entry
from shared.labels import load_scheme
from shared.pipeline.raw_model import train_raw_model
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "python -m bench.results_taggers training-time"
_PASSES = 2
_ASKED = 120


def measure() -> list[Entry]:
    """Every pass reads each sentence once, so that all of them take what some do so many times."""
    run = load_or_measure(f"taggers-training-time-{STEPS}", _run)
    passes, all_passes = int(run["passes"]), int(run["all_passes"])
    return [
        Entry(
            f"MEDDOCAN, training of the default tagger, raw notes, {STEPS} steps",
            round(float(run["cpu_seconds"]) / passes * all_passes / 60, 1),
            _ASKED,
            "<=",
            "CPU minutes",
            None,
            1,
            "meddocan/train",
            COMMAND,
            f"500 notes as they are; {passes} of {all_passes} passes measured, one thread, other processes on the machine; no language model is trained",
            str(run["commit"]),
        )
    ]


def _run() -> dict[str, Any]:
    notes, made = corpora.meddocan("train"), sides().construction
    sentences = tokenised_corpus(notes, load_scheme("meddocan")).sentences
    whole = recipe(sentences, 1, STEPS).epochs
    some = recipe(sentences, 1, round(STEPS * _PASSES / whole))
    began = time.process_time()
    train_raw_model(notes, made, some)
    return {"cpu_seconds": time.process_time() - began, "passes": some.epochs, "all_passes": whole}
