"""Which kind of tagger finds more at a hospital that nobody has seen, and how fast: leave-one-hospital-out on `en_sites`, heads of the same shares.

Rotations, steps and copies are those of `bench.taggers.pooling`. Beside the default tagger stands that of Khin et al. 2018 with characters, parts of
speech, casing and word vectors; without contextual embeddings, which bring nothing in so short a training. Nothing was chosen on these notes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from aggregator.training.kinds import TaggerOptions, head_kind
from bench import corpora
from bench.generalise.figures import counts_of
from bench.outcomes import is_there, load_or_measure
from bench.privacy.worth.pool import COPIES, SharedCodesSource
from bench.privacy.worth.sides import recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.taggers import pooling
from bench.taggers.pooling import STEPS, Pool
from shared.document import Document
from shared.errors import ConfigurationError
from shared.evaluation import match_corpora
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.khin2018 import Khin2018
from shared.taggers.registry import DEFAULT

COMMAND = "python -m bench.results_taggers kinds"
SEEDS = (1,)
KINDS = {"default tagger": DEFAULT, "Khin et al. 2018": Khin2018.kind}
_TOLD = {"default tagger": "1 head", "Khin et al. 2018": "1 head, without contextual embeddings"}
_OVER = "the default"


def measure(*, train: bool = True) -> list[Entry]:
    """The entries of all rotations.

    Args:
        train: what is not there yet; else those that are there, at least one, are told of.
    """
    runs: dict[tuple[str, int], dict[str, Any]] = {}
    for seed in SEEDS:
        for provider in corpora.SITES:
            name = f"taggers-kinds-{provider}-{STEPS}-{seed}"
            if train or is_there(name):
                runs[provider, seed] = load_or_measure(name, partial(_run, provider, seed))
    if not runs:
        raise ConfigurationError(f"expected at least one run of `{COMMAND}`, found none; begin with that command")
    return [*pooling.entries_of(runs, COMMAND, _TOLD, _OVER), *_speeds(runs)]


def _run(provider: str, seed: int) -> dict[str, Any]:
    """Counts of every test note of the unseen hospital by kind of tagger, and CPU seconds of learning and of reading them."""
    sides = sides_of(provider)
    pool, test = Pool.of(sides), corpora.en_site(unseen_by(provider), "test")
    bare = [Document(note.identifier, note.text) for note in test]
    run: dict[str, Any] = {"counts": {}, "learning": {}, "reading": {}}
    run["tokens"] = tokenised_corpus(bare, pool.construction.scheme).tokens
    for name, kind in KINDS.items():
        made = head_kind(TaggerOptions(kind), pool.construction)
        source = SharedCodesSource(pool.construction, pool.codes, COPIES, made.drawn)
        began = time.process_time()
        head = made.learn(source, len(pool.construction.scheme.tags), recipe(source.sentences, seed, STEPS))
        run["learning"][name] = time.process_time() - began
        pipeline = Pipeline(pool.construction, head, LastWordSettings("English"))
        # What is loaded once is no part of a speed.
        list(pipeline.annotate(bare[:1]))
        began = time.process_time()
        found = list(pipeline.annotate(bare))
        run["reading"][name] = time.process_time() - began
        run["counts"][name] = counts_of(match_corpora(test, found))
    return run


def _speeds(runs: Mapping[tuple[str, int], Mapping[str, Any]]) -> Iterator[Entry]:
    """How many tokens a CPU second reads, and how that compares within each run."""
    commits = ", ".join(sorted({str(run["commit"]) for run in runs.values()}))
    data, note = (
        "en_sites/test",
        "mean over rotations; tokens cut, tagged and given a last word; one thread, other processes on the machine",
    )
    plain = next(iter(KINDS))
    for name in KINDS:
        rates = [run["tokens"] / run["reading"][name] for run in runs.values()]
        learning = np.mean([run["learning"][name] for run in runs.values()]) / 60
        told = f"{note}; its training took {learning:.1f} CPU minutes"
        speed = f"unseen hospital, speed, {name}"
        yield Entry(
            speed,
            round(float(np.mean(rates))),
            None,
            "",
            "tokens a CPU second",
            None,
            len(SEEDS),
            data,
            COMMAND,
            told,
            commits,
        )
        if name != plain:
            ratios = [run["reading"][plain] / run["reading"][name] for run in runs.values()]
            between = (round(min(ratios), 3), round(max(ratios), 3))
            yield Entry(
                f"{speed}, over {_OVER}",
                round(float(np.mean(ratios)), 3),
                None,
                "",
                "times",
                between,
                len(SEEDS),
                data,
                COMMAND,
                f"{note}; range of rotations",
                commits,
            )
