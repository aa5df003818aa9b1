"""The weights of a tagger as one vector, in an order that its shape alone decides: what sites and provider send each other.

Names and shapes of tensors do not travel. Both sides build them from the shape that was agreed, so a result can be of the
right length or of a wrong one, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.models.storage import without_memory
from shared.taggers.registry import TAGGERS, build_tagger
from shared.taggers.tagger import Tagger, TaggerConfig

Vector = NDArray[np.float32]
"""Weights or an update of them, float32 `[numbers]`."""


def weights_of(tagger: Tagger) -> Vector:
    """A copy of all weights, in the order of their names."""
    state = tagger.state_dict()
    return np.concatenate([state[name].detach().numpy().ravel() for name in sorted(state)]).astype(np.float32)


def set_weights(tagger: Tagger, weights: Vector) -> None:
    """Give a tagger the weights of `weights_of`.

    Raises:
        ConfigurationError: they are of another shape.
    """
    state = tagger.state_dict()
    total = sum(value.numel() for value in state.values())
    if weights.shape != (total,):
        raise ConfigurationError(f"weights: expected {total} numbers for this tagger, got {weights.shape}")
    first = 0
    with torch.no_grad():
        for name in sorted(state):
            count = state[name].numel()
            piece = torch.from_numpy(weights[first : first + count].astype(np.float32, copy=True))
            state[name].copy_(piece.view(state[name].shape))
            first += count


def count_weights(shape: TaggerConfig) -> int:
    """How many numbers a tagger of a shape has; nothing is drawn or allocated for it."""
    with without_memory():
        tagger = build_tagger(shape)
    return sum(value.numel() for value in tagger.state_dict().values())


def describe_shape(shape: TaggerConfig) -> dict[str, float]:
    """The numbers of a shape by their names, for a message."""
    return {name: float(value) for name, value in asdict(shape).items()}


def read_shape(kind: str, numbers: Mapping[str, float]) -> TaggerConfig:
    """The shape that a message describes.

    Raises:
        ConfigurationError: no kind of tagger that can be learnt together has that name, or it has other numbers.
    """
    # Sites learn together from what the construction shows of words; a vocabulary of pieces is in no message.
    known = [name for name, tagger in TAGGERS.items() if not tagger.reads_words]
    if kind not in known:
        raise ConfigurationError(
            f"expected a kind of tagger among {', '.join(known)}, got another; update deid-commons"
        )
    config = TAGGERS[kind].config_type
    named = {field.name: field.type for field in fields(config)}
    if set(numbers) != set(named):
        raise ConfigurationError(f"{kind}: expected {', '.join(sorted(named))}, got others; update deid-commons")
    read: dict[str, Any] = {}
    for name, value in numbers.items():
        whole = named[name] in ("int", int)
        if whole and value != int(value):
            raise ConfigurationError(f"{kind}: expected a whole number for {name}; refuse the message")
        read[name] = int(value) if whole else float(value)
    return config(**read)
