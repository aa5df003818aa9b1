"""What a policy asks for, one broken promise at a time, and what a pull says of a change."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.constructions.promised import Narrowed, Recomputed, RecomputedOnNotes
from site_client.policy.comparing import compare_protection
from site_client.policy.enforcing import Judgement, Step, refusal
from site_client.policy.facts import AuditFacts, ReleaseFacts, readable_line
from site_client.policy.judging import Demand, breaches, breaches_on_notes
from site_client.policy.site_policy import DEFAULT, DemandedAudit, SitePolicy
from tests.facts import DAY, facts

NOISY: dict[str, Any] = {
    "procedures": ("three-part", "dann", "invariance"),
    "replaces_phi": False,
    "cluster_size": None,
    "mu": 3.0,
}
BOTH: dict[str, Any] = {"procedures": ("noisy-surrogates",), "mu": 3.0}
"""Surrogates and narrowed words behind noise."""
NOISY_TOO = SitePolicy(constructions=("surrogates", "noisy-surrogates"))
QUICK = replace(DEFAULT, audit=DemandedAudit.QUICK)
PAPER = SitePolicy(constructions=("three-part",))


SENSITIVE = tuple("heroin hiv rape prison abortion incest suicide cocaine syphilis overdose".split())


def broken(policy: SitePolicy, found: ReleaseFacts) -> list[Demand]:
    return [one.demand for one in breaches(policy, found, DAY)]


def days(count: int) -> datetime.date:
    return DAY + datetime.timedelta(days=count)


def test_a_good_release_keeps_the_usual_policy() -> None:
    assert broken(DEFAULT, facts()) == []
    assert broken(NOISY_TOO, facts(**BOTH)) == []
    # Noise alone narrows nothing.
    assert broken(PAPER, facts(**NOISY, narrowed=None)) == []


@pytest.mark.parametrize(
    ("policy", "changed", "demand"),
    [
        (DEFAULT, NOISY, Demand.CONSTRUCTION),
        (DEFAULT, {"procedures": ()}, Demand.CONSTRUCTION),
        (DEFAULT, {"cluster_size": 99}, Demand.CLUSTER),
        (DEFAULT, {"cluster_size": 1, "unlisted_public_words": 3}, Demand.CLUSTER),
        (DEFAULT, {"narrowed": None}, Demand.NARROWING),
        (DEFAULT, {"narrowed": Narrowed(31, 3, 1000)}, Demand.NARROWING),
        (DEFAULT, {"narrowed": Narrowed(30, 4, 1000)}, Demand.NARROWING),
        (DEFAULT, {"narrowed": Narrowed(30, 3, 99)}, Demand.NARROWING),
        (NOISY_TOO, {**BOTH, "narrowed": Narrowed(31, 3, 1000)}, Demand.NARROWING),
        (NOISY_TOO, {**BOTH, "narrowed": Narrowed(30, 3, 99)}, Demand.NARROWING),
        (NOISY_TOO, {**BOTH, "cluster_size": 99}, Demand.CLUSTER),
        (replace(NOISY_TOO, max_mu=2.5), BOTH, Demand.NOISE),
        (DEFAULT, BOTH, Demand.CONSTRUCTION),
        (replace(DEFAULT, hide_casing=True), {}, Demand.CASING),
        (PAPER, {**NOISY, "mu": math.inf}, Demand.NOISE),
        (PAPER, {**NOISY, "mu": math.nan}, Demand.NOISE),
        (replace(PAPER, max_mu=2.5), NOISY, Demand.NOISE),
        (DEFAULT, {"bytes": DEFAULT.max_bytes + 1}, Demand.SIZE),
        (DEFAULT, {"created": days(-401)}, Demand.AGE),
        (DEFAULT, {"created": days(2)}, Demand.AGE),
        (DEFAULT, {"audit": {"made": days(-401)}}, Demand.AGE),
        (DEFAULT, {"audit": {"made": days(2)}}, Demand.AGE),
        (DEFAULT, {"audit": {"made": None}}, Demand.AUDIT),
        (DEFAULT, {"audit": {"ours": False}}, Demand.AUDIT),
        (DEFAULT, {"audit": {"preset": "quick"}}, Demand.AUDIT),
        (QUICK, {"audit": {"preset": "unknown"}}, Demand.AUDIT),
        (DEFAULT, {"audit": {"failed": ("match, top-1 of: not tried",)}}, Demand.AUDIT),
        (PAPER, {**NOISY, "audit": {"failed": ("match",)}}, Demand.AUDIT),
    ],
)
def test_each_promise_that_is_not_kept_is_named(policy: SitePolicy, changed: dict[str, Any], demand: Demand) -> None:
    assert broken(policy, facts(**changed)) == [demand]


@pytest.mark.parametrize("changed", [{"created": days(3)}, {"audit": {"made": days(3)}}])
def test_a_day_to_come_is_told_as_one_and_the_clock_is_asked_for(changed: dict[str, Any]) -> None:
    (one,) = breaches(DEFAULT, facts(**changed), DAY)
    assert f"it is of {days(3)}, a day to come" in one.said
    assert "set the clock" in one.said
    assert "of the last" not in one.said


def test_what_is_too_old_is_told_as_old() -> None:
    (one,) = breaches(DEFAULT, facts(created=days(-401)), DAY)
    assert one.said == f"a release of the last 400 days, it is of {days(-401)}"


def test_without_an_audit_nothing_is_taken() -> None:
    assert broken(DEFAULT, replace(facts(), audit=None)) == [Demand.AUDIT]


def test_a_quick_audit_is_enough_where_the_hospital_says_so() -> None:
    assert broken(QUICK, facts(audit={"preset": "quick"})) == []


def test_a_failed_audit_is_taken_of_what_was_enabled_by_name_only() -> None:
    failed = facts(**NOISY, audit={"failed": ("match",)})
    assert broken(replace(PAPER, accept_failed_audit=("three-part",)), failed) == []
    # The acceptance is of one construction, whatever else is on.
    other = SitePolicy(constructions=("surrogates", "dann"), accept_failed_audit=("dann",))
    assert broken(other, facts(audit={"failed": ("match",)})) == [Demand.AUDIT]


@pytest.mark.parametrize(
    ("changed", "held", "demands"),
    [
        ({}, None, []),
        ({"interfering": 1}, None, [Demand.INTERFERENCE]),
        # Of words of which none becomes another nothing is shown; a handful may have none by chance.
        ({"labelled": 20, "changed": 0}, None, [Demand.INTERFERENCE]),
        ({"labelled": 20, "changed": 1}, None, []),
        ({"labelled": 19, "changed": 0}, None, []),
        ({"bank_spans_in_notes": 1}, None, [Demand.BANK]),
        ({"asked": 10, "uncommon": SENSITIVE}, None, [Demand.NARROWING]),
        ({"asked": 11, "uncommon": SENSITIVE}, None, [Demand.NARROWING]),
        # A tenth of them is common.
        ({"asked": 12, "uncommon": (*SENSITIVE, "k")}, None, [Demand.NARROWING]),
        ({"asked": 30, "uncommon": SENSITIVE}, None, []),
        # Of a few nothing can be said.
        ({"asked": 6, "uncommon": SENSITIVE[:6]}, None, [Demand.NARROWING]),
        ({"asked": 5, "uncommon": SENSITIVE[:5]}, None, []),
        ({"advantage": 0.5}, None, [Demand.ADVANTAGE]),
        ({"advantage": 0.2}, None, []),
        ({"advantage": 0.5}, (0.2, 1.0), []),
        ({"advantage": 0.5}, (0.2, 0.9), [Demand.ADVANTAGE]),
        ({"advantage": 0.5}, (0.3, 1.0), [Demand.ADVANTAGE]),
    ],
)
def test_what_the_notes_show_is_judged_too(
    changed: dict[str, Any], held: tuple[float, float] | None, demands: list[Demand]
) -> None:
    found = replace(RecomputedOnNotes(20, 0, 0, None), **changed)
    judged = breaches_on_notes(replace(DEFAULT, max_advantage=0.2), found, held)
    assert [one.demand for one in judged] == demands


def test_a_policy_that_limits_no_words_asks_for_no_common_ones() -> None:
    found = RecomputedOnNotes(20, 0, 0, None, asked=10, uncommon=SENSITIVE)
    assert breaches_on_notes(replace(DEFAULT, most_common_words=None), found) == []


def test_words_that_the_notes_lack_are_named_on_the_screen_and_in_no_record() -> None:
    broke = tuple(breaches_on_notes(DEFAULT, RecomputedOnNotes(20, 0, 0, None, asked=10, uncommon=SENSITIVE)))
    judged = Judgement(DEFAULT, facts(), broke)
    assert "0 of 10" in broke[0].said
    assert "heroin" in "\n".join(judged.lines())
    assert "heroin" in str(refusal(1, broke, Step.ENCODE))
    for kept in (broke[0].said, repr(broke), json.dumps(judged.as_json()), str(refusal(1, broke, Step.FEDERATE))):
        assert "heroin" not in kept


MU = st.none() | st.floats(0, allow_nan=False)
FACTS = st.builds(
    ReleaseFacts,
    release=st.just("ab" * 32),
    sequence=st.integers(1, 9999),
    created=st.dates(),
    figures=st.builds(
        Recomputed,
        procedures=st.sampled_from([("surrogates",), ("three-part", "dann"), ()]),
        replaces_phi=st.booleans(),
        cluster_size=st.none() | st.integers(0, 10**6),
        unlisted_public_words=st.integers(0, 10**6),
        hides_casing=st.booleans(),
        mu=MU,
        surrogate_spans=st.integers(0, 10**6),
        bytes=st.integers(0, 1 << 50),
        narrowed=st.none()
        | st.builds(
            Narrowed,
            st.integers(0, 99),
            st.integers(0, 9),
            st.none() | st.integers(0, 9999),
            st.lists(st.text(max_size=5)).map(tuple),
        ),
    ),
    audit=st.none()
    | st.builds(
        AuditFacts,
        ours=st.booleans(),
        preset=st.sampled_from(["full", "quick", "unknown"]),
        made=st.none() | st.dates(),
        limits=st.integers(0, 50),
        failed=st.lists(st.sampled_from(["match", "linkage"])).map(tuple),
    ),
)


@given(FACTS)
def test_what_was_found_reads_back_from_the_ledger(found: ReleaseFacts) -> None:
    stated = json.loads(json.dumps(found.to_json("ef" * 32)))
    assert ReleaseFacts.from_json(stated, found.release, "ef" * 32) == found
    assert ReleaseFacts.from_json(stated, found.release, "") is None
    assert ReleaseFacts.from_json(stated, "cd" * 32, "ef" * 32) is None
    assert ReleaseFacts.from_json({**stated, "looked": 0}, found.release, "ef" * 32) is None


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ({}, {"procedures": ("k-anonymous",), "replaces_phi": False}, "labelled PHI"),
        ({}, NOISY, "construction"),
        ({}, {"cluster_size": 999}, "words shown alike"),
        ({}, {"cluster_size": None}, "words shown alike"),
        ({"hides_casing": True}, {}, "casing of PHI"),
        (NOISY, {**NOISY, "mu": 3.1}, "noise"),
        (NOISY, {**NOISY, "mu": None}, "noise"),
        ({}, {"audit": {"preset": "quick"}}, "audit"),
        ({}, {"audit": {"ours": False}}, "audit"),
        ({}, {"audit": {"failed": ("match",)}}, "audit"),
    ],
)
def test_a_fall_is_said_first_and_the_way_back_is_none(before: Any, after: Any, name: str) -> None:
    down = compare_protection(facts(**before), facts(**after))
    assert any(fall.startswith(name) for fall in down.falls)
    assert down.lines()[0].startswith("PROTECTION FALLS")
    up = compare_protection(facts(**after), facts(**before))
    assert not any(fall.startswith(name) for fall in up.falls)
    assert any(other.startswith(name) for other in up.others)


def test_every_limit_that_an_audit_failed_is_said() -> None:
    failed = facts(**NOISY, audit={"failed": ("match, top-1 of: not tried", "linkage, top-1 of: 2 of 9 beyond")})
    lines = Judgement(replace(PAPER, accept_failed_audit=("three-part",)), failed).lines()
    assert [line for line in lines if "NOT withstood" in line] == [
        "  NOT withstood: match, top-1 of: not tried",
        "  NOT withstood: linkage, top-1 of: 2 of 9 beyond",
    ]


def test_nothing_is_said_where_nothing_changes() -> None:
    assert compare_protection(facts(), facts(created=days(-9))).lines() == []


def words(*named: str) -> dict[str, Any]:
    return {"narrowed": Narrowed(len(named), 3, 2000, named)}


def test_words_that_became_readable_are_named_as_a_fall() -> None:
    before, after = facts(**words("the", "of", ".")), facts(**words("the", "hiv", "heroin"))
    assert compare_protection(before, after).falls == ("words that became readable far from PHI: hiv heroin",)
    assert compare_protection(before, facts(**words("the", "of", ","))).lines() == []
    assert compare_protection(before, facts(**words("the"))).falls == ()


def test_the_words_that_can_be_read_are_named_and_move_no_cursor() -> None:
    assert readable_line(facts(**words("the", "\x1b[2J"))) == "can be read wherever they stand: the '\\x1b[2J'"
    assert readable_line(facts(narrowed=None)) is None
    assert str(readable_line(facts(narrowed=Narrowed(5, 3, None, ("the",))))).endswith(": the and 4 more")
