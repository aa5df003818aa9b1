"""A training on disk between two epochs: one that was cut goes on as if nothing had happened.

One file of safetensors, written whole or not at all: weights, what the optimisers remember, the state of both generators, and
in its header, as JSON, how far the training has come. It is the trainer's own and holds no more than the trainer's memory does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from foundation.files import write_bytes
from shared.errors import ConfigurationError
from shared.training.loop import Descent

_FACTS, _TORCH, _BEST = "facts", "generator of torch", "best/"


@dataclass(frozen=True)
class Checkpoint:
    """Where the state of a training lies, and what it consists of.

    Args:
        path: of the file.
        training: what tells this training from others; a file of another one is refused.
        networks: all that learns.
        descents: all that go down a loss, by name.
        generator: of the order of sentences and of all other chance that is not torch's.
    """

    path: Path
    training: Mapping[str, object]
    networks: nn.ModuleDict
    descents: Mapping[str, Descent]
    generator: np.random.Generator

    def save(self, progress: Mapping[str, object], best: Mapping[str, Tensor]) -> None:
        """Write the state as it is now.

        Args:
            progress: how far the training has come, as JSON.
            best: the weights that may have to be restored.
        """
        tensors = dict(self.networks.state_dict()) | {_BEST + name: value for name, value in best.items()}
        tensors[_TORCH] = torch.default_generator.get_state()
        schedules: dict[str, object] = {}
        for name, descent in self.descents.items():
            for index, kept in descent.optimizer.state_dict()["state"].items():
                tensors |= {f"{name}/{index}/{key}": torch.as_tensor(value) for key, value in kept.items()}
            schedules[name] = None if descent.schedule is None else descent.schedule.state_dict()
        facts = {
            "training": self.training,
            "progress": progress,
            "schedules": schedules,
            "generator": self.generator.bit_generator.state,
        }
        # Two names may stand for one tensor, which the format refuses.
        copies = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
        write_bytes(self.path, save(copies, {_FACTS: json.dumps(facts)}))

    def load(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """Take up the state where it was left; None where there is no file.

        Returns:
            progress and best weights, as they were saved.

        Raises:
            ConfigurationError: the file is damaged, or of another training.
        """
        found = self.read()
        if found is None:
            return None
        facts, tensors = found
        if facts["training"] != json.loads(json.dumps(self.training)):
            raise ConfigurationError(
                f"{self.path.name}: expected this training, got another one, of other notes or settings; begin anew, or remove it"
            )
        self.networks.load_state_dict({name: tensors[name] for name in self.networks.state_dict()})
        for name, descent in self.descents.items():
            _restore(descent, name, tensors, facts["schedules"][name])
        torch.default_generator.set_state(tensors[_TORCH])
        self.generator.bit_generator.state = facts["generator"]
        best = {name.removeprefix(_BEST): value for name, value in tensors.items() if name.startswith(_BEST)}
        return facts["progress"], best

    def read(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """What the file says and holds, whoever's training it is; None where there is no file.

        Raises:
            ConfigurationError: the file is damaged.
        """
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                facts = json.loads(file.metadata()[_FACTS])
                return facts, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{self.path.name}: expected a training to go on with; begin anew, or remove it"
            ) from error


def digest_arrays(*arrays: NDArray[np.generic] | None) -> str:
    """SHA-256 of what a training learns from: two of them are of one training only if they learn from the same."""
    digest = hashlib.sha256()
    for array in arrays:
        shape = None if array is None else (array.dtype.str, array.shape)
        digest.update(repr(shape).encode())
        digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _restore(descent: Descent, name: str, tensors: Mapping[str, Tensor], schedule: dict[str, Any] | None) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        owner, _, rest = key.partition("/")
        if owner == name:
            index, _, kept = rest.partition("/")
            state.setdefault(int(index), {})[kept] = value
    groups = descent.optimizer.state_dict()["param_groups"]
    descent.optimizer.load_state_dict({"state": state, "param_groups": groups})
    if descent.schedule is not None and schedule is not None:
        descent.schedule.load_state_dict(schedule)
        for group, rate in zip(descent.optimizer.param_groups, schedule["_last_lr"], strict=True):
            group["lr"] = rate
