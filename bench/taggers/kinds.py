"""Which kind of tagger finds more at a hospital that nobody has seen, and how fast: leave-one-hospital-out on `en_sites`, heads of the same shares.

Rotations, steps and copies are those of `bench.taggers.pooling`. Beside the default tagger stands that of Khin et al. 2018 with characters, parts of
speech, casing and word vectors; without contextual embeddings, which take several times as long as all the rest (docs/adr/0048), where the speed is to
be equal. Nothing was chosen on these notes.
A tagger that hides more may only be less careful, so the default is also read where it is as precise: it hides what is less probable PHI, too.
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
from bench.taggers.curves import Curve, curve_read, hidden_at_the_precision_of
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
SEEDS = (1, 2, 3)
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
    return [*pooling.entries_of(runs, COMMAND, _TOLD, _OVER), *_at_one_precision(runs), *_speeds(runs)]


def _run(provider: str, seed: int) -> dict[str, Any]:
    """Counts of every test note of the unseen hospital by kind of tagger, at every threshold too, and CPU seconds of learning and of reading them."""
    sides = sides_of(provider)
    pool, test = Pool.of(sides), corpora.en_site(unseen_by(provider), "test")
    bare = [Document(note.identifier, note.text) for note in test]
    run: dict[str, Any] = {"counts": {}, "curves": {}, "learning": {}, "reading": {}}
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
        run["curves"][name] = curve_read(pipeline, test)
    return run


def _at_one_precision(runs: Mapping[tuple[str, int], Mapping[str, Any]]) -> Iterator[Entry]:
    """What the default hides where it is as precise as another kind with its best tags, and how much more that one hides."""
    commits = ", ".join(sorted({str(run["commit"]) for run in runs.values()}))
    plain, *others = KINDS
    curves = {name: [Curve.of(run["curves"][name]) for run in runs.values()] for name in KINDS}
    note = f"{len(runs)} runs; of the default also what is less probable PHI is hidden, until it is as precise; interval over documents"
    for name in others:
        own, more, between = hidden_at_the_precision_of(curves[name], curves[plain])
        told = f"unseen hospital, entities hidden whole at the token precision of {name}"
        for measure, value, unit, around in (
            (f"{told}, {plain}", own - more, "of entities", None),
            (f"{told}, over {_OVER}", more, "more", between),
        ):
            yield Entry(
                measure,
                round(value, 4),
                None,
                "",
                unit,
                around,
                len({seed for _, seed in runs}),
                "en_sites/test",
                COMMAND,
                note,
                commits,
            )


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
