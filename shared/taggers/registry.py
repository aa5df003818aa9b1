"""The kinds of tagger by name, and heads to and from disk. A new kind is a file beside this one and a line in TAGGERS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from shared.errors import ConfigurationError, ModelError
from shared.models.storage import read_description, save_model
from shared.taggers.bilstm_crf import BiLSTMCRF
from shared.taggers.khin2018 import Khin2018
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.taggers.transformer.transformer import Transformer

TAGGERS: Mapping[str, type[Tagger]] = {tagger.kind: tagger for tagger in (BiLSTMCRF, Khin2018, Transformer)}
DEFAULT = BiLSTMCRF.kind
"""The kind of a head that does not say which it is: heads did not, when there was one kind."""


def default_config(inputs: int, tags: int, **settings: Any) -> TaggerConfig:
    """The shape of a tagger of the default kind.

    Args:
        inputs: size of a token's vector.
        tags: number of tags of the label scheme.
        settings: what shall not be as the paper has it.
    """
    return replace(TAGGERS[DEFAULT].config_type(inputs, tags), **settings)


def build_tagger(config: TaggerConfig) -> Tagger:
    """A tagger of the kind that a config is of, with fresh weights.

    Raises:
        ConfigurationError: no kind has such a config.
    """
    for tagger in TAGGERS.values():
        if type(config) is tagger.config_type:
            return tagger(config)
    raise ConfigurationError(f"expected the config of a tagger among {', '.join(TAGGERS)}, got {type(config).__name__}")


def save_head(head: Tagger, folder: Path) -> None:
    """Write head.safetensors and head.json into a folder."""
    kind = {} if head.kind == DEFAULT else {"kind": head.kind}
    save_model(head, asdict(head.config) | kind, folder, "head")
    head.save_words(folder)


def load_head(folder: Path) -> Tagger:
    """The head of a folder, ready to tag.

    Raises:
        ModelError: a file is missing or damaged, or the two do not belong together.
    """
    description = read_description(folder, "head")
    kind = description.pop("kind", DEFAULT)
    if not isinstance(kind, str) or kind not in TAGGERS:
        raise ModelError("head.json: expected a kind of tagger that this version knows; update deid-commons")
    return TAGGERS[kind].load(folder, description)
