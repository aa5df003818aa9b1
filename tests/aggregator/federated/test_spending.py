"""What hospitals sign that their notes have spent only rises; the provider names one whose ledger has forgotten rounds, also in a later training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aggregator.errors import RegistryError
from aggregator.federated.deployed import read_spending
from aggregator.federated.plan import Answer, RoundOrder
from aggregator.federated.remote import Reply, SignedSites, Spending
from aggregator.registry import audit_log
from aggregator.workspace import Workspace, create
from protocols.federated.result import RoundResult
from protocols.federated.weights import digest_of
from protocols.keys.signing import PrivateKey
from shared.federated.local import LocalRecipe
from shared.taggers.bilstm_crf import BiLSTMCRFConfig

KEYS = [PrivateKey.from_seed(bytes([number]) * 32) for number in range(2)]
ORDER = RoundOrder(1, 1, BiLSTMCRFConfig(2, 3, hidden=2), np.zeros(9, np.float32), LocalRecipe())
RUN, NEXT_RUN = "ab" * 16, "cd" * 16
OLDER = "its ledger is older than its rounds"


class Signs:
    """A carrier of one hospital, which signs what it is told to have spent; the weights are what it has learned."""

    def __init__(self, epsilon: float, learned: float, key: int = 0, name: str = "north") -> None:
        self.epsilon, self.weights = epsilon, np.full(9, learned, np.float32).tobytes()
        self.key, self.name = KEYS[key], name

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        result = RoundResult(self.name, digest_of(task), 1200, digest_of(self.weights), self.epsilon)
        yield Reply("node 7", result.to_bytes(self.key), self.weights)


def asked(spending: Spending, carrier: Signs, *, measures: bool = False) -> Answer:
    keys = {name: [key.public_key for key in KEYS] for name in ("north", "south")}
    sites = SignedSites(carrier, KEYS[0], lambda: keys, RUN, "cd" * 32, 60.0, spending=spending)
    if measures:
        sites.senders[carrier.name] = "node 7"
        return sites.measure(ORDER, carrier.name, 9)
    (answer,) = sites.ask(ORDER)
    return answer


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return create(tmp_path / "provider", "provider", "i2b2_2014")


def test_attack_a_hospital_whose_ledger_is_older_than_its_rounds_is_named_in_a_later_training_too(
    workspace: Workspace,
) -> None:
    first = read_spending(workspace, RUN)
    for number, epsilon in enumerate((4.69, 5.75, 6.58)):
        assert asked(first, Signs(epsilon, number)).weights is not None
    later = read_spending(workspace, NEXT_RUN)
    answer = asked(later, Signs(4.69, 7))
    assert (answer.site, answer.weights, answer.spoilt) == ("north", None, False)
    assert answer.problem.startswith(f"refused: {OLDER}")
    for part in ("4.69", "6.58", "restore the newest backup of its workspace"):
        assert part in answer.problem
    assert "\n" not in answer.problem
    # Others are not blamed for it.
    assert asked(later, Signs(1.2, 7, name="south")).weights is not None


def test_attack_a_sum_that_comes_to_the_same_again_is_no_answer_given_again(workspace: Workspace) -> None:
    """With the same policy the last round of a forgotten ledger signs to the last digit what the last round of the true one did."""
    asked(read_spending(workspace, RUN), Signs(7.95, 1))
    assert OLDER in asked(read_spending(workspace, NEXT_RUN), Signs(7.95, 2)).problem


def test_attack_who_was_found_out_is_not_believed_again_once_its_sum_has_risen_above(workspace: Workspace) -> None:
    asked(read_spending(workspace, RUN), Signs(5.0, 1))
    later = read_spending(workspace, NEXT_RUN)
    problems = [asked(later, Signs(epsilon, 2)).problem for epsilon in (4.0, 4.9, 5.8)]
    assert [OLDER in problem for problem in problems] == [True] * 3
    # Whoever has restored the newest backup is let in by a program that is started anew.
    assert asked(read_spending(workspace, NEXT_RUN), Signs(5.8, 2)).weights is not None


def test_attack_one_that_had_no_noise_once_signs_a_bound(workspace: Workspace) -> None:
    asked(read_spending(workspace, RUN), Signs(0.0, 1))
    later = read_spending(workspace, NEXT_RUN)
    assert OLDER in asked(later, Signs(2.0, 2)).problem


def test_what_a_hospital_measures_is_held_to_what_it_has_signed(workspace: Workspace) -> None:
    spending = read_spending(workspace, RUN)
    asked(spending, Signs(5.0, 1))
    answer = asked(spending, Signs(4.0, 2), measures=True)
    assert (answer.site, answer.weights) == ("north", None)
    assert OLDER in answer.problem


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(Signs(5.0, 1), Signs(5.0, 1), id="the same answer given again"),
        pytest.param(Signs(5.0, 1), Signs(5.01, 2, key=1), id="another key"),
        pytest.param(Signs(5.0, 1), Signs(0.0, 2), id="a policy without noise from now on"),
        pytest.param(Signs(0.0, 1), Signs(0.0, 2), id="never any noise"),
        pytest.param(Signs(9.0, 1), Signs(9.0001, 2), id="a stricter policy, under which the sum goes on"),
    ],
)
def test_what_a_sound_ledger_signs_is_counted(workspace: Workspace, before: Signs, after: Signs) -> None:
    for run, carrier in ((RUN, before), (RUN, after), (NEXT_RUN, after)):
        assert asked(read_spending(workspace, run), carrier).weights is not None


def test_an_answer_of_another_round_that_is_played_again_blames_nobody(workspace: Workspace) -> None:
    class Played(Signs):
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            yield from super().exchange(b"another task", weights, timeout_s)

    spending = read_spending(workspace, RUN)
    asked(spending, Signs(5.0, 1))
    assert asked(spending, Played(4.0, 1)).problem == "refused: MismatchError"
    assert asked(spending, Signs(5.5, 2)).weights is not None


def test_what_was_signed_is_written_down_before_it_counts_and_only_where_it_rises(workspace: Workspace) -> None:
    for _ in range(2):
        for epsilon in (4.0, 5.0, 0.0):
            asked(read_spending(workspace, RUN), Signs(epsilon, epsilon))
    with workspace.registry().reading() as session:
        told = [event.as_json()["details"] for event in audit_log.events(session) if "answered" in event.action]
    assert [one["epsilon"] for one in told if isinstance(one, dict)] == ["4", "5", "0"]

    def full(site: str, result: RoundResult) -> None:
        raise RegistryError("no room")

    with pytest.raises(RegistryError):
        asked(Spending(keep=full), Signs(1.0, 1))
