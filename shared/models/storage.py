"""Weights to and from disk: safetensors beside a JSON description, never anything that is unpickled.

A hospital loads what a stranger published. So the file must hold exactly the tensors of the model that its description
builds, in shape and type, all finite; anything else is refused, and what its header tells, before any weight is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn
from torch.overrides import TorchFunctionMode

from foundation.files import write_bytes, write_text
from foundation.os_errors import storage_error
from shared.errors import ConfigurationError, ModelError
from shared.models.representer import Representer, RepresenterConfig
from shared.models.token_local import TokenLocal, TokenLocalConfig

Model = TypeVar("Model", bound=nn.Module)
Config = TypeVar("Config")


def save_representer(representer: Representer | TokenLocal, folder: Path) -> None:
    """Write representer.safetensors and representer.json into a folder."""
    # Earlier versions know no such setting, and read what does without it.
    settings = {name: value for name, value in asdict(representer.config).items() if (name, value) != ("normalised", 0)}
    save_model(representer, settings | {"kind": representer.kind}, folder, "representer")


def load_representer(folder: Path) -> Representer | TokenLocal:
    """The frozen representer of a folder.

    Raises:
        ModelError: a file is missing or damaged, or the two do not belong together.
    """
    description = read_description(folder, "representer")
    kind = description.pop("kind", None)
    if kind == TokenLocal.kind:
        # Version 0.1 did not write it.
        described = {"fraction_bits": 0} | description
        return load_model(folder, "representer", described, TokenLocalConfig, TokenLocal)
    if kind == Representer.kind:
        described = {"normalised": 0} | description
        return load_model(folder, "representer", described, RepresenterConfig, Representer)
    raise ModelError("representer.json: expected a kind of representer that this version knows; update deid-commons")


def save_model(model: nn.Module, description: dict[str, float | str], folder: Path, name: str) -> None:
    """Write a model's weights and its description into a folder, as NAME.safetensors and NAME.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: tensor.detach().contiguous() for key, tensor in model.state_dict().items()}
    write_bytes(folder / f"{name}.safetensors", save(tensors), private=False)
    write_text(folder / f"{name}.json", json.dumps(description, indent=1, sort_keys=True), private=False)


def load_model(
    folder: Path,
    name: str,
    description: dict[str, object],
    describe: Callable[..., Config],
    build: Callable[[Config], Model],
) -> Model:
    """The frozen model of a folder, ready for use.

    Args:
        folder: with NAME.safetensors.
        name: of the files.
        description: as `read_description` gives it, without what is no setting of the model.
        describe: dataclass of the model's settings, each a number.
        build: makes the model of them.

    Raises:
        ModelError: the weights are missing or damaged, or not those that are described.
    """
    config = _config(f"{name}.json", description, describe)
    path = folder / f"{name}.safetensors"
    # So that a description of a network beyond all bounds is found out for free.
    with without_memory():
        expected = build(config).state_dict()
    if sum(tensor.nbytes for tensor in expected.values()) > MOST_WEIGHTS_BYTES:
        raise ModelError(f"{name}.json: expected a model of at most {MOST_WEIGHTS_BYTES} bytes; pull or train it again")
    tensors = _read_tensors(path, name, expected)
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
        raise ModelError(f"{path.name}: expected finite weights, got NaN or infinity; pull or train it again")
    model = build(config)
    model.load_state_dict(tensors)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model.eval()


@contextmanager
def without_memory() -> Iterator[None]:
    """Networks that are built in the block have shapes, no memory for their weights, and nothing drawn for them."""
    with torch.device("meta"), _Undrawn():
        yield


class _Undrawn(TorchFunctionMode):
    """Draws no normal numbers on the device `meta`: to do that, torch loads what compiles networks, which takes seconds."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        return named["tensor"] if func is nn.init.normal_ else func(*args, **named)


def _read_tensors(path: Path, name: str, expected: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a file, read only if its size and its header tell of just those that are expected."""
    others = ModelError(f"{path.name}: its tensors are not those that {name}.json describes; pull or train it again")
    try:
        # Opening it takes as much of the memory's account as the file is long.
        if path.stat().st_size > sum(tensor.nbytes for tensor in expected.values()) + _MAX_HEADER_BYTES:
            raise others
        with safe_open(path, framework="pt") as file:
            slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118 - it is no mapping
            came = {key: (tuple(found.get_shape()), found.get_dtype()) for key, found in slices.items()}
            if came != {key: (tuple(one.shape), _TYPES.get(one.dtype)) for key, one in expected.items()}:
                raise others
            return {key: file.get_tensor(key) for key in came}
    except FileNotFoundError as error:
        raise ModelError(
            f"{path.name}: expected the weights of the {name} here, found no file; pull or train it again"
        ) from error
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path.name}: expected safetensors, got a damaged file; pull or train it again") from error


MOST = "most"
"""In the metadata of a setting: how large it may be, where that is more than of others."""
MOST_WEIGHTS_BYTES = 1 << 30
"""No model's weights are more."""
# No other number of a description is larger, and no description longer.
_MAX_SIZE = 8192
_MAX_DESCRIPTION_BYTES = 64 << 10
_MAX_HEADER_BYTES = 1 << 20
# As safetensors names them; a model of ours has no others.
_TYPES = {torch.float32: "F32", torch.float16: "F16", torch.int64: "I64"}


def read_description(folder: Path, name: str) -> dict[str, object]:
    """The description of a model, the JSON object in NAME.json.

    Raises:
        ModelError: the file is missing or damaged.
        StorageError: it can't be read.
    """
    path = folder / f"{name}.json"
    try:
        with path.open("rb") as file:
            values = json.loads(file.read(_MAX_DESCRIPTION_BYTES))
    except FileNotFoundError as error:
        raise ModelError(
            f"{path.name}: expected a description of the model here, found no file; pull or train it again"
        ) from error
    except OSError as error:
        raise storage_error(path, error) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name}: expected JSON; pull or train it again") from error
    if not isinstance(values, dict):
        raise ModelError(f"{path.name}: expected the settings of a model; pull or train it again")
    return values


def _config(name: str, values: dict[str, object], describe: Callable[..., Config]) -> Config:
    """The settings of a model, each a number within bounds."""
    try:
        settings = {field.name: field for field in fields(describe)}  # type: ignore[arg-type]
        if set(values) != set(settings):
            raise ConfigurationError("unknown or missing settings")
        for setting, field in settings.items():
            value, kind = values[setting], field.type
            whole = isinstance(value, int) and not isinstance(value, bool)
            number = whole or (kind == "float" and isinstance(value, float))
            if not (number and value <= field.metadata.get(MOST, _MAX_SIZE)):
                raise ConfigurationError(f"{setting} is no {kind} within bounds")
        return describe(**values)
    except (ConfigurationError, TypeError) as error:
        raise ModelError(f"{name}: expected the settings of this model; pull or train it again ({error})") from error
