"""What shares are worth to a head that is trained as a provider's is by default, and to the hospital that adapts it to the notes that it shared.

`en_sites` in five rotations, pools in memory. On every side altered copies of sentences, half of the sentences without PHI sitting out each pass, and
equally many steps.
`python -m bench.results_privacy copies`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from bench import corpora
from bench.outcomes import Comparison, Outcome, is_there, load_or_measure, score_pipeline, with_interval
from bench.privacy.worth.pool import ALONE, COPIES, RAW, REPLACED, SHARES, STEPS, trained_as_provider
from bench.privacy.worth.sides import Sides
from bench.privacy.worth.sites import asked_of, sides_of
from bench.results import Entry
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.training.fine_tuning.adapting import AdaptingConfig, adapt_tagger

COMMAND = "python -m bench.results_privacy copies"
_SAID = {ALONE: "provider alone", RAW: "raw notes pooled", SHARES: "shares pooled"}
SEEDS = (1, 2, 3)
KINDS = {"entities": "strict", "tokens": "token-binary"}
TARGETS = {
    ("unseen", "tokens"): 0.85,
    ("sharing", "tokens"): 0.93,
    ("unseen", "entities"): 0.70,
    ("sharing", "entities"): 0.90,
}
_SHOWN = {REPLACED: "every public word shown", SHARES: "shown as by default"}
"""What shares show. One seed tells what is lost where: a third of a worth is no matter of seeds."""


def measure(*, train: bool = True) -> list[Entry]:
    """F1 and token precision of every side where notes were shared and where none were, and what each kind of share is worth.

    Args:
        train: what is not there yet; else the seeds that are there are told of.
    """
    seeds = [seed for seed in SEEDS if train or all(is_there(name) for name in _names(seed))]
    runs = {
        (side, seed, provider): load_or_measure(_name(provider, side, seed), partial(_scored, provider, side, seed))
        for seed in seeds
        for provider in corpora.SITES
        for side in _SAID
    }
    entries = []
    for where in ("sharing", "unseen"):
        sides: dict[tuple[str, bool], list[Outcome]] = {}
        for (side, _, provider), kept in runs.items():
            for site in asked_of(provider, where):
                sides.setdefault((side, False), []).append(Outcome.of(kept[site], kept["commit"]))
                if where == "sharing":
                    adapted = Outcome.of(kept["adapted"][site], kept["commit"])
                    sides.setdefault((side, True), []).append(adapted)
        for which in sides:
            entries += [entry for kind in KINDS for entry in _entries(where, which, kind, sides, len(seeds))]
    return entries + _shown_entries(train)


def _shown_entries(train: bool) -> list[Entry]:
    """F1 of shares that hide no more than labelled PHI and words that are not public, and of those of today in the same rotations."""
    seed = SEEDS[0]
    providers = [one for one in corpora.SITES if train or all(is_there(_name(one, shown, seed)) for shown in _SHOWN)]
    entries = []
    for shown, said in _SHOWN.items() if providers else ():
        runs = {
            provider: load_or_measure(_name(provider, shown, seed), partial(_scored, provider, shown, seed))
            for provider in providers
        }
        for where in ("sharing", "unseen"):
            outcomes = [
                Outcome.of(run[site], run["commit"])
                for provider, run in runs.items()
                for site in asked_of(provider, where)
            ]
            for kind, name in KINDS.items():
                found = with_interval([outcomes], kind, lambda mean: mean)
                measure = f"en_sites, {where} hospitals, with copies, shares pooled, {said}, one seed: {name} F1"
                entries.append(_entry(measure, found, "F1", outcomes, 1, rotations=len(providers)))
    return entries


@cache
def _sides(provider: str) -> Sides:
    return sides_of(provider)


def _names(seed: int) -> list[str]:
    return [_name(provider, side, seed) for provider in corpora.SITES for side in _SAID]


def _name(provider: str, side: str, seed: int) -> str:
    return f"copies-{STEPS}-{provider}-{side}-{seed}"


def _entries(
    where: str, which: tuple[str, bool], kind: str, sides: dict[tuple[str, bool], list[Outcome]], seeds: int
) -> Iterator[Entry]:
    (side, adapted), outcomes = which, sides[which]
    begins = f"en_sites, {where} hospitals, with copies, {_SAID[side]}" + (
        ", adapted to its own notes" if adapted else ""
    )
    found = with_interval([outcomes], kind, lambda mean: mean)
    yield _entry(f"{begins}: {KINDS[kind]} F1", found, "F1", outcomes, seeds)
    if side == SHARES or adapted:
        worth = Comparison(sides[ALONE, False], sides[RAW, False], outcomes).gain(kind)
        target = None if adapted else TARGETS[where, kind]
        name = f"{begins}: worth, {KINDS[kind]}"
        yield _entry(name, worth, "of what raw notes add", outcomes, seeds, target)


def _scored(provider: str, side: str, seed: int) -> dict[str, Any]:
    """The scores at all hospitals, and at those that share once each has adapted its copy of the head to the notes that it shared."""
    pipeline = trained_as_provider(_sides(provider), side, seed, COPIES)
    found: dict[str, Any] = {site: _score(pipeline, site) for site in corpora.SITES}
    found["adapted"] = {}
    for site in asked_of(provider, "sharing"):
        own = pipeline.encoder.noise_free(tokenised_corpus(corpora.en_site(site, "train"), pipeline.encoder.scheme))
        head = adapt_tagger(pipeline.head, own, AdaptingConfig(seed=seed))
        found["adapted"][site] = _score(replace(pipeline, head=head), site)
    return found


def _score(pipeline: Pipeline, site: str) -> dict[str, Any]:
    scored = score_pipeline(pipeline, corpora.en_site(site, "test"))
    return {"tokens": scored.tokens, "entities": scored.entities}


def _entry(
    measure: str,
    found: tuple[float, tuple[float, float]],
    unit: str,
    outcomes: list[Outcome],
    seeds: int,
    target: float | None = None,
    rotations: int = len(corpora.SITES),
) -> Entry:
    value, (low, high) = found
    hits, extra, _ = np.sum([row for one in outcomes for row in one.tokens], axis=0).tolist()
    return Entry(
        measure,
        round(value, 4),
        target,
        "" if target is None else ">=",
        unit,
        (round(low, 4), round(high, 4)),
        seeds,
        "en_sites/test",
        COMMAND,
        f"token precision {hits / (hits + extra):.4f}; {rotations} rotation{'s' * (rotations > 1)}, {'seed 1' if seeds == 1 else f'seeds 1 to {seeds}'}, {STEPS} steps for every side, the tagger alone; adapting takes {AdaptingConfig().steps[-1]} steps on "
        "the 200 notes that a hospital has shared; interval over documents",
        ", ".join(sorted({one.commit for one in outcomes})),
    )
