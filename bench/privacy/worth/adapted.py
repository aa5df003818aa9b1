"""What a hospital has that shared, once it has adapted the released head to the notes that it shared.

A share tells nobody the hospital's own names, and so no head of the provider learns them; the hospital's copy of the head may. Heads as in
`bench.privacy.worth.copies`: those that learned from shares, and beside them the provider's alone, which whoever shared nothing can adapt too.
`python -m bench.results_privacy adapted`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from bench import corpora
from bench.outcomes import Comparison, Outcome, load_or_measure, score_pipeline, with_interval
from bench.privacy.worth import copies
from bench.privacy.worth.sides import STEPS
from bench.privacy.worth.sites import asked_of
from bench.results import Entry
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.training.fine_tuning.adapting import AdaptingConfig, adapt_tagger

COMMAND = "python -m bench.results_privacy adapted"
SEED = 1
_SAID = {
    copies.ALONE: "provider's head, adapted by the hospital",
    copies.SHARES: "head of shares, adapted by the hospital",
}


def measure() -> list[Entry]:
    """F1 at the hospitals that share, and how much of what raw notes pooled gain."""
    runs = {
        (side, provider): load_or_measure(f"adapted-{provider}-{side}-{SEED}", partial(_scored, provider, side))
        for provider in corpora.SITES
        for side in _SAID
    }
    pooled = {side: list(_outcomes(side)) for side in (copies.ALONE, copies.RAW)}
    entries = []
    for side, said in _SAID.items():
        outcomes = [
            Outcome.of(runs[side, provider][site], runs[side, provider]["commit"])
            for provider in corpora.SITES
            for site in asked_of(provider, "sharing")
        ]
        compared = Comparison(pooled[copies.ALONE], pooled[copies.RAW], outcomes)
        for kind, name in copies.KINDS.items():
            begins = f"en_sites, sharing hospitals, with copies, {said}"
            found = with_interval([outcomes], kind, lambda mean: mean)
            entries.append(_entry(f"{begins}: {name} F1", found, "F1", outcomes))
            entries.append(_entry(f"{begins}: worth, {name}", compared.gain(kind), "of what raw notes add", outcomes))
    return entries


def _outcomes(side: str) -> Iterator[Outcome]:
    for provider in corpora.SITES:
        kept = copies.run(side, SEED, provider)
        for site in asked_of(provider, "sharing"):
            yield Outcome.of(kept[site], kept["commit"])


def _scored(provider: str, side: str) -> dict[str, Any]:
    released = copies.trained(provider, side, SEED)
    found = {}
    for site in asked_of(provider, "sharing"):
        own = tokenised_corpus(corpora.en_site(site, "train"), released.encoder.scheme)
        head = adapt_tagger(released.head, released.encoder.noise_free(own), AdaptingConfig(seed=SEED))
        scored = score_pipeline(Pipeline(released.encoder, head), corpora.en_site(site, "test"))
        found[site] = {"tokens": scored.tokens, "entities": scored.entities}
    return found


def _entry(measure: str, found: tuple[float, tuple[float, float]], unit: str, outcomes: list[Outcome]) -> Entry:
    value, (low, high) = found
    return Entry(
        measure,
        round(value, 4),
        None,
        "",
        unit,
        (round(low, 4), round(high, 4)),
        1,
        "en_sites/test",
        COMMAND,
        f"5 rotations, one seed, {STEPS} steps for every head and {AdaptingConfig().steps[-1]} of adapting to the hospital's own 200 notes; the tagger "
        "alone; interval over documents",
        ", ".join(sorted({one.commit for one in outcomes})),
    )
