"""The network of a transformer, built by the library `transformers` from numbers alone: no file of a stranger is given to it."""

from __future__ import annotations

from typing import Any

from torch import nn

from shared.taggers.transformer.config import ACTIVATIONS, TransformerConfig
from shared.taggers.transformer.library import required

# The library's names of configuration and network, by architecture.
_CLASSES = {
    "bert": "Bert",
    "roberta": "Roberta",
    "camembert": "Camembert",
    "xlm-roberta": "XLMRoberta",
    "distilbert": "DistilBert",
    "electra": "Electra",
}
# Those that have a layer of their own for whole sentences, which nothing here asks.
_WITH_POOLER = ("bert", "roberta", "camembert", "xlm-roberta")


def build_network(config: TransformerConfig) -> nn.Module:
    """A network with fresh weights, drawn from torch's global generator."""
    library, name = required("transformers"), _CLASSES[config.named]
    settings = getattr(library, f"{name}Config")(**_settings(config))
    pooler = {"add_pooling_layer": False} if config.named in _WITH_POOLER else {}
    network: nn.Module = getattr(library, f"{name}Model")(settings, **pooler)
    return network


def _settings(config: TransformerConfig) -> dict[str, Any]:
    """The numbers by the names that the library has for them."""
    common = {
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.positions,
        "pad_token_id": config.padding,
        "attn_implementation": "sdpa",
    }
    activation = ACTIVATIONS[config.activation]
    if config.named == "distilbert":
        return common | {
            "dim": config.hidden,
            "n_layers": config.layers,
            "n_heads": config.heads,
            "hidden_dim": config.inner,
            "activation": activation,
            "dropout": config.dropout,
            "attention_dropout": config.dropout,
        }
    embedding = {"embedding_size": config.embedding} if config.named == "electra" else {}
    return (
        common
        | embedding
        | {
            "hidden_size": config.hidden,
            "num_hidden_layers": config.layers,
            "num_attention_heads": config.heads,
            "intermediate_size": config.inner,
            "type_vocab_size": config.types,
            "hidden_act": activation,
            "layer_norm_eps": config.epsilon,
            "hidden_dropout_prob": config.dropout,
            "attention_probs_dropout_prob": config.dropout,
        }
    )
