"""What shares are worth to a head that learns from altered copies too, as a provider's does by default.

`en_sites` in five rotations, pools in memory, equal steps, and the same copies of sentences on every side: `worth-sites` has none on any.
`python -m bench.results_privacy copies`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from bench import corpora
from bench.outcomes import Comparison, Outcome, load_or_measure, score_pipeline, with_interval
from bench.privacy.worth.pool import COPIES, SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import STEPS, Sides, recipe
from bench.privacy.worth.sites import asked_of, sides_of
from bench.results import Entry
from shared.augment.augmentation import AugmentedSource
from shared.pipeline.pipeline import Pipeline
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_privacy copies"
ALONE, RAW, SHARES = "alone", "raw", "shares"
_SAID = {ALONE: "provider alone", RAW: "raw notes pooled", SHARES: "shares pooled"}
SEEDS = (1, 2, 3)
KINDS = {"entities": "strict", "tokens": "token-binary"}


def measure() -> list[Entry]:
    """F1 and token precision of every side where notes were shared and where none were, and what each kind of share is worth."""
    runs = {
        (side, seed, provider): run(side, seed, provider)
        for seed in SEEDS
        for provider in corpora.SITES
        for side in _SAID
    }
    entries = []
    for where in ("sharing", "unseen"):
        sides = {
            side: [
                Outcome.of(kept[site], kept["commit"])
                for seed in SEEDS
                for provider in corpora.SITES
                for kept in [runs[side, seed, provider]]
                for site in asked_of(provider, where)
            ]
            for side in _SAID
        }
        entries += [entry for side in _SAID for kind in KINDS for entry in _entries(where, side, kind, sides)]
    return entries


def run(side: str, seed: int, provider: str) -> dict[str, Any]:
    """What a side reaches at every hospital, trained where it is not there yet."""
    return load_or_measure(f"copies-{provider}-{side}-{seed}", partial(_scored, provider, side, seed))


def _entries(where: str, side: str, kind: str, sides: dict[str, list[Outcome]]) -> Iterator[Entry]:
    outcomes = sides[side]
    begins = f"en_sites, {where} hospitals, with copies, {_SAID[side]}"
    hits, extra, _ = np.sum([row for one in outcomes for row in one.tokens], axis=0).tolist()
    precise = f"token precision {hits / (hits + extra):.4f}"
    found = with_interval([outcomes], kind, lambda mean: mean)
    yield _entry(f"{begins}: {KINDS[kind]} F1", found, "F1", precise, outcomes)
    if side == SHARES:
        worth = Comparison(sides[ALONE], sides[RAW], outcomes).gain(kind)
        yield _entry(f"{begins}: worth, {KINDS[kind]}", worth, "of what raw notes add", precise, outcomes)


@cache
def _sides(provider: str) -> Sides:
    return sides_of(provider)


def trained(provider: str, side: str, seed: int) -> Pipeline:
    """What a side trains, without operating points and last word."""
    sides = _sides(provider)
    made = sides.construction
    source: SentenceSource
    if side == SHARES:
        source = SharedCodesSource(made, pooled_codes(made, sides.provider, sides.pooled), COPIES)
    else:
        notes = [*sides.provider, *(sides.pooled if side == RAW else ())]
        source = AugmentedSource([tokenised_corpus(notes, made.scheme)], made.noise_free, COPIES)
    return Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(source.sentences, seed)))


def _scored(provider: str, side: str, seed: int) -> dict[str, object]:
    pipeline = trained(provider, side, seed)
    found = {site: score_pipeline(pipeline, corpora.en_site(site, "test")) for site in corpora.SITES}
    return {site: {"tokens": one.tokens, "entities": one.entities} for site, one in found.items()}


def _entry(
    measure: str, found: tuple[float, tuple[float, float]], unit: str, precise: str, outcomes: list[Outcome]
) -> Entry:
    value, (low, high) = found
    return Entry(
        measure,
        round(value, 4),
        None,
        "",
        unit,
        (round(low, 4), round(high, 4)),
        len(SEEDS),
        "en_sites/test",
        COMMAND,
        f"{precise}; 5 rotations, {len(SEEDS)} seeds, {STEPS} steps for every side, the tagger alone; interval over documents",
        ", ".join(sorted({one.commit for one in outcomes})),
    )
