"""A policy says what it is on the disk, and whoever changes it otherwise than by `policy set` is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import ProtocolError
from shared.constructions.proof import RECOMPUTABLE, REPLACING, WITHOUT_PROOF
from shared.constructions.registry import PROCEDURES
from shared.errors import ConfigurationError
from site_client import ledger
from site_client import workspace as workspaces
from site_client.errors import PolicyError
from site_client.ledger import Event
from site_client.policy.site_policy import DEFAULT, DemandedAudit, SitePolicy
from site_client.policy.stored import keep_words, load_policy, policy_path, read_recorded_policy, set_policy
from site_client.workspace import Workspace

FLOATS = st.floats(0.001, 1e6) | st.none()
POLICIES = st.builds(
    SitePolicy,
    constructions=st.just((*RECOMPUTABLE, *WITHOUT_PROOF)),
    accept_failed_audit=st.lists(st.sampled_from(WITHOUT_PROOF), unique=True).map(tuple),
    least_cluster=st.integers(1, 10**6),
    most_common_words=st.none() | st.integers(0, 10**6),
    exact_window=st.integers(0, 99),
    hide_casing=st.booleans(),
    max_mu=FLOATS,
    max_advantage=st.floats(0.001, 0.999) | st.none(),
    most_bank_spans=st.integers(0, 1000),
    least_new_notes=st.integers(0, 1000),
    audit=st.sampled_from(DemandedAudit),
    max_age_days=st.integers(1, 36_500),
    max_bytes=st.integers(1, 1 << 50),
    approval=st.booleans(),
    demonstration=st.booleans(),
)


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return workspaces.create(tmp_path / "site", "st-anne")


def changes(site: Workspace) -> list[Any]:
    return [entry.details["changes"] for entry in ledger.entries(site) if entry.event == Event.POLICY_SET]


@given(POLICIES)
def test_a_policy_reads_back_as_it_was_written(policy: SitePolicy) -> None:
    assert SitePolicy.from_json(json.loads(json.dumps(policy.to_json()))) == policy


def test_what_replaces_phi_is_on_and_the_rest_is_off() -> None:
    assert DEFAULT.constructions == ("surrogates",)
    assert {*DEFAULT.constructions} < {*REPLACING}
    assert tuple(name for name in RECOMPUTABLE if PROCEDURES[name].makes.replaces_phi) == REPLACING
    assert {*RECOMPUTABLE, *WITHOUT_PROOF} == set(PROCEDURES)
    assert not DEFAULT.accept_failed_audit
    assert DEFAULT.audit is DemandedAudit.FULL


@pytest.mark.parametrize("name", [*RECOMPUTABLE, "dann"])
def test_a_failed_audit_is_accepted_of_what_is_enabled_and_nothing_proves(name: str) -> None:
    with pytest.raises(ConfigurationError, match="accept-failed-audit"):
        SitePolicy(accept_failed_audit=(name,))


@pytest.mark.parametrize(
    "value",
    [
        {"constructions": ("identity",)},
        {"least_cluster": 0},
        {"max_mu": float("nan")},
        {"max_mu": float("inf")},
        {"max_advantage": 1.0},
        {"max_age_days": 0},
        {"max_age_days": 36_501},
        {"max_mu": 1e300},
        {"federated_epsilon": 1e300},
        {"most_common_words": float("nan")},
        {"most_common_words": float("inf")},
        {"most_common_words": 10**400},
        {"least_cluster": 2**53},
        {"least_cluster": 10**400},
        {"exact_window": 2**53},
        {"least_new_notes": 2**53},
        {"max_bytes": 2**53},
        {"federated_rounds": 2**53},
        {"most_bank_spans": 2**53},
        {"most_bank_spans": -1},
    ],
)
def test_a_value_out_of_range_is_no_policy(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="policy: expected "):
        SitePolicy(**value)


@pytest.mark.parametrize(
    "values", [[], None, {"colour": "red"}, {"format": 2}, {"audit": "none"}, {"hide_casing": 1}, {"approval": 0}]
)
def test_what_nobody_knows_is_refused(values: Any) -> None:
    stated = {**DEFAULT.to_json(), **values} if isinstance(values, dict) else values
    with pytest.raises(ProtocolError):
        SitePolicy.from_json(stated)


def test_a_policy_of_an_earlier_version_has_the_default_of_what_it_does_not_state() -> None:
    for left_out in ("most_bank_spans", "approval"):
        stated = {name: value for name, value in DEFAULT.to_json().items() if name != left_out}
        assert SitePolicy.from_json(stated) == DEFAULT


def test_a_larger_age_than_is_taken_now_counts_as_the_largest() -> None:
    """An earlier version recorded any; the ledger keeps it, and the hospital must be able to go on."""
    assert SitePolicy.from_json({**DEFAULT.to_json(), "max_age_days": 9_999_999_999}).max_age_days == 36_500


def test_a_workspace_without_a_policy_has_the_default(site: Workspace) -> None:
    assert load_policy(site) == DEFAULT


def test_every_change_is_in_the_signed_ledger(site: Workspace) -> None:
    set_policy(site, replace(DEFAULT, least_cluster=500))
    set_policy(site, replace(DEFAULT, least_cluster=500, hide_casing=True))
    assert load_policy(site) == replace(DEFAULT, least_cluster=500, hide_casing=True)
    assert changes(site) == [["least_cluster: 100 -> 500"], ["hide_casing: no -> yes"]]
    last = ledger.verify(site)
    assert last is not None
    assert last.details["policy_sha256"] == load_policy(site).digest


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text(path.read_text().replace("500", "5")),
        lambda path: path.write_text("{}"),
        lambda path: path.write_text("no policy"),
        lambda path: path.unlink(),
        lambda path: path.write_text(json.dumps(DEFAULT.to_json())),
    ],
    ids=["a value", "empty", "no JSON", "removed", "the default"],
)
def test_a_policy_changed_by_hand_is_refused_until_the_recorded_one_is_put_back(change: Any, site: Workspace) -> None:
    wanted = replace(DEFAULT, least_cluster=500)
    set_policy(site, wanted)
    change(policy_path(site))
    with pytest.raises(PolicyError, match="changed outside `policy set`"):
        load_policy(site)
    assert set_policy(site, read_recorded_policy(site)) == []
    assert load_policy(site) == wanted


def test_a_file_that_no_ledger_knows_of_is_the_default_or_refused(site: Workspace) -> None:
    policy_path(site).write_text(json.dumps(DEFAULT.to_json()))
    assert load_policy(site) == DEFAULT
    policy_path(site).write_text(json.dumps(replace(DEFAULT, least_cluster=1).to_json()))
    with pytest.raises(PolicyError):
        load_policy(site)


def test_the_hospitals_own_words_are_the_ones_of_the_policy(site: Workspace, tmp_path: Path) -> None:
    (tmp_path / "ours.txt").write_text("hemodialysis\n")
    words = keep_words(site, tmp_path / "ours.txt")
    set_policy(site, replace(DEFAULT, own_words=words))
    assert load_policy(site).own_words == words
    (site.root / words.path).write_text("quillfeather\n")
    with pytest.raises(PolicyError, match="list of words"):
        load_policy(site)
