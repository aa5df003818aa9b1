"""Each answer of a hospital names those before it; the provider names one whose ledger has forgotten what it sent, also in a later training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aggregator.errors import RegistryError
from aggregator.federated.deployed import read_spending
from aggregator.federated.plan import Answer, RoundOrder
from aggregator.federated.remote import Reply, SignedSites, Spending, Spent
from aggregator.registry import audit_log
from aggregator.workspace import Workspace
from protocols.federated.result import EARLIER, RoundResult, among_others
from protocols.federated.weights import digest_of
from protocols.keys.signing import PrivateKey
from shared.federated.local import LocalRecipe
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from tests.aggregator.copied import new_workspace

KEYS = [PrivateKey.from_seed(bytes([number]) * 32) for number in range(2)]
ORDER = RoundOrder(1, 1, BiLSTMCRFConfig(2, 3, hidden=2), np.zeros(9, np.float32), LocalRecipe())
RUN, NEXT_RUN = "ab" * 16, "cd" * 16
OLDER = "its ledger is older than its rounds"


class Signs:
    """A carrier of one hospital, which signs what it is told to have spent; its ledger is what it was told to have answered."""

    def __init__(
        self, epsilon: float, learned: float = 1.0, key: int = 0, name: str = "north", ledger: tuple[str, ...] = ()
    ) -> None:
        self.epsilon, self.weights = epsilon, np.full(9, learned, np.float32).tobytes()
        self.key, self.name, self.ledger = KEYS[key], name, ledger

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        result = RoundResult(
            self.name, digest_of(task), 1200, digest_of(self.weights), self.epsilon, among_others(self.ledger, self.key)
        ).to_bytes(self.key)
        self.ledger += (digest_of(result),)
        yield Reply("node 7", result, self.weights)

    def then(self, epsilon: float, key: int = 0) -> Signs:
        """The next answer of the same ledger."""
        return Signs(epsilon, epsilon, key, self.name, self.ledger)


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
    return new_workspace(tmp_path / "provider", "provider")


def test_attack_a_hospital_whose_ledger_is_older_than_its_rounds_is_named_in_a_later_training_too(
    workspace: Workspace,
) -> None:
    first, carrier = read_spending(workspace, RUN), Signs(4.69)
    backups = [carrier]
    for epsilon in (4.69, 5.75, 6.58):
        backups.append(carrier := carrier.then(epsilon))
        assert asked(first, carrier).weights is not None
    later = read_spending(workspace, NEXT_RUN)
    answer = asked(later, backups[1].then(5.75))
    assert (answer.site, answer.weights, answer.spoilt) == ("north", None, False)
    assert answer.problem.startswith(f"refused: {OLDER}")
    for part in ("5.75", "6.58", "restore the newest backup of its workspace"):
        assert part in answer.problem
    assert "\n" not in answer.problem
    # Others are not blamed for it.
    assert asked(later, Signs(1.2, name="south")).weights is not None
    # And with the newest backup it goes on, without a word to anybody.
    assert asked(later, carrier.then(7.2)).weights is not None


@pytest.mark.parametrize("epsilon", [0.0, 4.0, 5.0, 5.8, 300.0])
def test_attack_whatever_an_older_ledger_has_come_to_it_is_not_believed(epsilon: float, workspace: Workspace) -> None:
    """After rounds that failed or ran late there, under a policy that allows more, or without noise."""
    asked(read_spending(workspace, RUN), Signs(5.0))
    forgotten = Signs(epsilon, 2)
    for run in (RUN, NEXT_RUN, NEXT_RUN):
        assert OLDER in asked(read_spending(workspace, run), forgotten).problem


def test_attack_an_older_ledger_is_found_out_where_there_was_never_any_noise(workspace: Workspace) -> None:
    before = Signs(0.0)
    asked(read_spending(workspace, RUN), before)
    whole = before.then(0.0)
    assert asked(read_spending(workspace, RUN), whole).weights is not None
    # That the first answer stands in it is not enough.
    assert OLDER in asked(read_spending(workspace, NEXT_RUN), Signs(0.0, 3, ledger=before.ledger)).problem


def test_what_a_hospital_measures_is_held_to_what_it_has_answered(workspace: Workspace) -> None:
    spending = read_spending(workspace, RUN)
    asked(spending, Signs(5.0))
    answer = asked(spending, Signs(6.0, 2), measures=True)
    assert (answer.site, answer.weights) == ("north", None)
    assert OLDER in answer.problem


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        pytest.param(5.0, 5.0, 0, id="the same answer given again, signed anew for another task"),
        pytest.param(5.0, 5.01, 1, id="another key"),
        pytest.param(5.0, 0.0, 0, id="a policy without noise from now on"),
        pytest.param(0.0, 0.0, 0, id="never any noise"),
        pytest.param(9.0, 8.9, 0, id="an accounting that finds less in the same rounds"),
    ],
)
def test_what_a_sound_ledger_signs_is_counted(before: float, after: float, key: int, workspace: Workspace) -> None:
    carrier = Signs(before)
    assert asked(read_spending(workspace, RUN), carrier).weights is not None
    for run in (RUN, NEXT_RUN):
        carrier = carrier.then(after, key)
        assert asked(read_spending(workspace, run), carrier).weights is not None


def test_answers_that_never_came_are_held_against_nobody(workspace: Workspace) -> None:
    carrier = Signs(5.0)
    asked(read_spending(workspace, RUN), carrier)
    for number in range(EARLIER - 1):
        carrier = carrier.then(5.0 + number / 100)
        list(carrier.exchange(b"a task whose answer was lost", b"", 60.0))
    assert asked(read_spending(workspace, NEXT_RUN), carrier.then(7.0)).weights is not None


def test_an_answer_that_is_brought_twice_blames_nobody(workspace: Workspace) -> None:
    class Twice(Signs):
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            (reply,) = super().exchange(task, weights, timeout_s)
            yield from (reply, reply)

    sites = SignedSites(
        Twice(5.0), KEYS[0], lambda: {"north": [KEYS[0].public_key]}, RUN, "cd" * 32, 60.0,
        spending=read_spending(workspace, RUN),
    )  # fmt: skip
    assert [answer.problem for answer in sites.ask(ORDER)] == ["", ""]


def test_an_answer_of_another_round_that_is_played_again_blames_nobody(workspace: Workspace) -> None:
    class Played(Signs):
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            yield from super().exchange(b"another task", weights, timeout_s)

    spending, carrier = read_spending(workspace, RUN), Signs(5.0)
    asked(spending, carrier)
    assert asked(spending, Played(4.0)).problem == "refused: MismatchError"
    assert asked(spending, carrier.then(5.5)).weights is not None


def test_what_was_answered_is_written_down_before_it_counts(workspace: Workspace) -> None:
    carrier = Signs(4.0)
    for epsilon in (4.0, 5.0, 0.0, 0.0):
        carrier = carrier.then(epsilon)
        asked(read_spending(workspace, RUN), carrier)
    asked(read_spending(workspace, RUN), Signs(3.0))
    with workspace.registry().reading() as session:
        told = [event.as_json()["details"] for event in audit_log.events(session) if "answered" in event.action]
    assert [one["epsilon"] for one in told if isinstance(one, dict)] == ["4", "5", "0", "0"]

    def full(site: str, answered: Spent) -> None:
        raise RegistryError("no room")

    with pytest.raises(RegistryError):
        asked(Spending(keep=full), Signs(1.0))
