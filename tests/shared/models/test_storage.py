"""Weights that a stranger published: whatever is not exactly the described model is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode

from foundation.errors import StorageError
from shared.errors import ModelError
from shared.models import storage
from shared.models.representer import Representer, RepresenterConfig
from shared.models.storage import load_representer, save_representer
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.registry import save_head
from tests.protocols.payload.blocks import full_disk
from tests.shared.tensor_reading import watch_tensors

WEIGHTS, DESCRIPTION = "representer.safetensors", "representer.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_representer(Representer(RepresenterConfig(5, dim=4, hidden=6)), tmp_path)
    return tmp_path


def described(folder: Path, **settings: object) -> None:
    path = folder / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def weighted(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)


def test_what_is_saved_is_loaded_frozen(tmp_path: Path) -> None:
    representer = Representer(RepresenterConfig(5, dim=4, hidden=6, output_noise=0.07))
    save_representer(representer, tmp_path / "made")
    loaded = load_representer(tmp_path / "made")
    assert loaded.config == representer.config
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    for name, tensor in representer.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name])


def test_a_description_is_tried_without_computing_its_noise(folder: Path) -> None:
    """To compute on the device `meta` torch loads what compiles networks: two seconds for whoever loads a representer."""
    computed: list[bool] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in (torch.expm1, torch.log):
                computed.append(args[0].is_meta)
            return func(*args, **(kwargs or {}))

    with Watch():
        load_representer(folder)
    assert computed
    assert not any(computed)


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_a_damaged_file_is_refused(name: str, damage: str, folder: Path) -> None:
    path = folder / name
    data = path.read_bytes()
    path.write_bytes({"missing": b"", "empty": b"", "cut": data[:-7], "noise": b"\x93NUMPY" + data[6:]}[damage])
    if damage == "missing":
        path.unlink()
    with pytest.raises(ModelError):
        load_representer(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_that_is_not_finite_is_refused(value: float, folder: Path) -> None:
    def spoil(tensors: dict[str, torch.Tensor]) -> None:
        tensors["output.weight"][0, 0] = value

    weighted(folder, spoil)
    with pytest.raises(ModelError, match="finite"):
        load_representer(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.update({"output.weight": torch.zeros(5, 12)}),
        lambda tensors: tensors.update({"output.weight": tensors["output.weight"].double()}),
        lambda tensors: tensors.update({"output.weight": tensors["output.weight"].half()}),
        lambda tensors: tensors.pop("output.bias"),
        lambda tensors: tensors.update({"one.more": torch.zeros(1)}),
    ],
)
def test_other_tensors_than_described_are_refused(
    change: Callable[[dict[str, torch.Tensor]], None], folder: Path
) -> None:
    weighted(folder, change)
    with pytest.raises(ModelError, match="tensors"):
        load_representer(folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"dim": 5},
        {"dim": 0},
        {"dim": 4.0},
        {"dim": True},
        {"dim": "4"},
        {"dim": 10**9},
        {"dim": 10**400},
        {"hidden": 8192, "inputs": 8192, "dim": 8192},
        {"noise_floor": 0},
        {"noise_floor": "nan"},
        {"noise_floor": None},
        {"input_noise": float("nan")},
        {"output_noise": 1e300},
        {"output_noise": float("inf")},
        {"input_noise": 10**400},
        {"unknown": 1},
        {"noise_floor": -0.01},
    ],
)
def test_a_description_of_another_or_impossible_model_is_refused(settings: dict[str, object], folder: Path) -> None:
    described(folder, **settings)
    with pytest.raises(ModelError):
        load_representer(folder)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"inputs"', "[" * 100_000, '["dim", "hidden"]', "{}"])
def test_a_description_that_is_no_object_is_refused(text: str, folder: Path) -> None:
    (folder / DESCRIPTION).write_text(text)
    with pytest.raises(ModelError):
        load_representer(folder)


def test_a_head_is_no_representer(tmp_path: Path) -> None:
    save_head(BiLSTMCRF(BiLSTMCRFConfig(4, 5, hidden=6)), tmp_path)
    for name in ("safetensors", "json"):
        (tmp_path / f"head.{name}").rename(tmp_path / f"representer.{name}")
    with pytest.raises(ModelError):
        load_representer(tmp_path)


def test_a_full_disk_leaves_the_old_weights(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with full_disk(1000), pytest.raises(StorageError):
        save_representer(Representer(RepresenterConfig(5, dim=40, hidden=60)), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return watch_tensors(monkeypatch, storage)


def test_every_tensor_is_read_once(folder: Path, read: list[str]) -> None:
    loaded = load_representer(folder)
    assert sorted(read) == sorted(loaded.state_dict())


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.update({"output.weight": torch.zeros(5, 12)}),
        lambda tensors: tensors.update({"output.weight": tensors["output.weight"].double()}),
        lambda tensors: tensors.update({"huge": torch.zeros(1)}),
    ],
)
def test_no_weight_is_read_before_all_shapes_are_right(
    change: Callable[[dict[str, torch.Tensor]], None], folder: Path, read: list[str]
) -> None:
    weighted(folder, change)
    with pytest.raises(ModelError, match="tensors"):
        load_representer(folder)
    assert not read


def test_a_file_larger_than_any_memory_is_refused_by_its_header(folder: Path) -> None:
    shape = [1 << 20, 1 << 14]
    size = 4 * shape[0] * shape[1]
    header = json.dumps({"huge": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    with (folder / WEIGHTS).open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    with pytest.raises(ModelError, match="tensors"):
        load_representer(folder)


def test_a_model_beyond_all_bounds_is_refused_before_its_file_is_opened(folder: Path) -> None:
    described(folder, hidden=8192, inputs=8192, dim=8192)
    (folder / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=r"representer\.json: expected a model of at most"):
        load_representer(folder)


def test_a_description_without_end_is_refused(folder: Path) -> None:
    with (folder / DESCRIPTION).open("r+b") as file:
        file.truncate(1 << 36)
    with pytest.raises(ModelError, match="JSON"):
        load_representer(folder)


def test_a_representer_that_normalises_says_so_and_one_that_does_not_is_read_by_earlier_versions(
    tmp_path: Path,
) -> None:
    for normalised in (0, 1):
        save_representer(Representer(RepresenterConfig(5, dim=4, hidden=6, normalised=normalised)), tmp_path)
        assert ("normalised" in json.loads((tmp_path / DESCRIPTION).read_text())) is bool(normalised)
        loaded = load_representer(tmp_path)
        assert isinstance(loaded, Representer)
        assert loaded.config.normalised == normalised
