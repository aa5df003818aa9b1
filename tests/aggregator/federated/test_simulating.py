"""`aggregator federate --simulate`: a head that sites trained together is measured, kept and released like any other."""

from __future__ import annotations

import json
from functools import partial

import pytest

from aggregator.federated import plan, simulated
from shared.taggers.registry import default_config
from tests.loop import Loop, done, provider, refused, small_heads, values

TINY = ("--epochs", 3, "--influence", "none", "--no-operating-points")


@pytest.fixture(autouse=True)
def tiny_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "default_config", lambda dim, tags: default_config(dim, tags, hidden=16))


def federate(loop: Loop, *more: object):  # type: ignore[no-untyped-def]
    with small_heads():
        return provider("federate", "--simulate", *TINY, "--workspace", loop.provider, *more)


def test_a_federated_head_has_a_record_and_passes_the_gate_of_release(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Steps too small to learn more in three rounds than that most tokens are no PHI: the gate has something to refuse.
    monkeypatch.setattr(plan, "FederatedPlan", partial(plan.FederatedPlan, rate=0.3))
    shown = done(federate(loop)).stdout
    assert "round 1: 3 sites" in shown
    assert "3 rounds by fedavg" in shown
    record = json.loads((loop.provider / "head" / "training.json").read_text())
    assert record["federated"]["simulated"] is True
    assert [one["number"] for one in record["federated"]["rounds"]] == [1, 2, 3]
    assert set(record["federated"]["rounds"][0]["norms"]) == {"(public notes)", "north", "south"}
    assert record["defence"]["name"] == "federated"
    # A hospital learns from all that it has, in every pass; what stands in for one does so, too.
    assert record["undersampling"] == 0
    # Shares that learned are named, so that one that is taken back is missed.
    assert {share["site"] for share in record["shares"]} == {"north", "south"}
    assert record["compared"]["changes"]
    assert not (loop.provider / "unfinished" / "federate").exists()
    # It finds less than the head before, so it does not leave unasked.
    assert "recall" in refused(
        provider("release", "--workspace", loop.provider), 25, "expected a head that finds as much"
    )
    done(provider("release", "--accept-drop", "--approver", "Dr Ünal", "--workspace", loop.provider))


def test_too_few_sites_end_it_with_a_code_and_nothing_is_put_in_the_place_of_the_head(loop: Loop) -> None:
    before = (loop.provider / "head" / "training.json").read_bytes()
    refused(federate(loop, "--strategy", "krum"), 28, "expected 5 results")
    assert (loop.provider / "head" / "training.json").read_bytes() == before


def test_what_was_cut_goes_on_with_the_same_options_alone(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = simulated.SimulatedSites.ask

    def cut(sites, order):  # type: ignore[no-untyped-def]
        asked.append(order.number)
        if order.number == 2 and len(asked) == 2:
            raise KeyboardInterrupt
        return ask(sites, order)

    monkeypatch.setattr(simulated.SimulatedSites, "ask", cut)
    assert "--resume" in federate(loop, "--no-public").stderr
    refused(federate(loop, "--no-public", "--resume", "--strategy", "median"), 2, "federated")
    # For how many it waits decides nothing that was learned.
    values(federate(loop, "--no-public", "--resume", "--least-results", 1, "--json"))
    assert asked == [1, 2, 2, 3]
    refused(federate(loop, "--resume"), 20, "none")


def test_without_the_providers_notes_and_with_one_site_there_are_too_few(loop: Loop) -> None:
    refused(federate(loop, "--no-public", "--site", "north"), 28, "expected 2 results")
    refused(provider("federate", "--workspace", loop.provider), 2, "--simulate")
