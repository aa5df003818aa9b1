"""Part `followed`: whether weights that were followed without a site do on its notes as weights that were trained without it.

Five sites of `en_sites` learn together, followed without each; then each is really left out. Both are scored on training notes of that site that nobody
learns from. A small head: what is asked for is the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from aggregator.federated.plan import FederatedPlan
from aggregator.federated.rounds import Rounds
from bench import corpora
from bench.federated.held_out.chosen import held
from bench.federated.material import DATA, head_of, notes, score, shape
from bench.federated.participants import Participants, train_together
from bench.results import Entry
from shared.federated.weights import weights_of
from shared.taggers.registry import build_tagger
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig

COMMAND = "python -m bench.federated followed"


@dataclass(frozen=True)
class Size:
    """How much is trained.

    Args:
        notes: of each hospital.
        passes: over each.
        hidden: units of the head.
        held: notes of each hospital that are scored.
    """

    notes: int
    passes: int
    hidden: int
    held: int


FULL = Size(6, 6, 32, 12)
QUICK = Size(2, 1, 16, 2)


def measure(size: Size = FULL) -> Iterator[Entry]:
    """Each site, and the mean."""
    config, recipe = shape(size.hidden), TaggingConfig(epochs=size.passes, seed=1)
    own = {site: notes(site, size.notes) for site in corpora.SITES}
    with seed_training(recipe.seed):
        start = weights_of(build_tagger(config))
    course = Rounds(config, recipe, FederatedPlan(), follow=True).run(Participants(own), start)
    note = f"{size.notes} notes of each site, {size.passes} passes, a head of {size.hidden} units a direction, scored on {size.held} other training notes of the site"
    differences = []
    for site in corpora.SITES:
        gold = held(site, size.held)
        others = Participants({name: one for name, one in own.items() if name != site})
        heads = {
            "followed without it": course.without[site][0],
            "trained without it": train_together(others, config, recipe, FederatedPlan()).weights,
            "trained with it": course.weights,
        }
        whole = {how: score(head_of(config, weights), gold).whole for how, weights in heads.items()}
        differences.append(whole["followed without it"] - whole["trained without it"])
        said = "; ".join(f"{how} {value:.4f}" for how, value in whole.items())
        yield replace(_entry(f"site {site}", differences[-1], note), note=f"{said}; {note}")
    yield _entry(
        "mean of five sites",
        float(np.mean(differences)),
        f"of {min(differences):.4f} to {max(differences):.4f}; {note}",
    )


def _entry(who: str, value: float, note: str) -> Entry:
    measure = f"entities hidden whole, followed less trained without the site, {who}"
    return Entry(measure, round(value, 4), None, "", "of entities", None, 1, f"{DATA}/train", COMMAND, note)
