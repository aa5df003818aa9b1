"""Part `chosen`: how sites step in a round, chosen on training notes that nobody learns from and no other part scores.

Each site learns from its first training notes; what comes out is scored on the last training notes of all of them. Test notes are not read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from aggregator.federated.plan import FederatedPlan
from bench import corpora
from bench.federated.material import DATA, Found, construction, head_of, notes, score, shape
from bench.federated.participants import Participants, train_together
from bench.results import Entry
from shared.document import Document
from shared.sentences.ragged import RaggedSentences
from shared.training.tagging import TaggingConfig, train_tagger

COMMAND, LONG_COMMAND = "python -m bench.federated chosen", "python -m bench.federated chosen-long"
POOLED = "raw notes pooled"
WAYS: Mapping[str, FederatedPlan] = {
    "batches of 8 at twice the rate": FederatedPlan(batch=8, rate=2.0),
    "batches of 8 at the rate": FederatedPlan(batch=8, rate=1.0),
    "batches of 4 at twice the rate": FederatedPlan(batch=4, rate=2.0),
    "batches of 8 at twice the rate, two passes a round": FederatedPlan(batch=8, rate=2.0, local_epochs=2),
    "batches of 8 at twice the rate, Adam at the provider": FederatedPlan("fedadam", batch=8, rate=2.0),
    "batches of 16 at four times the rate": FederatedPlan(batch=16, rate=4.0),
    "batches of 8 at four times the rate": FederatedPlan(batch=8, rate=4.0),
    "batches of 4 at four times the rate": FederatedPlan(batch=4, rate=4.0),
    "batches of 4 at eight times the rate": FederatedPlan(batch=4, rate=8.0),
}
"""What was tried, in the order in which it was thought of."""
AT_LENGTH: Mapping[str, FederatedPlan] = {
    f"batches of 4 at {times}": FederatedPlan(batch=4, rate=rate)
    for times, rate in (("the rate", 1.0), ("twice the rate", 2.0), ("four times the rate", 4.0))
}
"""What is tried once more with as many notes and passes as `compared` has: the larger a step, the more it gains in few passes."""


@dataclass(frozen=True)
class Size:
    """How much is trained.

    Args:
        notes: of each hospital, the first of its training notes.
        passes: over each.
        held: of each hospital that are scored, the last of its training notes.
        ways: of stepping, by name.
        command: that measures it again.
        title: of the figures.
    """

    notes: int
    passes: int
    held: int
    ways: Mapping[str, FederatedPlan] = field(default_factory=lambda: WAYS)
    command: str = COMMAND
    title: str = "choice of the steps"


FULL = Size(12, 10, 12)
LONG = Size(16, 24, 12, AT_LENGTH, LONG_COMMAND, "choice of the steps at length")
QUICK = Size(4, 2, 3, dict(islice(WAYS.items(), 2)))


def measure(size: Size = FULL) -> Iterator[Entry]:
    """Every way, beside one training in one place with as many passes."""
    gold = [note for site in corpora.SITES for note in held(site, size.held)]
    recipe = TaggingConfig(epochs=size.passes, seed=1)
    own = {f"site-{site}": notes(site, size.notes) for site in corpora.SITES}
    began = time.process_time()
    source = RaggedSentences.concatenate([one.together() for one in own.values()])
    head = train_tagger(source, len(construction().scheme.tags), recipe)
    yield from _entries(POOLED, score(head, gold), time.process_time() - began, size)
    for way, plan in size.ways.items():
        began = time.process_time()
        course = train_together(Participants(own), shape(), recipe, plan)
        yield from _entries(way, score(head_of(shape(), course.weights), gold), time.process_time() - began, size)


def held(site: str, count: int) -> list[Document]:
    """The last training notes of a hospital; no other part trains on them."""
    return corpora.en_site(site, "train")[-count:]


def _entries(way: str, found: Found, seconds: float, size: Size) -> Iterator[Entry]:
    note = f"{size.notes} training notes of each site, {size.passes} passes, scored on {size.held} others; {seconds:.0f} s of CPU"
    for measure, value in (("strict F1", found.strict_f1), ("token-binary F1", found.token_f1)):
        what = f"{size.title}, {way}: {measure}"
        yield Entry(what, round(value, 4), None, "", "F1", None, 1, f"{DATA}/train", size.command, note)
