"""A provider whose program ends before it has kept what hospitals answered, and goes on: the same questions, and no budget twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aggregator.federated import deployed
from aggregator.federated.plan import FederatedPlan
from aggregator.federated.remote import Reply, SignedSites
from aggregator.workspace import open_workspace as open_provider
from protocols.federated.task import RoundTask, read_task
from protocols.keys.signing import PublicKey
from shared.training.tagging import TaggingConfig
from site_client import ledger
from site_client.ledger import Event
from site_client.workspace import open_workspace as open_site
from tests.e2e.test_federated_in_process import NAMES, Direct, allow, sites, trainers
from tests.loop import Loop


class Cut(Exception):
    """The provider's program was ended."""


@dataclasses.dataclass
class CutOff(Direct):
    """Hands on no answer to some tasks, once each, though all were given."""

    at: list[Callable[[RoundTask], bool]] = dataclasses.field(default_factory=list)
    key: PublicKey | None = None
    asked: list[RoundTask] = dataclasses.field(default_factory=list)

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        assert self.key is not None
        self.asked.append(read_task(task, self.key))
        answers = list(super().exchange(task, weights, timeout_s, only))
        if self.at and self.at[0](self.asked[-1]):
            del self.at[0]
            raise Cut
        yield from answers


def test_a_training_that_is_taken_up_asks_the_same_and_takes_no_budget_twice(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(loop, "--federated-epsilon", "none")
    provider = open_provider(loop.provider)
    carrier = CutOff(trainers(loop), key=provider.key().public_key)
    carrier.at = [
        lambda task: task.number == 1,
        lambda task: task.number == 2,
        lambda task: task.measures == "south",
    ]

    def begin(workspace: Any, plan: Any, connection: Any, run: str, *more: Any) -> SignedSites:
        return sites(loop, carrier, run=run)

    monkeypatch.setattr(deployed, "_begin", begin)
    plan, recipe = FederatedPlan(attempts=1, least_results=3), TaggingConfig(epochs=2)
    connection: Any = None
    for taken_up in (False, True, True):
        with pytest.raises(Cut):
            deployed.federate(provider, recipe, plan, connection, resume=taken_up)
    # How long it waits, how often, and for how many decides nothing that was learned.
    patient = dataclasses.replace(plan, timeout_s=7200.0, least_results=2, attempts=2)
    deployed.federate(provider, recipe, patient, connection, resume=True)
    assert len({task.run for task in carrier.asked}) == 1
    # Who had told already what it measured is not asked for it again; who had not, neither: whose node is whose is not known any more.
    again = {"north": [1, 2], "south": [1, 2]}
    assert [task.measures for task in carrier.asked if task.measures] == ["north", "south"]
    for name in NAMES:
        entries = list(ledger.entries(open_site(loop.site(name))))
        rounds = [entry.details for entry in entries if entry.event == Event.FEDERATED_ROUND]
        assert [(told["round"], told.get("measured", False)) for told in rounds] == [(1, False), (2, False), (2, True)]
        told_again = [entry.details["round"] for entry in entries if entry.event == Event.FEDERATED_AGAIN]
        assert told_again == again[name]
    # Another training is another question.
    carrier.at = [lambda task: True]
    with pytest.raises(Cut):
        deployed.federate(provider, recipe, plan, connection)
    assert len({task.run for task in carrier.asked}) == 2
