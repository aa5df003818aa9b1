"""What this hospital may still do, and has done, in trainings over a connection: the signed ledger is the only memory of it.

Rounds and noise are counted over all trainings there ever were, whatever notes they saw and whatever the app that carries them says. A round is
recorded before its result leaves; one that was recorded and did not leave counts as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from protocols.canonical import Json, decimal_text, read_decimal
from protocols.errors import DuplicateError, ProtocolError
from protocols.federated.task import RoundTask
from shared.errors import ConfigurationError
from shared.federated.accounting import Spent, epsilon, multiplier_for
from shared.federated.private import STEPS_IN_A_PASS, NoteNoise
from site_client.errors import LedgerError, PolicyError
from site_client.ledger import Event, entries
from site_client.policy.site_policy import SitePolicy
from site_client.workspace import Workspace

_BOUND = 1.0
_MORE_NOISE = tuple(1.02**step for step in range(80))
"""Where the usual noise of a measuring does not fit: up to five times as much, of which a hospital's curve would tell nothing any more."""


@dataclass(frozen=True)
class Past:
    """What was done.

    Args:
        rounds: in all trainings.
        spent: of those with noise.
        bare: rounds without noise, of which nothing is bounded.
        tasks: digests of those that were done, whatever came of them.
        last: round of each training.
        answers: digests of the results that were signed, the last one last.
        units: how many of those with noise were by note, and by patient.
    """

    rounds: int
    spent: tuple[Spent, ...]
    bare: int
    tasks: frozenset[str] = frozenset()
    last: Mapping[str, int] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    units: Mapping[str, int] = field(default_factory=dict)

    @property
    def epsilon(self) -> float:
        """Of all rounds, for one note, or for one patient where all were so; infinite where one had no noise."""
        return math.inf if self.bare else epsilon(self.spent)

    def require_new(self, asked: RoundTask, task_sha256: str) -> None:
        """What was signed once is done once: who carries tasks could else play them again until nothing is left of rounds and budget.

        Raises:
            DuplicateError: the task was done before, or a later round of its training was.
        """
        if task_sha256 in self.tasks:
            raise DuplicateError(
                "a task that is new", received="one that was done before", advice="refuse it", place="task"
            )
        last = self.last.get(asked.run, 0)
        if asked.number < last:
            raise DuplicateError(
                f"round {last} of this training, or a later one",
                received=f"round {asked.number}",
                advice="refuse it; a provider that has lost later rounds begins a new training",
                place="task",
            )


def read_past(workspace: Workspace) -> Past:
    """All federated rounds that the ledger tells of.

    Raises:
        LedgerError: it was changed, or one of its rounds is none.
    """
    rounds = bare = 0
    spent, tasks, last, answers, units = [], set(), dict[str, int](), [], Counter[str]()
    for entry in entries(workspace):
        if entry.event not in (Event.FEDERATED_ROUND, Event.FEDERATED_AGAIN):
            continue
        told = entry.details
        tasks.add(str(told.get("task_sha256", "")))
        run, number = str(told.get("run", "")), told.get("round", 0)
        if "result_sha256" in told:
            answers.append(str(told["result_sha256"]))
        last[run] = max(last.get(run, 0), number if isinstance(number, int) else 0)
        if entry.event != Event.FEDERATED_ROUND:
            continue
        rounds += 1
        noise = entry.details.get("noise")
        if noise is None:
            bare += 1
            continue
        units[str(told.get("unit", "note"))] += 1
        try:
            assert isinstance(noise, dict)
            spent.append(
                Spent(
                    read_decimal(noise["multiplier"]),
                    read_decimal(noise["rate"]),
                    int(read_decimal(noise["steps"])),
                )
            )
        except (ProtocolError, ConfigurationError, KeyError, AssertionError) as error:
            raise LedgerError(
                f"ledger.jsonl: expected the noise of a round in entry {entry.number}, found something else; update deid-commons"
            ) from error
    return Past(rounds, tuple(spent), bare, frozenset(tasks), last, tuple(answers), units)


