"""The procedures that train a representer, by name, each with its presets.

procedure = named("invariance")
representer, record = procedure.train(source, table, tags, shape, procedure.recipe("standard", seed=1), progress)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress
from shared.sentences.ragged import RaggedSentences
from shared.training import dann, invariance, three_part
from shared.training.dann import DannConfig
from shared.training.invariance import InvarianceConfig
from shared.training.pairs import NeighbourTable
from shared.training.representing import TrainingRecord
from shared.training.three_part import ThreePartConfig

Config = TypeVar("Config")
_Config = TypeVar("_Config", contravariant=True)


class Train(Protocol[_Config]):
    """What every procedure's `train_representer` looks like."""

    def __call__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: _Config,
        progress: Progress = ...,
        /,
    ) -> tuple[Representer, TrainingRecord]: ...


@dataclass(frozen=True)
class Procedure(Generic[Config]):
    """One way to train a representer.

    Args:
        presets: recipes by name: "quick", "standard", "paper".
        train: the training.
    """

    presets: Mapping[str, Config]
    train: Train[Config]

    def recipe(self, preset: str, seed: int) -> Config:
        """A preset with a seed.

        Raises:
            ConfigurationError: no such preset.
        """
        if preset not in self.presets:
            raise ConfigurationError(f"expected a preset among {', '.join(self.presets)}, got {preset!r}")
        made: Config = replace(self.presets[preset], seed=seed)  # type: ignore[type-var]
        return made


# For the 500 notes of MEDDOCAN "quick" takes up to five minutes and "standard" about a quarter of an hour, on one core;
# "paper" has the length of the paper's trainings (section 5.4) and its adversaries of 300 units.
PROCEDURES: Mapping[str, Procedure[Any]] = {
    "three-part": Procedure(
        {
            "quick": ThreePartConfig(task_epochs=3, adversary_epochs=1, joint_epochs=2, adversary_hidden=48),
            "standard": ThreePartConfig(task_epochs=6, adversary_epochs=2, joint_epochs=6, adversary_hidden=96),
            "paper": ThreePartConfig(task_epochs=20, adversary_epochs=20, joint_epochs=40, adversary_hidden=300),
        },
        three_part.train_representer,
    ),
    "dann": Procedure(
        {
            "quick": DannConfig(epochs=4, adversary_hidden=48),
            "standard": DannConfig(epochs=12, adversary_hidden=96),
            "paper": DannConfig(epochs=60, adversary_hidden=300),
        },
        dann.train_representer,
    ),
    "invariance": Procedure(
        {
            "quick": InvarianceConfig(epochs=4),
            "standard": InvarianceConfig(epochs=10),
            "paper": InvarianceConfig(epochs=40),
        },
        invariance.train_representer,
    ),
}


def named(name: str) -> Procedure[Any]:
    """The procedure of that name.

    Raises:
        ConfigurationError: no such procedure.
    """
    if name not in PROCEDURES:
        raise ConfigurationError(f"expected a procedure among {', '.join(PROCEDURES)}, got {name!r}")
    return PROCEDURES[name]
