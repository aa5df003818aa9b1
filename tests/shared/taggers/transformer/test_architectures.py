"""Every architecture, with the kind of pieces that its checkpoints have, reads words as the library reads their sentence."""

from __future__ import annotations

import json
import string
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from shared.taggers.registry import load_head, save_head
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.config import ARCHITECTURES
from shared.taggers.transformer.library import required
from tests.shared.taggers.transformer.made import SIZES, batch_of, sentences, tokenizer

TEXT = "the patient saw Dr Namea Öberg on 12 ."
CLASSES = ("Bert", "Roberta", "Camembert", "XLMRoberta", "DistilBert", "Electra")
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
LIBRARY_NAMES = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}


def bytes_in_pairs() -> dict[str, Any]:
    """The parts of a tokenizer as RoBERTa has it: bytes that are merged; a word by itself is not behind a space there."""
    library = required("tokenizers")
    letters = sorted(library.pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "p"), ("e", "n"), ("Ġ", "N")]
    names = [*MARKS, *letters, *("".join(pair) for pair in merges)]
    made = library.Tokenizer(library.models.BPE({name: place for place, name in enumerate(names)}, merges))
    made.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return dict(json.loads(made.to_str()))


def likeliest_pieces() -> dict[str, Any]:
    """The parts of a tokenizer as CamemBERT and XLM-RoBERTa have it: pieces with their likelihoods."""
    library = required("tokenizers")
    scored = [(mark, 0.0) for mark in MARKS] + [("▁", -2.0), ("▁the", -1.0), ("ent", -1.5)]
    scored += [(letter, -4.0) for letter in string.ascii_letters + string.digits + "."]
    made = library.Tokenizer(library.models.Unigram(scored, 3, False))
    made.pre_tokenizer = library.pre_tokenizers.Metaspace()
    whole: dict[str, Any] = json.loads(made.to_str())
    harmless = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    return whole | {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, harmless]}}


def parts_of(architecture: str) -> dict[str, Any]:
    if architecture in ("bert", "distilbert", "electra"):
        return tokenizer()
    return bytes_in_pairs() if architecture == "roberta" else likeliest_pieces()


@pytest.mark.parametrize(("architecture", "name"), list(zip(ARCHITECTURES, CLASSES, strict=True)), ids=ARCHITECTURES)
def test_it_gives_words_the_states_of_the_library(architecture: str, name: str, tmp_path: Path) -> None:
    library, parts = required("transformers"), parts_of(architecture)
    cutter = import_module("tokenizers").Tokenizer.from_str(json.dumps(parts))
    own = MARKS if cutter.token_to_id("[CLS]") is None else ("[CLS]", "[PAD]", "[SEP]", "[UNK]")
    begin, padding, end, _ = map(cutter.token_to_id, own)
    sizes = LIBRARY_NAMES if architecture == "distilbert" else SIZES
    more = {"embedding_size": 8} if architecture == "electra" else {}
    settings = getattr(library, f"{name}Config")(
        vocab_size=cutter.get_vocab_size(), max_position_embeddings=80, pad_token_id=padding, **sizes, **more
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        theirs = getattr(library, f"{name}Model")(settings).eval()
    theirs.save_pretrained(tmp_path / "made")
    (tmp_path / "made" / "tokenizer.json").write_text(json.dumps(parts))

    if parts["pre_tokenizer"]["type"] == "ByteLevel":
        # As the library is asked for words: every one behind a space.
        cutter.pre_tokenizer = import_module("tokenizers").pre_tokenizers.ByteLevel(add_prefix_space=True)
    cut = cutter.encode(TEXT.split(), is_pretokenized=True, add_special_tokens=False)
    first = [1 + cut.word_ids.index(word) for word in range(len(TEXT.split()))]
    with torch.no_grad():
        expected = theirs(torch.tensor([[begin, *cut.ids, end]])).last_hidden_state[0, first]

    started = start_from_checkpoint(tmp_path / "made", 10, 5, seed=1)
    save_head(started, tmp_path / "head")
    for tagger in (started, load_head(tmp_path / "head")):
        seen: list[torch.Tensor] = []
        tagger.output.register_forward_pre_hook(lambda module, given, seen=seen: seen.append(given[0]))  # type: ignore[union-attr]
        with torch.no_grad():
            tagger.scores(batch_of(tagger, sentences(TEXT, "Dr Namea")))
        torch.testing.assert_close(seen[0][0], expected, atol=1e-5, rtol=1e-5)