def allow_round(
    workspace: Workspace, policy: SitePolicy, epochs: int, unit: str = "note"
) -> tuple[NoteNoise | None, float]:
    """The noise of the next round, and what all rounds will then have given of a note or patient; 0 where no noise is asked for.

    Args:
        workspace: of the site.
        policy: the hospital's.
        epochs: passes that are asked for.
        unit: what a sample is, a note or a patient.

    Raises:
        PolicyError: the hospital takes part in no round more, the budget would not hold, or rounds were by another unit.
    """
    past = _past_of_who_goes_on(workspace, policy, unit)
    if policy.federated_epsilon is None:
        return None, 0.0
    rate, steps = 1 / STEPS_IN_A_PASS, STEPS_IN_A_PASS * epochs
    # So much that all rounds of the policy fit, if they ask for as many passes as this one.
    multiplier = multiplier_for(policy.federated_epsilon, rate, steps * policy.federated_rounds)
    after = _within(policy.federated_epsilon, [*past.spent, Spent(multiplier, rate, steps)])
    return NoteNoise(multiplier, _BOUND, rate, steps), after


def allow_measuring(workspace: Workspace, policy: SitePolicy, unit: str = "note") -> tuple[Spent | None, float]:
    """The noise over what one note can change where a head is measured on all notes, and what all rounds will then have given; as for
    `allow_round`, of which it counts as one.

    Args:
        workspace: of the site.
        policy: the hospital's.
        unit: as for `allow_round`.

    Raises:
        PolicyError: as for `allow_round`.
    """
    past = _past_of_who_goes_on(workspace, policy, unit)
    if policy.federated_epsilon is None:
        return None, 0.0
    # As if all rounds of the policy measured. Beside rounds that learn, whose bound is another curve, that may be a little too much: more
    # noise then, for what was learned is paid for.
    multiplier = multiplier_for(policy.federated_epsilon, 1.0, policy.federated_rounds)
    spent = [Spent(multiplier * more, 1.0, 1) for more in _MORE_NOISE]
    fits = next((one for one in spent if epsilon([*past.spent, one]) <= policy.federated_epsilon), spent[-1])
    return fits, _within(policy.federated_epsilon, [*past.spent, fits])


def _past_of_who_goes_on(workspace: Workspace, policy: SitePolicy, unit: str) -> Past:
    past = read_past(workspace)
    if past.rounds >= policy.federated_rounds:
        raise PolicyError(
            f"expected a policy that lets this hospital take part in round {past.rounds + 1}, got one of at most {policy.federated_rounds}; "
            "whoever may decide otherwise sets `site-client policy set --federated-rounds N`"
        )
    if policy.federated_epsilon is not None and past.bare:
        raise PolicyError(
            f"expected rounds with noise alone, found {past.bare} without any in the ledger: no later noise makes them private; set "
            "--federated-epsilon none, or take part no more"
        )
    others = [one for one in past.units if one != unit]
    # A patient may have been in a round by note many times over, and a note that comes or goes changes a patient's sample by twice the bound.
    if policy.federated_epsilon is not None and others:
        raise PolicyError(
            f"expected rounds by {unit} alone, found {past.units[others[0]]} by {others[0]} in the ledger, with which they can't be added up; go on by "
            f"{others[0]} ({'with' if unit == 'note' else 'without'} --patients), or set --federated-epsilon none"
        )
    return past


def _within(budget: float, spent: Iterable[Spent]) -> float:
    after = epsilon(spent)
    if after > budget:
        raise PolicyError(
            f"expected a round within the budget of epsilon {budget:g}, got one that would bring it to {after:.2f}; nothing was trained"
        )
    return after


def noise_json(noise: NoteNoise | Spent | None) -> Json:
    """What the ledger keeps of the noise of a round."""
    if noise is None:
        return None
    return {name: decimal_text(value) for name, value in vars(noise).items()}
