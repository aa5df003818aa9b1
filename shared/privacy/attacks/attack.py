"""What an audit asks of every attack: its name, how hard it tries under a preset, what it needs, and what it found.

An attack is one file here, which offers one object, and its line in `shared.privacy.attacks.registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from shared.privacy.attacks.scene import Scene
from shared.privacy.statistics.finding import Finding

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")
"""The settings of one round of an attack: a frozen dataclass."""


class Attack(ABC, Generic[S]):
    """One attack.

    Args of the class:
        name: what the audit calls it while it runs and where it is left out.
        key: where its settings stand in the record of an audit.
        quick: its rounds in a quick audit, each with settings of its own; without any it is left out there.
        full: its rounds in a full audit.
        finds: the attacks that its findings name, and that a policy's limits ask for.
        unlimited: why the project's policy has no limit for it; empty where it has one.
        repeatable: whether settings may hold more than one round.
    """

    name: ClassVar[str]
    key: ClassVar[str]
    quick: tuple[S, ...] = ()
    full: tuple[S, ...]
    finds: ClassVar[tuple[str, ...]]
    unlimited: ClassVar[str] = ""
    repeatable: ClassVar[bool] = False

    @abstractmethod
    def run(self, scene: Scene, settings: S) -> list[Finding]:
        """One round.

        Raises:
            ConfigurationError, TrainingError, EvaluationError: it can't be run on these notes. The audit leaves the round out
                and says why.
        """

    def obstacle(self, scene: Scene, settings: S) -> str | None:
        """Why a round is left out from the start; None where all is there that it needs."""
        return None

    def gaps(self, rounds: tuple[S, ...]) -> list[str]:
        """What a full audit tries and these rounds do not, each with the reason."""
        return [] if rounds else [f"{self.name}: part of the full audit only"]

    def with_seed(self, settings: S, seed: int) -> S:
        """The same settings with another seed."""
        changes: dict[str, object] = {"seed": seed}
        return replace(settings, **changes)

    def as_json(self, rounds: tuple[S, ...]) -> dict[str, object]:
        """The settings as they stand in the record of an audit, null where the attack is left out."""
        return {self.key: asdict(rounds[0]) if rounds else None}
