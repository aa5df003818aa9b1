"""Kinds of taggers in the whole loop: trained on shares, measured, released, pulled and used, one after another."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from torch import nn
from torch.overrides import TorchFunctionMode

from aggregator.training.head import HeadOptions
from aggregator.training.kinds import TaggerOptions, recipe_of
from shared.errors import ConfigurationError
from shared.models.language_model import LanguageModel, LanguageModelConfig, load_language_model, save_language_model
from shared.taggers.khin2018 import Khin2018
from shared.taggers.registry import DEFAULT, TAGGERS, load_head
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.transformer import Transformer
from shared.training.fine_tuning.recipe import RECIPE
from shared.training.tagging import TaggingConfig
from tests.loop import Loop, done, hospital, provider, refused, train_head, values
from tests.shared.taggers.transformer.made import make_checkpoint

KINDS = ("khin2018", "transformer", DEFAULT)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, ...]]:
    """What is typed for each kind."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "language").mkdir()
    save_language_model(LanguageModel(LanguageModelConfig(4)), folder / "language")
    checkpoint = make_checkpoint(folder / "checkpoint")
    return {
        "khin2018": ("--language-model", folder / "language"),
        "transformer": ("--checkpoint", checkpoint, "--window", 30, "--crf", "--batch", 16),
        DEFAULT: (),
    }


def test_every_kind_goes_the_whole_way_whatever_kind_the_last_release_has(
    loop: Loop, given: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    at = ("--workspace", loop.provider)
    for kind in KINDS:
        # What is measured beside the head is so for every kind that reads words: of each of the two something.
        influence, points = "fast" if kind == "khin2018" else "none", kind == "transformer"
        measured = () if points else ("--no-operating-points",)
        asked = ("--tagger", kind, "--epochs", 1, *given[kind], *measured, "--json")
        trained = values(train_head(loop, *asked, influence=influence))
        assert trained["tagger"]["kind"] == kind == load_head(loop.provider / "head").kind
        digests = [trained["tagger"][name] for name in ("language model", "checkpoint")]
        assert [one is not None for one in digests] == [kind == "khin2018", kind == "transformer"]
        # It was compared with a head of another kind, on the same sentences.
        assert trained["compared"]["changes"][0]["tokens"] > 50
        if kind == "transformer":
            head = load_head(loop.provider / "head")
            assert isinstance(head, Transformer)
            assert (head.config.window, head.config.crf, trained["recipe"]["batch"]) == (30, 1, 16)
            assert (trained["tagger"]["window"], trained["tagger"]["crf"]) == (30, 1)
        if influence == "fast":
            # By small heads of the default kind, which read vectors of the same shares.
            assert {one["site"] for one in trained["influence"]["sites"]} == {"north", "south"}
        assert (trained["operating_points"] or {}).get("hospitals") == (3 if points else None)
        told = done(provider("release", "--accept-drop", "--approver", "A. Weiss", *at)).stdout
        # Not every hospital has what a transformer is read with.
        assert ("without the extra `transformers`" in told) == (kind == "transformer")
        fourth = ("--workspace", loop.site("fourth"))
        done(hospital("pull", *fourth))
        done(hospital("deid", loop.notes("fourth"), "--out", tmp_path / kind, *fourth))
        assert len(list((tmp_path / kind).iterdir())) == 24


def test_what_a_kind_begins_with_decides_the_head(loop: Loop, given: dict[str, tuple[object, ...]]) -> None:
    alone = ("--epochs", 1, "--no-hold-out", "--no-operating-points", "--no-last-word")
    done(train_head(loop, "--tagger", "khin2018", *given["khin2018"], *alone))
    model = load_head(loop.provider / "head")
    assert isinstance(model, Khin2018)
    assert model.config.context == 4
    assert not (loop.provider / "head" / "pieces.json").exists()
    refused(train_head(loop, "--tagger", "khin2018", "--defence", "median", *alone), 2, "--defence median")


def test_a_description_is_tried_without_a_draw(given: dict[str, tuple[object, ...]]) -> None:
    """To draw for weights that have no memory torch loads what compiles networks: seconds for whoever loads a head."""
    drawn = Counter[bool]()

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is nn.init.normal_:
                drawn[kwargs["tensor"].is_meta] += 1
            return func(*args, **(kwargs or {}))

    with Watch():
        load_language_model(Path(str(given["khin2018"][1])))
        start_from_checkpoint(Path(str(given["transformer"][1])), 8, 5, 0)
    assert drawn[False]
    assert not drawn[True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "transformer"}, "give both, or neither"),
        ({"checkpoint": Path("a")}, "give both, or neither"),
        ({"kind": "transformer", "checkpoint": Path("a"), "language_model": Path("b")}, "--tagger khin2018"),
        ({"language_model": Path("a")}, "--tagger khin2018"),
        ({"kind": "crf"}, "expected one of"),
        ({"window": 20}, "--window and --crf are of --tagger transformer"),
        ({"kind": "khin2018", "crf": True}, "--window and --crf are of --tagger transformer"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        TaggerOptions(**options)  # type: ignore[arg-type]


def test_every_file_of_what_a_kind_begins_with_decides_the_head(given: dict[str, tuple[object, ...]]) -> None:
    checkpoint = Path(str(given["transformer"][1]))
    options = TaggerOptions("transformer", checkpoint=checkpoint)
    seen = {options.facts()["checkpoint"]}
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        before = (checkpoint / name).read_bytes()
        (checkpoint / name).write_bytes(before + b" ")
        seen.add(options.facts()["checkpoint"])
        (checkpoint / name).write_bytes(before)
    assert len(seen) == 4
    assert options.facts()["checkpoint"] in seen


def test_a_transformer_is_trained_as_its_paper_says_and_the_others_as_ours() -> None:
    assert {kind: recipe_of(kind, 3, 7).learning_rate for kind in TAGGERS} == {
        "bilstm-crf": TaggingConfig().learning_rate,
        "khin2018": TaggingConfig().learning_rate,
        "transformer": RECIPE.learning_rate,
    }
    assert (recipe_of("transformer", 3, 7).epochs, recipe_of("transformer", 3, 7).seed) == (3, 7)
    assert [recipe_of(kind, 3, 7).batch for kind in (DEFAULT, "transformer")] == [32, 64]
    assert recipe_of("transformer", 3, 7, batch=5).batch == 5
    assert json.loads(json.dumps(HeadOptions().tagger.facts()))["kind"] == DEFAULT
