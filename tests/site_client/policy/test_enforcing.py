"""What a person has accepted against the policy is exactly what that person was shown, and nothing else."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from site_client.errors import ApprovalError, PolicyError
from site_client.ledger import Event, entries
from site_client.policy.enforcing import Acceptance, Judgement, Step, judge_facts, require_kept
from site_client.policy.site_policy import DEFAULT
from site_client.workspace import Workspace, create
from tests.facts import DAY, facts

PERSON = Acceptance("Dr Ünal")
SHARE, OTHER_SHARE = "12" * 32, "34" * 32
FACTS = facts(cluster_size=4)
SHOWN = judge_facts(DEFAULT, FACTS)
OLDER = judge_facts(DEFAULT, replace(FACTS, created=DAY - datetime.timedelta(days=500)))
OTHERS = {
    "another share": (SHOWN, Step.SUBMIT, OTHER_SHARE),
    "a pull": (SHOWN, Step.PULL, None),
    "an encoding": (SHOWN, Step.ENCODE, None),
    "what runs in-house": (SHOWN, Step.DEID, None),
    "another release": (judge_facts(DEFAULT, replace(FACTS, release="cd" * 32)), Step.SUBMIT, SHARE),
    "another policy": (judge_facts(replace(DEFAULT, least_cluster=50), FACTS), Step.SUBMIT, SHARE),
    "what was broken since": (OLDER, Step.SUBMIT, SHARE),
}


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return create(tmp_path / "site", "st-anne")


def test_what_was_accepted_goes_on_without_being_asked_for_again(site: Workspace) -> None:
    for step, share in ((Step.PULL, None), (Step.SUBMIT, SHARE)):
        require_kept(site, SHOWN, step, PERSON, share)
        require_kept(site, SHOWN, step, None, share)
    # What is in use may run.
    require_kept(site, SHOWN, Step.DEID)
    recorded = [entry.details for entry in entries(site) if entry.event == Event.UNPROTECTED_ACCEPTED]
    assert [one["step"] for one in recorded] == ["pull", "submit"]


@pytest.mark.parametrize("name", OTHERS)
def test_attack_an_acceptance_is_used_for_something_else(name: str, site: Workspace) -> None:
    judgement, step, share = OTHERS[name]
    require_kept(site, SHOWN, Step.SUBMIT, PERSON, SHARE)
    with pytest.raises(PolicyError, match="does not keep this hospital's policy"):
        require_kept(site, judgement, step, None, share)


def test_every_encoding_is_accepted_by_itself(site: Workspace) -> None:
    require_kept(site, SHOWN, Step.ENCODE, PERSON)
    with pytest.raises(PolicyError, match="nothing was written"):
        require_kept(site, SHOWN, Step.ENCODE)


@pytest.mark.parametrize("name", ["", "  ", "A\nB", "A" * 201, "\u200b", "\u2060.", "W\udcfcst"])
def test_nobody_accepts_without_a_name(name: str, site: Workspace) -> None:
    with pytest.raises(ApprovalError):
        require_kept(site, SHOWN, Step.PULL, Acceptance(name))
    assert list(entries(site)) == []


def test_what_keeps_the_policy_is_not_written_down(site: Workspace) -> None:
    require_kept(site, Judgement(DEFAULT, facts()), Step.SUBMIT, None, SHARE)
    assert list(entries(site)) == []
