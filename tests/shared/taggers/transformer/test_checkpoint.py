"""A checkpoint's network is read as the library reads it, and what can't be trusted in its folder is refused in one clear line."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from shared.errors import ConfigurationError, MissingExtraError, ModelError
from shared.taggers.transformer import library
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.transformer import Transformer
from tests.shared.taggers.transformer.made import (
    POSITIONS,
    VOCABULARY,
    batch_of,
    change_json,
    make_checkpoint,
    sentences,
    tokenizer,
)

TEXT = "the patient saw Dr Namea Nameb on a day . 12"


def begin(folder: Path, **settings: Any) -> Transformer:
    return start_from_checkpoint(folder, 10, 5, seed=1, **settings)


def states(tagger: Transformer, *lines: str) -> torch.Tensor:
    """What the layer of tags is given of the words of a batch."""
    seen: list[torch.Tensor] = []
    with tagger.output.register_forward_pre_hook(lambda module, given: seen.append(given[0])), torch.no_grad():
        tagger.scores(batch_of(tagger, sentences(*lines)))
    return seen[0]


@pytest.mark.parametrize("heads", [False, True], ids=["alone", "with layers for other tasks"])
def test_words_get_the_states_that_the_library_computes_for_their_first_pieces(heads: bool, tmp_path: Path) -> None:
    from tokenizers import Tokenizer
    from transformers import BertModel

    folder = make_checkpoint(tmp_path / "made", heads=heads)
    theirs = BertModel.from_pretrained(folder, local_files_only=True, use_safetensors=True).eval()
    cut = Tokenizer.from_str(json.dumps(tokenizer())).encode(
        [*TEXT.split(), "Xyz7"], is_pretokenized=True, add_special_tokens=False
    )
    first = [cut.word_ids.index(word) for word in range(len(TEXT.split()) + 1)]
    ids = [VOCABULARY.index("[CLS]"), *cut.ids, VOCABULARY.index("[SEP]")]
    with torch.no_grad():
        expected = theirs(torch.tensor([ids])).last_hidden_state[0, [1 + place for place in first]]
    found = states(begin(folder), TEXT + " Xyz7", "a day")
    torch.testing.assert_close(found[0], expected, atol=1e-5, rtol=1e-5)
    assert expected.std() > 0.1


def test_the_settings_are_those_of_the_paper_as_far_as_the_network_has_positions(made: Path) -> None:
    config = begin(made).config
    assert (config.dropout, config.crf, config.window) == (0.1, 0, POSITIONS)
    assert (config.overlap, begin(made, window=30).config.overlap) == ((POSITIONS - 2) // 2, 14)
    assert begin(made, window=30, overlap=4, crf=1).config.overlap == 4
    with pytest.raises(ConfigurationError):
        begin(made, window=POSITIONS + 1)


def test_the_layer_of_tags_is_drawn_from_the_seed_alone(made: Path) -> None:
    before = torch.get_rng_state()
    one, same = begin(made), begin(made)
    assert torch.equal(one.output.weight, same.output.weight)
    assert not torch.equal(one.output.weight, start_from_checkpoint(made, 10, 5, seed=2).output.weight)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "training_args.bin", "head.pt", "a.pkl", "model.ckpt"])
def test_a_folder_with_a_pickle_is_refused(copied: Path, name: str) -> None:
    (copied / name).write_bytes(b"\x80\x04.")
    with pytest.raises(ModelError, match=f"^{name}: expected a checkpoint without pickles, got .*; remove it[^\n]*$"):
        begin(copied)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model_type": "gpt2"}, "expected a model_type among bert, "),
        ({"model_type": None}, "expected a model_type among bert, "),
        ({"auto_map": {"AutoModel": "modeling.Own"}}, "names a program"),
        ({"trust_remote_code": True}, "names a program"),
        ({"hidden_act": "own"}, "expected an activation"),
        ({"is_decoder": True}, "is_decoder"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"pad_token_id": 3}, "begin, end and fill"),
        ({"hidden_size": "16"}, "hidden_size as a whole number"),
        ({"num_attention_heads": 5}, "share evenly"),
        ({"num_hidden_layers": 10**9}, "at most 48 layers"),
        ({"vocab_size": 3}, "config.json"),
        ({"hidden_size": 2048, "num_hidden_layers": 48, "intermediate_size": 8192}, "at most 1024 MiB"),
    ],
    ids=str,
)
def test_a_configuration_of_another_network_or_of_a_program_is_refused(
    copied: Path, changed: dict[str, object], said: str
) -> None:
    change_json(copied / "config.json", **changed)
    with pytest.raises(ModelError, match=said) as refused:
        begin(copied)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "changed", [{"hidden_size": 32}, {"num_hidden_layers": 3}, {"intermediate_size": 8}, {"vocab_size": 999}], ids=str
)
def test_weights_of_other_sizes_than_described_are_refused(copied: Path, changed: dict[str, object]) -> None:
    change_json(copied / "config.json", **changed)
    with pytest.raises(ModelError, match=r"model\.safetensors: its weights are not those that config\.json describes"):
        begin(copied)


def spoil(weights: dict[str, torch.Tensor]) -> None:
    weights["embeddings.word_embeddings.weight"][0, 0] = torch.nan


@pytest.mark.parametrize(
    "change",
    [
        spoil,
        lambda weights: weights.pop("embeddings.LayerNorm.weight"),
        lambda weights: weights.update({name: one.double() for name, one in weights.items()}),
    ],
    ids=["not finite", "one missing", "another type"],
)
def test_weights_that_are_damaged_are_refused(
    copied: Path, change: Callable[[dict[str, torch.Tensor]], object]
) -> None:
    weights = load_file(copied / "model.safetensors")
    change(weights)
    save_file(weights, copied / "model.safetensors")
    with pytest.raises(ModelError, match=r"^model\.safetensors"):
        begin(copied)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "empty", "noise"])
def test_a_missing_or_damaged_file_is_named(copied: Path, name: str, damage: str) -> None:
    path = copied / name
    path.write_bytes(b"" if damage == "empty" else b"\x93NUMPY" * 9)
    if damage == "missing":
        path.unlink()
    with pytest.raises(ModelError, match=f"^{name}: expected"):
        begin(copied)


def test_no_network_is_tried(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> object:
        raise AssertionError("a network was tried")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    change_json(copied / "config.json", _name_or_path="somebody/something")
    tagger = begin(copied)
    tagger.decode(batch_of(tagger, sentences(TEXT)))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    # By which `pull` tells it from a release that is damaged.
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[transformers\]'"):
        library.required("transformers")
