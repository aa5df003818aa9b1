"""What `train-head --self-distil` costs at a hospital that nobody has seen: leave-one-hospital-out on `en_sites`, beside the head of the same pool.

Rotations, steps and copies are those of `bench.taggers.pooling`, whose runs hold the head beside it. The student takes as many steps as that one; its three teachers
take theirs before it. Nothing was chosen on these notes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench import corpora
from bench.generalise.figures import counts_read
from bench.outcomes import is_there, load_or_measure
from bench.privacy.worth.pool import COPIES, PARTS, SharedCodesSource, self_taught
from bench.privacy.worth.sides import recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.taggers import pooling
from bench.taggers.pooling import PLAIN, STEPS, Pool
from shared.errors import ConfigurationError
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_taggers self-distilled"
WAY = "self-distilled"
# Of those of `pooling` whose heads are of the same code.
SEEDS = (2, 3)


def measure(*, train: bool = True) -> list[Entry]:
    """The entries of all rotations, without those of the plain heads, which are told of by `pooling`.

    Args:
        train: what is not there yet; else those that are there, at least one, are told of.
    """
    runs = {}
    for seed in SEEDS:
        for provider in corpora.SITES:
            name = f"taggers-self-distilled-{provider}-{STEPS}-{seed}"
            if train or is_there(name):
                run = load_or_measure(name, partial(_run, provider, seed))
                plain = load_or_measure(pooling.name_of(provider, seed), partial(pooling.run, provider, seed))
                runs[provider, seed] = run | {"counts": {PLAIN: plain["counts"][PLAIN], WAY: run["counts"]}}
    if not runs:
        raise ConfigurationError(f"expected at least one run of `{COMMAND}`, found none; begin with that command")
    told = {PLAIN: "1 head", WAY: f"1 head, {PARTS} teachers"}
    return [one for one in pooling.entries_of(runs, COMMAND, told) if WAY in one.measure]


def _run(provider: str, seed: int) -> dict[str, Any]:
    """Counts of every test note of the unseen hospital."""
    sides = sides_of(provider)
    pool, test = Pool.of(sides), corpora.en_site(unseen_by(provider), "test")
    made, tags = pool.construction, len(pool.construction.scheme.tags)
    own, shared = (pool.codes.select(np.flatnonzero((pool.sites == 0) == is_own)) for is_own in (True, False))

    def source_of(codes: CodedSentences) -> SentenceSource:
        return SharedCodesSource(made, codes, COPIES)

    def learn(source: SentenceSource, place: int) -> Tagger:
        return train_tagger(source, tags, recipe(source.sentences, seed + 100 * place, STEPS))

    student = learn(self_taught(made, own, shared, source_of, learn, rate=0.0), 0)
    return {"counts": counts_read(Pipeline(made, student, LastWordSettings("English")), test)}
