"""The second language: MEDDOCAN's development notes, split by document, read by a non-private model of 500 notes and by the private pipeline.

What was chosen (how long to train, what follows the tagger) was chosen on the notes of even place by name; those of odd place are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aggregator.training.head import HeadOptions
from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.generalise.figures import f1, interval, share
from bench.outcomes import load_or_measure
from bench.privacy.worth import meddocan
from bench.privacy.worth.sides import recipe
from bench.results import Entry
from bench.results_loop import private_pipeline
from shared.document import Document
from shared.evaluation import binary_token_scores, match_corpora, strict_entity
from shared.evaluation.hospital import evaluate_hospital
from shared.labels import load_scheme
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.raw_model import train_raw_model
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "python -m bench.results_generalise meddocan"
SEEDS = (1, 2, 3)
STEPS = 10_000
_TARGETS = {"raw notes": 0.962, "release": 0.94}


def reported() -> list[Document]:
    """The half that is reported."""
    return sorted(corpora.meddocan("dev"), key=lambda note: note.identifier)[1::2]


def measure() -> list[Entry]:
    """Train what is not there yet; the entries of both models."""
    return [entry for side, target in _TARGETS.items() for entry in measure_side(side, target, COMMAND)]


def measure_side(side: str, target: float, command: str) -> list[Entry]:
    """The entries of one model.

    Args:
        side: "raw notes" or "release".
        target: least strict F1 that is asked.
        command: that makes them again.
    """
    runs = [
        load_or_measure(
            f"generalise-meddocan-{side.replace(' ', '-')}-{STEPS}-{seed}",
            lambda seed=seed: _counts(_pipeline(side, seed), reported()),  # type: ignore[misc]
        )
        for seed in SEEDS
    ]
    commits = ", ".join(sorted({str(one["commit"]) for one in runs}))
    entries = []
    for name, key, figure in (
        ("strict F1", "entities", f1),
        ("token-binary F1", "tokens", f1),
        ("entities hidden whole", "hidden", share),
    ):
        counts = [np.array(one[key], dtype=np.int64) for one in runs]
        values = [figure(one) for one in counts]
        entries.append(
            Entry(
                f"MEDDOCAN, {name}, {side}, {STEPS} steps",
                round(float(np.mean(values)), 4),
                target if key == "entities" else None,
                ">=" if key == "entities" else "",
                "of entities" if key == "hidden" else "F1",
                interval(counts, figure),
                len(SEEDS),
                "meddocan/dev, notes of odd place",
                command,
                f"with the last word, best tags; {_NOTES[side]}; by seed {', '.join(f'{value:.4f}' for value in values)}",
                commits,
            )
        )
    return entries


_NOTES = {
    "raw notes": "500 training notes as they are, the inputs of a head",
    "release": "provider of 50 notes, hospital of 450, the whole way of shares",
}


def _pipeline(side: str, seed: int) -> Pipeline:
    sides = meddocan.sides()
    sentences = tokenised_corpus([*sides.provider, *sides.pooled], load_scheme(sides.scheme)).sentences
    if side == "raw notes":
        trained = train_raw_model([*sides.provider, *sides.pooled], sides.construction, recipe(sentences, seed, STEPS))
        return replace(trained, stated=LastWordSettings("Spanish"))
    shared = {name: list(notes) for name, notes in sides.hospitals.items()}
    options = HeadOptions(hold_out=False, operating_points=False, undersampling=0.0)
    return private_pipeline(
        sides.material(), shared, sides.scheme, RepresenterOptions(), recipe(sentences, seed, STEPS), options
    )


def _counts(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, object]:
    bare = [Document(note.identifier, note.text) for note in notes]
    pairs = match_corpora(notes, list(replace(pipeline, point=None).annotate(bare)))
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    return {
        "tokens": [list(map(int, one)) for one in binary_token_scores(pairs).by_document],
        "entities": [list(map(int, one)) for one in strict_entity(pairs).by_document],
        "hidden": [[one.hits, one.total] for one in hidden],
    }
