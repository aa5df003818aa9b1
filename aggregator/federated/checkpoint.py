"""A federated training on disk between two rounds: the weights, what the provider's step remembers, and what happened so far.

One file of safetensors, whole or absent, as `shared.training.checkpoint` has it for a training in one place. It holds what the
provider knows anyway; what a single site sent in a round is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from foundation.files import write_bytes
from shared.errors import ConfigurationError
from shared.federated.weights import Vector

_FACTS = "facts"


def write_checkpoint(path: Path, facts: Mapping[str, Any], vectors: Mapping[str, Vector]) -> None:
    """Put a checkpoint in the place of the one before."""
    # Empty tensors are refused by some readers of the format; who has none, has none of that name.
    kept = {name: np.ascontiguousarray(value) for name, value in vectors.items() if value.size}
    write_bytes(path, save(kept, {_FACTS: json.dumps(facts)}))


def read_checkpoint(path: Path, training: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Vector]] | None:
    """What `write_checkpoint` wrote; None where there is no file.

    Args:
        path: of the file.
        training: what the facts must say under "training".

    Raises:
        ConfigurationError: damaged, or of another training.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="np") as file:
            facts = json.loads(file.metadata()[_FACTS])
            vectors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path.name}: expected rounds to go on with; begin anew, or remove it") from error
    if facts.get("training") != json.loads(json.dumps(training)):
        raise ConfigurationError(
            f"{path.name}: expected this training, got another one, of other sites or settings; begin anew, or remove it"
        )
    return facts, vectors
