"""A hospital's budget against its backup: a workspace restored from before a training would spend it twice, and the provider notices."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from aggregator.federated.deployed import read_spending
from aggregator.federated.plan import RoundOrder
from aggregator.federated.remote import Reply, SignedSites
from aggregator.workspace import create as create_provider
from protocols.canonical import Json
from protocols.federated.result import RoundResult, among_others
from protocols.federated.weights import digest_of
from protocols.keys.signing import PrivateKey
from shared.federated.local import LocalRecipe
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from site_client.errors import PolicyError
from site_client.federated.budget import allow_measuring, allow_round, noise_json, read_past
from site_client.ledger import Event, record, verify
from site_client.policy.site_policy import SitePolicy
from site_client.workspace import create as create_site
from site_client.workspace import open_workspace

KEY = PrivateKey.from_seed(bytes(32))
ORDER = RoundOrder(1, 1, BiLSTMCRFConfig(2, 3, hidden=2), np.zeros(9, np.float32), LocalRecipe())
POLICY = SitePolicy(federated_rounds=4, federated_epsilon=8.0)


@dataclass
class Hospital:
    """A carrier whose hospital does what a trainer does around its learning: budget, ledger, signature."""

    folder: Path
    policy: SitePolicy = POLICY
    answered: list[int] = field(default_factory=list)
    late: int = 0

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        workspace = open_workspace(self.folder)
        allow = (
            (lambda: allow_measuring(workspace, self.policy))
            if only
            else (lambda: allow_round(workspace, self.policy, 1))
        )
        try:
            noise, epsilon = allow()
        except PolicyError:
            return
        self.answered.append(len(self.answered))
        learned = np.full(9, len(self.answered), np.float32).tobytes()
        told: dict[str, Json] = {"task_sha256": digest_of(task), "noise": noise_json(noise)}
        if self.late:
            self.late -= 1
            record(workspace, Event.FEDERATED_ROUND, told | {"out_of_time": True})
            return
        earlier = among_others(read_past(workspace).answers, KEY)
        result = RoundResult("st-anne", digest_of(task), 99, digest_of(learned), epsilon, earlier).to_bytes(KEY)
        record(workspace, Event.FEDERATED_ROUND, told | {"result_sha256": digest_of(result)})
        yield Reply("node 1", result, learned)


def training(provider: Path, hospital: Hospital, rounds: int, measures: int = 0) -> list[str]:
    """What becomes of each answer: nothing where it counts."""
    from aggregator.workspace import open_workspace as open_provider

    spending = read_spending(open_provider(provider), "ab" * 16)
    sites = SignedSites(
        hospital, KEY, lambda: {"st-anne": [KEY.public_key]}, "ab" * 16, "cd" * 32, 60.0, spending=spending
    )
    told = [answer.problem for _ in range(rounds) for answer in sites.ask(ORDER)]
    return told + [sites.measure(ORDER, "st-anne", 9).problem for _ in range(measures)]


def test_attack_rounds_of_a_workspace_from_an_older_backup_do_not_count(tmp_path: Path) -> None:
    create_provider(tmp_path / "provider", "provider", "i2b2_2014")
    create_site(tmp_path / "site", "st-anne")
    shutil.copytree(tmp_path / "site", tmp_path / "backup")
    assert training(tmp_path / "provider", Hospital(tmp_path / "site"), 3, 1) == [""] * 4
    shutil.copytree(tmp_path / "site", tmp_path / "newest")
    shutil.rmtree(tmp_path / "site")
    shutil.copytree(tmp_path / "backup", tmp_path / "site")
    # Nothing at the hospital tells: its ledger is whole, only too old.
    verify(open_workspace(tmp_path / "site"))
    told = training(tmp_path / "provider", Hospital(tmp_path / "site"), 4)
    assert len(told) == 4
    assert all("older than its rounds" in problem for problem in told)
    # With the newest backup it goes on, as far as its policy lets it.
    more = Hospital(tmp_path / "newest", replace(POLICY, federated_rounds=6, federated_epsilon=12.0))
    assert training(tmp_path / "provider", more, 2) == ["", ""]


WIDE = SitePolicy(federated_rounds=10, federated_epsilon=8.0)


@pytest.mark.parametrize(
    ("late", "policy"),
    [
        pytest.param(3, WIDE, id="rounds that ran late, which the ledger counts and nobody is told of"),
        pytest.param(0, replace(WIDE, federated_epsilon=14.0, federated_rounds=5), id="a policy that allows more"),
        pytest.param(0, replace(WIDE, federated_epsilon=None), id="no noise any more"),
    ],
)
def test_attack_an_older_ledger_whose_sum_has_risen_above_what_was_told(
    late: int, policy: SitePolicy, tmp_path: Path
) -> None:
    create_provider(tmp_path / "provider", "provider", "i2b2_2014")
    create_site(tmp_path / "site", "st-anne")
    shutil.copytree(tmp_path / "site", tmp_path / "backup")
    assert training(tmp_path / "provider", Hospital(tmp_path / "site", WIDE), 3) == [""] * 3
    told = training(tmp_path / "provider", Hospital(tmp_path / "backup", policy, late=late), late + 2)
    assert len(told) == 2
    assert all("older than its rounds" in problem for problem in told)


def test_a_backup_from_behind_the_last_answer_that_came_is_whole_enough(tmp_path: Path) -> None:
    """Rounds since, of which no answer came, are spent without anybody knowing; federated.md says so."""
    create_provider(tmp_path / "provider", "provider", "i2b2_2014")
    create_site(tmp_path / "site", "st-anne")
    assert training(tmp_path / "provider", Hospital(tmp_path / "site", WIDE), 3) == [""] * 3
    shutil.copytree(tmp_path / "site", tmp_path / "backup")
    assert training(tmp_path / "provider", Hospital(tmp_path / "site", WIDE, late=2), 2) == []
    assert training(tmp_path / "provider", Hospital(tmp_path / "backup", WIDE), 2) == [""] * 2


def test_whatever_policy_follows_another_a_whole_ledger_is_never_taken_for_an_older_one(tmp_path: Path) -> None:
    create_provider(tmp_path / "provider", "provider", "i2b2_2014")
    create_site(tmp_path / "site", "st-anne")
    policies = [
        SitePolicy(federated_rounds=2, federated_epsilon=2.0),
        SitePolicy(federated_rounds=9, federated_epsilon=8.0),
        SitePolicy(federated_rounds=40, federated_epsilon=7.5),
        SitePolicy(federated_rounds=40, federated_epsilon=None),
    ]
    hospitals = [Hospital(tmp_path / "site", policy) for policy in policies]
    for hospital in hospitals:
        told = training(tmp_path / "provider", hospital, 2, 1)
        assert not [problem for problem in told if "older" in problem]
    assert all(hospital.answered for hospital in hospitals)
