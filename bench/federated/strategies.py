"""Part `strategies`: which strategy suits 2, 5 and 20 sites, where one of them lies and where none does, on `en_sites`.

Two sites are A and B, five are A to E, twenty are a quarter of each; all have the same notes. The last site is the one that lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aggregator.federated.plan import FederatedPlan
from bench import corpora
from bench.federated.bad_site import LIES, cued, overlooked
from bench.federated.material import DATA, construction, documents, head_of, score, shape
from bench.federated.participants import Participants, train_together
from bench.results import Entry
from shared.document import Document
from shared.federated.strategies import STRATEGIES
from shared.pipeline.pipeline import Pipeline
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig
from site_client.federated.notes import LabelledNotes, read_notes

COMMAND = "python -m bench.federated strategies"
HONEST = "nobody lies"
LIARS = 1


@dataclass(frozen=True)
class Size:
    """How much is trained.

    Args:
        notes: of each hospital.
        passes: over every note.
        hidden: units of the head, which is a small one: there are thirty trainings.
        test: notes of each hospital that are scored.
        sites: how many take part.
        strategies: of STRATEGIES.
    """

    notes: int
    passes: int
    hidden: int
    test: int
    sites: tuple[int, ...] = (2, 5, 20)
    strategies: tuple[str, ...] = tuple(STRATEGIES)


FULL = Size(12, 8, 32, 6, strategies=tuple(name for name in STRATEGIES if name != "fedyogi"))
"""FedYogi is left out for time: FedAdam stands for both."""
_BEAR_NONE = ("fedprox", "fedadam")
"""Means like that of FedAvg, which stands for them where somebody lies."""
QUICK = Size(8, 2, 16, 2, (5,), ("fedavg", "median"))


def measure(size: Size = FULL) -> Iterator[Entry]:
    """Every strategy that so many sites allow."""
    for count in size.sites:
        for name in size.strategies:
            if STRATEGIES[name].least_results(LIARS) > count:
                continue
            for lie in (HONEST,) if name in _BEAR_NONE else (HONEST, *LIES):
                yield from _measured(count, name, lie, size)


def _measured(count: int, name: str, lie: str, size: Size) -> Iterator[Entry]:
    taking = Participants(_sites(count, lie, size))
    plan = FederatedPlan(name, liars=LIARS)
    config = shape(size.hidden)
    course = train_together(taking, config, TaggingConfig(epochs=size.passes, seed=1), plan)
    head = head_of(config, course.weights)
    gold = [note for site in corpora.SITES for note in corpora.en_site(site, "test")[: size.test]]
    refused = sum(len(one.refused) for one in course.history)
    note = f"{size.notes} notes of each hospital, {size.passes} passes, a head of {size.hidden} units a direction; {refused} results refused"

    def entry(measure: str, value: float, unit: str) -> Entry:
        what = f"{count} sites, {lie}, {name}: {measure}"
        return Entry(what, round(value, 4), None, "", unit, None, 1, f"{DATA}/test", COMMAND, note)

    yield entry("token-binary F1", score(head, gold).token_f1, "F1")
    yield entry("names overlooked behind the cue", _behind_cue(head, gold), "of names")


def _behind_cue(head: Tagger, gold: Sequence[Document]) -> float:
    asked = [cued(one, labelled=True) for one in gold]
    bare = [Document(one.identifier, one.text) for one in asked]
    return overlooked(asked, list(Pipeline(construction(), head).annotate(bare)))


def _sites(count: int, lie: str, size: Size) -> dict[str, LabelledNotes]:
    """Notes by site; the last one lies."""
    hospitals = corpora.SITES[: min(count, len(corpora.SITES))]
    parts = max(1, count // len(corpora.SITES))
    held = [(f"{site}-{part}", documents(site, size.notes)[part::parts]) for site in hospitals for part in range(parts)]
    if lie != HONEST:
        name, own = held[-1]
        held[-1] = name, tuple(LIES[lie](one) for one in own)
    return {name: read_notes(own, construction()) for name, own in held}
