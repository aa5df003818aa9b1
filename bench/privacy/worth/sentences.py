"""Whether hospitals' sentences without PHI are worth sharing: `en_sites` in five rotations, pools in memory, equal steps.

Narrowed, such a sentence shows hardly a word, and on MEDDOCAN's training notes (`chosen`) a head learned more without them. Here it is asked at
hospitals whose notes look otherwise than the provider's, whose own sentences stay whole. `python -m bench.results_privacy sentences`.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from bench import corpora
from bench.outcomes import Outcome, load_or_measure, score_pipeline, with_interval
from bench.privacy.worth.chosen import chosen_sentences
from bench.privacy.worth.pool import COPIES, SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import STEPS, Sides, recipe
from bench.privacy.worth.sites import asked_of, sides_of
from bench.results import Entry
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_privacy sentences"
EVERY, HALF, LABELLED = KEPT = ("all", "half", "none")
"""Of the sentences without PHI."""
_DROPPED = {EVERY: 0.0, HALF: 0.5, LABELLED: 1.0}
_SEED = 1


def measure() -> list[Entry]:
    """F1 and token precision where notes were shared and where none were, and what leaving sentences out changes."""
    runs = {
        (kept, provider): load_or_measure(f"sentences-{provider}-{kept}-{_SEED}", partial(_run, provider, kept))
        for provider in corpora.SITES
        for kept in KEPT
    }
    entries = []
    for where in ("sharing", "unseen"):
        sides = {
            kept: [
                Outcome.of(runs[kept, provider][site], runs[kept, provider]["commit"])
                for provider in corpora.SITES
                for site in asked_of(provider, where)
            ]
            for kept in KEPT
        }
        for kept, outcomes in sides.items():
            hits, extra, _ = np.sum([row for one in outcomes for row in one.tokens], axis=0).tolist()
            precise = f"token precision {hits / (hits + extra):.4f}"
            for kind, name in (("entities", "strict"), ("tokens", "token-binary")):
                found = with_interval([outcomes], kind, lambda mean: mean)
                entries.append(_entry(f"{where} hospitals, {kept}: {name} F1", found, precise, outcomes))
                if kept != EVERY:
                    gain = with_interval([sides[EVERY], outcomes], kind, lambda every, some: some - every)
                    entries.append(_entry(f"{where} hospitals, {kept} over all: {name} F1", gain, precise, outcomes))
    return entries


@cache
def _sides(provider: str) -> Sides:
    return sides_of(provider)


def _run(provider: str, kept: str) -> dict[str, object]:
    sides = _sides(provider)
    made = sides.construction
    own = tokenised_corpus(sides.provider, made.scheme).sentences
    codes = chosen_sentences(pooled_codes(made, sides.provider, sides.pooled), _DROPPED[kept], own)
    source = SharedCodesSource(made, codes, COPIES)
    pipeline = Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(source.sentences, _SEED)))
    found = {site: score_pipeline(pipeline, corpora.en_site(site, "test")) for site in corpora.SITES}
    return {site: {"tokens": one.tokens, "entities": one.entities} for site, one in found.items()}


def _entry(said: str, found: tuple[float, tuple[float, float]], precise: str, outcomes: list[Outcome]) -> Entry:
    value, (low, high) = found
    return Entry(
        f"en_sites, sentences without PHI in a share, {said}",
        round(value, 4),
        None,
        "",
        "F1",
        (round(low, 4), round(high, 4)),
        1,
        "en_sites/test",
        COMMAND,
        f"{precise}; 5 rotations, one seed, {STEPS} steps for every side, the tagger alone; interval over documents",
        ", ".join(sorted({one.commit for one in outcomes})),
    )
