"""What pages say of what nobody knows: it stands there as that, and neither as a figure nor not at all."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save
from sqlalchemy import select

from aggregator.publishing.releases import Publishing, publish_representer
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow, SiteKeyRow
from shared.federated.local import LocalRecipe
from shared.federated.screening import Limits, Sent, screen
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.registry.rows import share, site


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "world")


def head_with(desk: Desk, **record: Any) -> None:
    """A head whose training has recorded that."""
    desk.workspace.head.mkdir(exist_ok=True)
    (desk.workspace.head / "training.json").write_text(json.dumps(record))


def influence_of(**sites: bool) -> dict[str, Any]:
    """A record of influence by name, each with whether it was measured; north stands out by what it says."""
    change = {"category": "all PHI", "recall": 0.9, "before": 0.9, "high": 0.01, "low": -0.01}
    measured = [{"site": name, "changes": [change] if known else []} for name, known in sites.items()]
    return {"mode": "fast", "sites": measured, "standing_out": {"north": ["40 tokens are unlabelled"]}}


OWN = "(public notes)"


def told(
    number: int,
    norms: dict[str, float],
    refused: dict[str, str] | None = None,
    sentences: dict[str, int] | None = None,
) -> dict[str, Any]:
    """A round of a training together; each site has ten sentences unless it is told."""
    counted = dict.fromkeys(norms, 10) | (sentences or {})
    return {"number": number, "norms": norms, "sentences": counted, "refused": refused or {}, "bytes_each": 1}


def together(*, simulated: bool) -> dict[str, Any]:
    """The record of a head that two hospitals trained, as far as pages read it."""
    sizes = {"north": 200, "south": 16_000}
    rounds = [told(number, {"north": 66.0, "south": 259.0, OWN: 30.0}, sentences=sizes) for number in (1, 2)]
    own = {"site": OWN, "tokens": 5000, "phi_tokens": 400, "precision": 0.875, "recall": 0.925, "categories": {}}
    plan = {"strategy": "median", "local_epochs": 1, "batch": 4}
    return {
        "sentences": 900,
        "tokens": 9000,
        "shares": [],
        "public": True,
        "sites": [own],
        "influence": influence_of(north=True, south=False),
        "recipe": {"batch": 32},
        "federated": {"simulated": simulated, "plan": plan, "rounds": rounds},
    }


def test_a_hospital_whose_influence_was_not_measured_stands_among_the_others(desk: Desk) -> None:
    head_with(desk, influence=influence_of(north=False, south=True, west=False))
    said = shown(desk.signed_in("viewer").get("/influence"))
    assert "hospital north recall of the others with it not measured without it not measured" in said
    assert "40 tokens are unlabelled" in said
    assert "hospital south recall of the others with it 90.0%" in said
    # Of one of whom nothing is known nobody says that it is as the others are.
    assert said.count("as the others") == 1
    assert "Not measured: 2 of 3 hospitals" in said


def test_where_no_influence_was_measured_it_is_said_of_all(desk: Desk) -> None:
    head_with(desk, influence=influence_of(north=False, south=False))
    answer = desk.signed_in("viewer").get("/influence")
    assert "It was measured of none of the hospitals" in shown(answer)
    assert "40 tokens are unlabelled" in shown(answer)
    assert "hospital south recall of the others with it not measured" in shown(answer)
    assert "grey dot" not in shown(answer)


def test_a_share_that_nobody_opened_is_not_one_of_nothing(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.add(share(3, id=3, state=ShareState.RECEIVED))
    browser = desk.signed_in("operator")
    assert "size 10 sentences, 100 tokens" in shown(browser.get("/shares/2"))
    assert "size not known before it is opened" in shown(browser.get("/shares/3"))
    asked = shown(browser.ask("share-reject", share="3", reason="lost"))
    assert "Size: not known before it is opened; it is received." in asked
    assert not re.search(r"\b0 (sentences|tokens)", asked)


def test_of_a_hospital_without_phi_held_out_no_recall_is_told(desk: Desk) -> None:
    """A training writes 0 there, which would read as one that finds nothing."""
    nothing = {"site": "north", "tokens": 200, "phi_tokens": 0, "precision": 0.0, "recall": 0.0, "alone_recall": 0.0}
    some = {"site": "south", "tokens": 900, "phi_tokens": 90, "precision": 0.9, "recall": 0.8, "alone_recall": 0.7}
    head_with(desk, sites=[nothing, some])
    browser = desk.signed_in("viewer")
    pool = shown(browser.get("/pool"))
    row = "hospital {} recall, your notes alone {} recall, the pool {} precision {} PHI tokens held out {}"
    south, north = row.format("south", "70.0%", "80.0%", "90.0%", 90), row.format("north", *["not measured"] * 3, 0)
    # Lowest recall first: of whom nothing is known comes last.
    assert -1 < pool.find(south) < pool.find(north)
    assert "all PHI recall not measured tokens held out 0" in shown(browser.get("/sites/north"))
    assert "With your own notes alone: not measured" in shown(browser.get("/sites/north"))


def test_influence_at_other_hospitals_is_told_only_where_their_notes_were_here(desk: Desk) -> None:
    browser = desk.signed_in("viewer")
    head_with(desk, **together(simulated=False))
    page = browser.get("/influence")
    said = shown(page)
    assert "measured on your own held-out notes; no hospital's" in said
    assert "recall on your own notes with it 90.0%" in said
    assert not re.search("the others with it|other hospitals|from the others|at all others", page.text)
    head_with(desk, **together(simulated=True))
    said = shown(browser.get("/influence"))
    assert "own held-out notes" not in said
    assert "recall of the others with it 90.0%" in said


def test_of_a_head_that_hospitals_trained_the_pool_tells_who_and_on_what_it_was_measured(desk: Desk) -> None:
    browser = desk.signed_in("viewer")
    head_with(desk, **together(simulated=False))
    said = shown(browser.get("/pool"))
    assert "trained by 2 hospitals together in 2 rounds (median), and the provider's own notes" in said
    assert "of hospitals 16,200 sentences in the last round, by their own word" in said
    assert "your own notes 900 sentences, 9,000 tokens in a pass" in said
    assert "recall 92.5% precision 87.5% PHI tokens held out 400" in said
    assert "no score is of them" in said
    assert "Nothing was held out" not in said
    # Their defence was the strategy, and no share was read.
    assert not re.search("0 shares|did not count", said)
    record = together(simulated=False)
    record["sites"][0]["phi_tokens"] = 0
    head_with(desk, **record)
    assert "recall not measured precision not measured PHI tokens held out 0" in shown(browser.get("/pool"))
    head_with(desk, **(record | {"sites": []}))
    assert "Nothing was held out" in shown(browser.get("/pool"))


def farthest(page: str) -> dict[str, tuple[float, str]]:
    """Of each hospital: how far it went, and its sentences."""
    row = r"hospital (\S+) farthest, over the root of its steps (\S+) sentences, last round (\S+)"
    return {site: (float(length), sentences) for site, length, sentences in re.findall(row, page)}


def test_a_large_hospital_does_not_stand_out_by_the_steps_that_it_takes(desk: Desk) -> None:
    """Honest ones go as far as the root of their steps: of 16,000 sentences 259, of 200 sentences 16.6."""
    names = ("north", "south", "west")
    sizes, norms = (
        dict(zip(names, (200, 4000, 16_000), strict=True)),
        dict(zip(names, (16.6, 115.0, 259.0), strict=True)),
    )
    head_with(desk, federated={"plan": {"batch": 4}, "rounds": [told(1, norms, sentences=sizes)]})
    page = desk.signed_in("viewer").get("/federated")
    found = farthest(shown(page))
    assert [sentences for _, sentences in found.values()] == ["16,000", "4,000", "200"]
    # A step of four sentences; as docs/federated.md has them.
    assert [length for length, _ in found.values()] == [4.1, 3.64, 2.35]
    assert "norm of the update, over the root of its steps" in shown(page)


@pytest.mark.parametrize("boast", [1, 300, 10_000, 10**6])
@pytest.mark.parametrize("norm", [30.0, 90.0, 400.0])
def test_the_page_draws_what_the_screen_judges(boast: int, norm: float, desk: Desk) -> None:
    """More than four times the median on the page is what the screen clips, whatever a hospital says of its sentences."""
    sizes = {"north": 300, "south": 800, "west": 50, OWN: 100, "liar": boast}
    norms = {"north": 20.0, "south": 30.0, "west": 8.0, OWN: 12.0, "liar": norm}
    start = np.zeros(4, dtype=np.float32)
    sent = {site: Sent(start + np.float32(norms[site] / 2), sizes[site]) for site in sizes}
    screened = screen(start, sent, LocalRecipe(epochs=2, batch=4), Limits())
    head_with(
        desk,
        recipe={"batch": 32},
        federated={"plan": {"local_epochs": 2, "batch": 4}, "rounds": [told(1, norms, sentences=sizes)]},
    )
    found = {site: length for site, (length, _) in farthest(shown(desk.signed_in("viewer").get("/federated"))).items()}
    # With the provider's own notes, which take part in the median and are no hospital.
    usual = sorted([*found.values(), 12.0 / math.sqrt(2 * 25)])[2]
    assert (found["liar"] > 4 * usual) is ("liar" in screened.clipped)
    assert not screened.refused


def test_who_was_clipped_took_part_and_stands_there_with_both_lengths(desk: Desk) -> None:
    rounds = [told(1, {"north": 1.0, "south": 12.5, OWN: 1.0}), told(2, {"north": 1.0, "south": 2.0})]
    rounds[0]["clipped"] = {"south": 4.0}
    head_with(desk, federated={"plan": {}, "rounds": rounds})
    said = shown(desk.signed_in("viewer").get("/federated"))
    assert "2 hospitals took part in all 2 rounds, and nobody was refused; clipped in some: south." in said
    assert "round 1 took part 2 clipped south: 12.5 to 4 refused nobody" in said
    assert "round 2 took part 2 clipped nobody refused nobody" in said
    assert "more than 4 times as far as the median is clipped to that" in said


def test_who_was_not_reached_is_missing_and_not_refused(desk: Desk) -> None:
    names = [f"hospital-{number:02}" for number in range(12)]
    silent = dict.fromkeys(names[2:], "no answer")
    rounds = [
        told(1, dict.fromkeys(names, 1.0)),
        told(2, {names[0]: 1.0}, {names[1]: "not finite", **silent}),
        told(3, {names[0]: 1.0}, {"(10.0.0.9)": "not signed by an enrolled site"}),
    ]
    head_with(desk, federated={"plan": {}, "rounds": rounds})
    page = desk.signed_in("viewer").get("/federated")
    assert re.findall(r'<span class="mark bad">([^<]*)</span>', page.text) == [
        "hospital-01: not finite",
        "(10.0.0.9): not signed by an enrolled site",
    ]
    # Of ten that were not reached, and of eleven that are missing without a word, eight are named and the rest counted.
    assert "hospital-09: no answer and 2 more" in shown(page)
    assert "hospital-08 and 3 more" in shown(page)


def test_neither_your_own_notes_nor_a_node_that_no_hospital_speaks_through_is_a_hospital(desk: Desk) -> None:
    norms = {"north": 1.0, "south": 1.0, "(public notes)": 9.0}
    rounds = [told(number, norms) for number in (1, 2)]
    head_with(desk, federated={"plan": {}, "rounds": rounds})
    browser = desk.signed_in("viewer")
    page = browser.get("/federated")
    assert "2 hospitals took part in all 2 rounds, and nobody was refused." in shown(page)
    assert "hospitals 2" in shown(page)
    assert "your own notes took part in 2 of 2 rounds" in shown(page)
    assert "(public notes)" not in page.text
    rounds[1]["refused"] = {"(node 77)": "PolicyError"}
    head_with(desk, federated={"plan": {}, "rounds": rounds})
    said = shown(browser.get("/federated"))
    assert "2 hospitals took part in all 2 rounds. Nodes that brought no hospital's result: (node 77)." in said
    rounds[1]["norms"] = {"north": 1.0}
    head_with(desk, federated={"plan": {}, "rounds": rounds})
    said = shown(browser.get("/federated"))
    assert "missing or refused in some: south. Nodes that" in said
    assert "your own notes took part in 1 of 2 rounds" in said


def test_further_hospitals_of_a_name_are_of_that_name(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.add_all(site(f"st-{number:02}") for number in range(30))
    browser = desk.signed_in("viewer")
    page = browser.get("/sites?name=st-")
    (further,) = re.findall(r'href="([^"]*)" rel="next"', page.text)
    following = shown(browser.get(html.unescape(further)))
    assert "26 to 30 of 30" in following
    assert "north" not in following


def published(desk: Desk, vocabulary: str) -> str:
    """A release of a representer with that vocabulary; its digest."""
    desk.workspace.representer.mkdir(exist_ok=True)
    for name in ("embeddings.safetensors", "representer.safetensors"):
        (desk.workspace.representer / name).write_bytes(save({"weight": np.zeros(3, dtype=np.float32)}))
    for name in ("representer.json", "scheme.json", "training.json"):
        (desk.workspace.representer / name).write_text("{}")
    (desk.workspace.representer / "vocabulary.json").write_text(vocabulary)
    return publish_representer(desk.workspace, Publishing(audited=False)).digest


def test_shares_of_an_earlier_representer_do_not_count(desk: Desk) -> None:
    first = published(desk, "[]")
    with desk.workspace.registry().transaction() as session:
        for number in (1, 2):
            session.get_one(ShareRow, number).release = first
    browser = desk.signed_in("operator")
    assert "1 shares that count 1" in shown(browser.get("/"))
    assert "It counts from now on" in shown(browser.ask("share-accept", share="1", reason="a new ward"))
    assert "earlier representer" not in shown(browser.get("/shares/2"))
    second = published(desk, "[1]")
    with desk.workspace.registry().transaction() as session:
        session.add(share(4, id=4, state=ShareState.ACCEPTED, release=second, sentences=7, tokens=70))
    assert "1 shares that count; 1 of an earlier representer do not" in shown(browser.get("/"))
    for page in (browser.ask("share-accept", share="1", reason="a new ward"), browser.get("/shares/1")):
        assert "made with an earlier representer: it does not enter the next head" in shown(page)
        assert "It counts from" not in shown(page)
    assert "made with an earlier representer" in shown(browser.get("/shares/2"))
    row = "shares 1 sentences 7 tokens 70 tokens in all 70 of an earlier representer 1"
    assert row in shown(browser.get("/pool"))


def test_a_hospital_without_a_key_that_counts_may_not_share(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.scalars(select(SiteKeyRow).where(SiteKeyRow.site == "north")).one().valid_until = "2026-01-01T23:59:59Z"
    assert "1 hospitals that may share" in shown(desk.signed_in("viewer").get("/"))


def test_a_student_is_not_said_to_have_learned_from_shares(desk: Desk) -> None:
    head_with(desk, sentences=90, tokens=900, shares=[{}], distilled={"tokens": 9, "sure": 9, "phi": 1, "changes": []})
    assert "a student: all of that trained its teacher" in shown(desk.signed_in("viewer").get("/pool"))
    head_with(desk, sentences=90, tokens=900, shares=[{}], self_distilled=3)
    assert "learned no label of a share: 3 others" in shown(desk.signed_in("viewer").get("/pool"))
