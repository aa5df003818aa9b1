"""A checkpoint that takes a second to make: two layers of 16 numbers, and the pieces of the words of the toy notes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import Batch
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.tagger import Tagger
from tests.shared.training.toy import VECTORS, WORDS

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LETTERS = [chr(code) for code in range(33, 127)]
VOCABULARY = [*MARKS, *dict.fromkeys([*WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)])]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
POSITIONS = 40


def tokenizer(**parts: object) -> dict[str, Any]:
    """A tokenizer's file as BERT has it, with other parts where they are given."""
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {piece: number for number, piece in enumerate(VOCABULARY)},
    }
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": False,
    }
    stated: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "truncation": None,
        "padding": None,
        "post_processor": None,
    }
    cuts = {"model": model, "normalizer": normalizer, "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": None}
    return stated | cuts | parts


def make_checkpoint(folder: Path, *, heads: bool = False) -> Path:
    """A checkpoint as `save_pretrained` writes it, of BERT with random weights.

    Args:
        folder: to make.
        heads: whether it has layers for other tasks, too, beside which its own have a prefix.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import BertConfig, BertForMaskedLM, BertModel

    settings = BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=POSITIONS, pad_token_id=0, **SIZES)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(5)
        made = BertForMaskedLM(settings) if heads else BertModel(settings)
    # As random as they are made, all weights are nearly nothing, and all words look alike.
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.mul_(8)
    made.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return folder


def change_json(path: Path, **changed: object) -> None:
    """Other values in a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def sentences(*lines: str) -> TokenisedSentences:
    """Sentences of words, none of them PHI."""
    words = [line.split() for line in lines]
    lengths = np.array([len(one) for one in words], dtype=np.int64)
    return TokenisedSentences(
        [word for one in words for word in one], np.zeros(int(lengths.sum()), dtype=np.uint8), lengths
    )


def batch_of(tagger: Tagger, chunk: TokenisedSentences) -> Batch:
    """All sentences as one batch."""
    source = tagger.inputs(chunk, lambda shown: embed_sentences(shown, VECTORS))
    [batch] = source.batches(chunk.sentences)
    return batch
