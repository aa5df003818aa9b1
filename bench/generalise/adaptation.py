"""What a hospital gains that adapts the released head to a few corrected notes of its own: leave-one-hospital-out on `en_sites`.

As in `bench.generalise.rotations` each hospital in turn is the provider, the next three share, the last is unseen. A release is made of codes in memory
(`bench.privacy.worth.pool`), its head is adapted to some of the unseen hospital's training notes, and both read its test notes. Beside them stands a
head that learned from all its training notes from scratch.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import corpora
from bench.generalise.figures import COUNTED, counts_read, gain, interval
from bench.outcomes import is_there, load_or_measure
from bench.privacy.worth.pool import COPIES, SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from shared.augment.augmentation import AugmentedSource
from shared.pipeline.adapted import LEAST_EXAMPLES, adapted
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.training.fine_tuning.adapting import AdaptingConfig, adapt_tagger
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_taggers adaptation"
SIZES = (10, 50, 100)
TUNED = "a"
"""The rotation whose unseen hospital's training notes chose the recipe: it is not reported."""
STEPS = 1250
_SEED, _ASKED, _WITHIN = 1, 50, -0.03


def measure(*, train: bool = True) -> list[Entry]:
    """The entries of all rotations but the tuned one.

    Args:
        train: what is not there yet; else those that are there, at least one, are told of.
    """
    runs = {}
    for provider in corpora.SITES:
        name = f"adaptation-{provider}-{STEPS}-{_SEED}"
        if provider != TUNED and (train or is_there(name)):
            runs[provider] = load_or_measure(name, lambda p=provider: _run(p))  # type: ignore[misc]
    return entries_of(runs, COMMAND)


def _run(provider: str) -> dict[str, Any]:
    """Counts of every test note of the unseen hospital, by what reads it."""
    sides, site = sides_of(provider), unseen_by(provider)
    made, words = sides.construction, LastWordSettings("English")
    tags = len(made.scheme.tags)
    pool = SharedCodesSource(made, pooled_codes(made, sides.provider, sides.pooled), COPIES)
    release = Pipeline(made, train_tagger(pool, tags, recipe(pool.sentences, _SEED, STEPS)), words)
    test, own = corpora.en_site(site, "test"), corpora.en_site(site, "train")
    random.Random(_SEED).shuffle(own)
    found = {"release": counts_read(release, test)}
    for size in SIZES:
        chunk = tokenised_corpus(own[:size], made.scheme)
        head = adapt_tagger(release.head, made.noise_free(chunk), AdaptingConfig(seed=_SEED))
        examples = Counter(span.category for note in own[:size] for span in note.annotations)
        rare = frozenset(name for name in made.scheme.categories if examples[name] < LEAST_EXAMPLES)
        found[f"{size}"] = counts_read(adapted(release, head, None, rare), test)
        found[f"{size} alone"] = counts_read(Pipeline(made, head, words), test)
    every = AugmentedSource([tokenised_corpus(own, made.scheme)], made.noise_free, COPIES)
    scratch = train_tagger(every, tags, recipe(every.sentences, _SEED, STEPS))
    found["scratch"] = counts_read(Pipeline(made, scratch, words), test)
    return {"counts": found, "notes": len(own)}


def entries_of(runs: Mapping[str, Mapping[str, Any]], command: str) -> list[Entry]:
    """All figures.

    Args:
        runs: by provider.
        command: that makes them again.
    """
    table = _Table(runs, command)
    names = {"release": "the release", "scratch": "trained from scratch on its 200 notes"}
    for size in SIZES:
        names[f"{size}"] = f"adapted to {size} notes"
        names[f"{size} alone"] = f"adapted to {size} notes, without what the release keeps"
    entries = [entry for key, name in names.items() for entry in table.scores(key, name)]
    for size in SIZES:
        # Either would do: fifteen points over the release, which a good release makes harder, or this.
        within = _WITHIN if size == _ASKED else None
        entries += table.gains(f"{size}", "release", f"adapted to {size} notes over the release")
        entries += table.gains(f"{size}", "scratch", f"adapted to {size} notes over trained on its 200", within)
    return entries


@dataclass(frozen=True)
class _Table:
    runs: Mapping[str, Mapping[str, Any]]
    command: str

    def scores(self, key: str, name: str) -> list[Entry]:
        """Every measure of one reader, the mean over rotations; the interval is over documents."""
        entries = []
        for measure, kind, figure, unit in COUNTED:
            tables = self._tables(key, kind)
            each = ", ".join(f"unseen by {p} {figure(one):.3f}" for p, one in zip(self.runs, tables, strict=True))
            value = statistics.fmean(map(figure, tables))
            entries.append(self._entry(f"{measure}, {name}", value, unit, interval(tables, figure), each))
        return entries

    def gains(self, of: str, over: str, name: str, target: float | None = None) -> list[Entry]:
        """How far one lies above another in the same notes; the target is of strict F1."""
        entries = []
        for measure, kind, figure, _ in COUNTED:
            value, bounds = gain(self._tables(of, kind), self._tables(over, kind), figure)
            asked = target if kind == "entities" else None
            entries.append(self._entry(f"{measure}, {name}", value, "more", bounds, "", asked))
        return entries

    def _tables(self, key: str, kind: str) -> list[Any]:
        return [np.array(run["counts"][key][kind], dtype=np.int64) for run in self.runs.values()]

    def _entry(
        self, name: str, value: float, unit: str, bounds: tuple[float, float], each: str, target: float | None = None
    ) -> Entry:
        note = (
            f"mean of {len(self.runs)} rotations, one seed, heads of whole passes near {STEPS} steps, best tags and the last word; {AdaptingConfig().steps[-1]} steps of "
            f"adapting, chosen on training notes of another rotation; interval over documents{'; ' + each if each else ''}"
        )
        commits = ", ".join(sorted({str(run["commit"]) for run in self.runs.values()}))
        return Entry(
            f"unseen hospital, {name}",
            round(value, 4),
            target,
            "" if target is None else ">=",
            unit,
            bounds,
            1,
            "en_sites/test",
            self.command,
            note,
            commits,
        )
