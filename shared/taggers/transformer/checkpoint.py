"""A transformer that others trained, from a folder on this machine: config.json, tokenizer.json and model.safetensors, as `save_pretrained` writes them.

Nothing is asked of a network, no program of a checkpoint is run, nothing is unpickled: the folder may hold no pickle at all, a configuration that names
a program is refused, and weights are read only where the file's header tells of the very sizes that the configuration does. Its own layers for other
tasks are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from foundation.os_errors import map_os_errors
from shared.errors import ConfigurationError, ModelError
from shared.models.storage import MOST_WEIGHTS_BYTES, without_memory
from shared.taggers.transformer.config import ACTIVATIONS, ARCHITECTURES, TransformerConfig
from shared.taggers.transformer.network import build_network
from shared.taggers.transformer.pieces import Pieces, read_bounded_json
from shared.taggers.transformer.transformer import Transformer

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth", ".joblib", ".h5", ".npz")
"""How files end that hold, or may hold, what is unpickled."""
_TYPES = ("F32", "F16", "BF16")
_MOST_WEIGHTS_BYTES = 4 << 30
# How a network's weights are named in files that hold other layers, too.
_PREFIXES = ("bert.", "roberta.", "distilbert.", "electra.")
_MARKS = (("[CLS]", "[SEP]", "[PAD]"), ("<s>", "</s>", "<pad>"))
# What our network does not do, and the only value that says so.
_NOT_DONE = {
    "is_decoder": False,
    "add_cross_attention": False,
    "quantization_config": None,
    "position_embedding_type": "absolute",
    "sinusoidal_pos_embds": False,
}
_NAMES = {
    "hidden": ("hidden_size", "dim"),
    "layers": ("num_hidden_layers", "n_layers"),
    "heads": ("num_attention_heads", "n_heads"),
    "inner": ("intermediate_size", "hidden_dim"),
    "positions": ("max_position_embeddings",),
    "vocabulary": ("vocab_size",),
}


def start_from_checkpoint(folder: Path, inputs: int, tags: int, seed: int, **settings: Any) -> Transformer:
    """A tagger with the weights of a checkpoint, and a fresh layer of tags.

    Args:
        folder: the checkpoint.
        inputs: as in TaggerConfig.
        tags: number of tags of the label scheme.
        seed: of the layer of tags.
        settings: of TransformerConfig that shall not be as the paper has them, such as `window` or `crf`.

    Raises:
        ModelError: a file that is missing, damaged, not of a kind that is read here, or does not belong to the others.
        ConfigurationError: settings that can't work, or the extra `transformers` is not installed.
        StorageError: a file can't be read.
    """
    _refuse_pickles(folder)
    told = read_bounded_json(folder / CONFIG)
    pieces = Pieces(read_bounded_json(folder / TOKENIZER), TOKENIZER)
    config = _config(told, pieces, inputs, tags)
    # The most that it has positions for, where that is less than the paper's.
    window = settings.get("window", min(TransformerConfig.window, config.most_window))
    overlap = min(TransformerConfig.overlap, max(window - 2, 0) // 2)
    config = replace(config, **({"window": window, "overlap": overlap} | settings))
    with without_memory():
        expected = build_network(config).state_dict()
    if sum(tensor.nbytes for tensor in expected.values()) > MOST_WEIGHTS_BYTES:
        # It would be trained for hours, and then not load.
        raise ModelError(
            f"{CONFIG}: expected a network of at most {MOST_WEIGHTS_BYTES >> 20} MiB, as large as a head may be, got a larger one; "
            "use another checkpoint"
        )
    weights = _read_weights(folder / WEIGHTS, expected)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        tagger = Transformer(config, pieces)
    tagger.network.load_state_dict(weights)
    return tagger.eval()


def _refuse_pickles(folder: Path) -> None:
    with map_os_errors(folder):
        names = sorted(path.name for path in folder.iterdir())
    for name in names:
        if name.endswith(PICKLES):
            raise ModelError(
                f"{name}: expected a checkpoint without pickles, got a file that may be one; remove it and keep {WEIGHTS}"
            )


def _config(told: Mapping[str, Any], pieces: Pieces, inputs: int, tags: int) -> TransformerConfig:
    """The shape that config.json tells of."""
    if "auto_map" in told or told.get("trust_remote_code"):
        raise ModelError(
            f"{CONFIG}: expected a network of the library, got one that names a program; use another checkpoint"
        )
    kind = told.get("model_type")
    if kind not in ARCHITECTURES:
        raise ModelError(
            f"{CONFIG}: expected a model_type among {', '.join(ARCHITECTURES)}, got another; use a checkpoint of one of these"
        )
    for name, only in _NOT_DONE.items():
        if told.get(name, only) != only:
            raise ModelError(f"{CONFIG}: expected {name} to be {only}, got another value; use another checkpoint")
    marks = [[pieces.number(mark) for mark in family] for family in _MARKS]
    begin, end, padding = next((found for found in marks if None not in found), (None, None, None))
    if begin is None or end is None or padding is None or told.get("pad_token_id", padding) != padding:
        raise ModelError(
            f"{TOKENIZER}: expected pieces that begin, end and fill a sentence, as {CONFIG} says, found others"
        )
    activation = told.get("hidden_act", told.get("activation"))
    if activation not in ACTIVATIONS:
        raise ModelError(
            f"{CONFIG}: expected an activation among {', '.join(ACTIVATIONS)}, got another; use another checkpoint"
        )
    sizes = {name: _size(told, names) for name, names in _NAMES.items()}
    epsilon = told.get("layer_norm_eps", 1e-12)
    try:
        return TransformerConfig(
            inputs,
            tags,
            architecture=ARCHITECTURES.index(kind),
            embedding=_size(told, ("embedding_size",)) if kind == "electra" else sizes["hidden"],
            types=1 if kind == "distilbert" else _size(told, ("type_vocab_size",)),
            activation=ACTIVATIONS.index(activation),
            epsilon=float(epsilon) if isinstance(epsilon, int | float) else -1.0,
            begin=begin,
            end=end,
            padding=padding,
            window=18,
            overlap=0,
            **sizes,
        )
    except ConfigurationError as error:
        raise ModelError(f"{CONFIG}: expected the shape of a network that can be built ({error})") from error


def _size(told: Mapping[str, Any], names: tuple[str, ...]) -> int:
    value = next((told[name] for name in names if name in told), None)
    if type(value) is not int:
        raise ModelError(f"{CONFIG}: expected {names[0]} as a whole number, got none; use another checkpoint")
    return value


def _read_weights(path: Path, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of the network from a file that may hold those of other layers, too, as float32."""
    others = ModelError(f"{path.name}: its weights are not those that {CONFIG} describes; use another checkpoint")
    if not path.exists():
        raise ModelError(
            f"{path.name}: expected the weights in this one file, found none; save the checkpoint as safetensors"
        )
    try:
        if path.stat().st_size > _MOST_WEIGHTS_BYTES:
            raise others
        with safe_open(path, framework="pt") as file:
            stored = {_own_name(key): key for key in file.keys()}  # noqa: SIM118 - it is no mapping
            found = {}
            for name, tensor in expected.items():
                if name not in stored:
                    raise others
                part = file.get_slice(stored[name])
                if tuple(part.get_shape()) != tuple(tensor.shape) or part.get_dtype() not in _TYPES:
                    raise others
                found[name] = file.get_tensor(stored[name]).to(torch.float32)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path.name}: expected safetensors, got a damaged file; use another checkpoint") from error
    if not all(bool(torch.isfinite(tensor).all()) for tensor in found.values()):
        raise ModelError(f"{path.name}: expected finite weights, got NaN or infinity; use another checkpoint")
    return found


def _own_name(key: str) -> str:
    """The name of a weight in the network alone, as it is called today."""
    for prefix in _PREFIXES:
        key = key.removeprefix(prefix)
    if "LayerNorm." in key:
        key = key.replace(".gamma", ".weight").replace(".beta", ".bias")
    return key
