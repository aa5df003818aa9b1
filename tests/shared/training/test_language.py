"""The language model: what it predicts, that a training that was cut ends in the same bits, and that damaged files are refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from shared.errors import ConfigurationError, ModelError, TrainingError
from shared.models.language_model import (
    LanguageModel,
    LanguageModelConfig,
    load_language_model,
    save_language_model,
)
from shared.text.spelling import spellings
from shared.training import language
from shared.training.language import LanguageSettings, LanguageTraining, train_language_model

SETTINGS = LanguageSettings(units=10, epochs=2, outputs=20, batch=4, learning_rate=1e-2)
WEIGHTS, DESCRIPTION = "language.safetensors", "language.json"


def texts(count: int = 110, seed: int = 0) -> list[str]:
    """Nonsense whose next word follows from the one before, but for the first."""
    chance = np.random.default_rng(seed)
    chain = {"a": "red", "b": "blue", "red": "fox", "blue": "sea", "fox": ".", "sea": "."}
    found = []
    for _ in range(count):
        words = [str(chance.choice(["a", "b"]))]
        while words[-1] in chain:
            words.append(chain[words[-1]])
        found.append(" ".join(words))
    return found


@pytest.fixture(scope="module")
def trained() -> LanguageTraining:
    return train_language_model(texts(), replace(SETTINGS, epochs=4), seed=3)


def weights(trained: LanguageTraining) -> dict[str, torch.Tensor]:
    return dict(trained.model.state_dict())


def test_it_learns_what_follows_and_says_how_well_against_counting(trained: LanguageTraining) -> None:
    # Every fiftieth of 110 sentences, that is two of four tokens, is held out.
    assert (trained.tokens, trained.words) == (108 * 4, 7)
    learned = [one.split() for number, one in enumerate(texts(), 1) if number % 50]
    # Behind each word and before it: every word but the first, every word but the last, and an end each.
    targets = Counter(target for one in learned for target in (*one[1:], "", "", *one[:-1]))
    held = [one.split() for number, one in enumerate(texts(), 1) if number % 50 == 0]
    asked = [target for one in held for target in (*one[1:], "", "", *one[:-1])]
    # Two classes more may be asked for than there are different words: the rare ones, and the end.
    chances = [(targets[one] + 1) / (targets.total() + 7 + 2) for one in asked]
    assert trained.by_frequency == pytest.approx(math.exp(-float(np.mean(np.log(chances)))))
    # The chain tells every word; four passes have learned most of it.
    assert trained.perplexity is not None
    assert 1 < trained.perplexity < 3
    assert trained.by_frequency is not None
    assert trained.by_frequency > 6


def test_without_enough_sentences_nothing_is_held_out() -> None:
    found = train_language_model(texts(20), replace(SETTINGS, epochs=1), seed=3)
    assert (found.perplexity, found.by_frequency, found.tokens) == (None, None, 80)


def test_no_text_is_one_clear_line() -> None:
    with pytest.raises(TrainingError, match="got none"):
        train_language_model(["", " \n"], SETTINGS, seed=1)


class _CutError(Exception):
    pass


def test_a_training_that_was_cut_ends_in_the_same_bits(tmp_path: Path) -> None:
    whole = weights(train_language_model(texts(), SETTINGS, seed=5))
    kept, steps = tmp_path / "kept", 27

    def cut(stage: str, done: int, total: int) -> None:
        assert total == 2 * steps
        if done > steps:
            raise _CutError

    with pytest.raises(_CutError):
        train_language_model(texts(), SETTINGS, seed=5, progress=cut, checkpoint=kept)
    told: list[int] = []
    again = train_language_model(
        texts(), SETTINGS, seed=5, progress=lambda stage, done, total: told.append(done), checkpoint=kept
    )
    # The first of two epochs is not learned again.
    assert told[0] == steps
    assert len(told) == steps + 1
    assert all(torch.equal(value, whole[name]) for name, value in weights(again).items())
    for others, settings, seed in (
        (texts(109), SETTINGS, 5),
        (texts(), replace(SETTINGS, outputs=3), 5),
        (texts(), SETTINGS, 6),
    ):
        with pytest.raises(ConfigurationError, match="another one"):
            train_language_model(others, settings, seed=seed, checkpoint=kept)


def test_padding_changes_nothing_and_a_word_is_itself_in_any_company(trained: LanguageTraining) -> None:
    model = trained.model
    long, short = ["a", "red", "fox", "."], ["b", "blue"]
    words = model.words(torch.from_numpy(spellings([*long, *short, "blue", "blue"])))
    torch.testing.assert_close(words[5], words[6])
    both = model.contexts(words.view(2, 4, -1), torch.tensor([4, 2]))
    alone = model.contexts(words[4:6][None], torch.tensor([2]))
    torch.testing.assert_close(both[1, :2], alone[0])
    torch.testing.assert_close(
        both[0], (torch.cat([words[:4], words[:4]], 1) + model.states(words[:4][None], torch.tensor([4]))[0]) / 2
    )


def test_a_state_has_seen_nothing_of_what_it_predicts(trained: LanguageTraining) -> None:
    def states(*words: str) -> torch.Tensor:
        read = trained.model.words(torch.from_numpy(spellings(words)))
        return trained.model.states(read[None], torch.tensor([len(words)]))[0]

    first, second = states("a", "red", "fox"), states("a", "red", "sea")
    units = SETTINGS.units
    torch.testing.assert_close(first[:2, :units], second[:2, :units])
    assert not torch.allclose(first[:2, units:], second[:2, units:])


def test_long_sentences_are_cut_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_LONGEST_SENTENCE", 3)
    read = language._Texts(["one two three four five six seven", "one two three"], 5)
    assert read.lengths.tolist() == [3, 3, 1, 3]
    assert read.ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 0, 1, 2]
    # The boundary is 0, what is rare 1, and the commonest come first.
    assert read.classes.tolist() == [2, 3, 4, 5, 6, 1, 1]


def test_what_is_saved_is_loaded_frozen_and_gives_the_same(trained: LanguageTraining, tmp_path: Path) -> None:
    save_language_model(trained.model, tmp_path)
    loaded = load_language_model(tmp_path)
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    spelled = torch.from_numpy(spellings(["red", "fox"]))
    assert torch.equal(loaded.words(spelled), trained.model.words(spelled))
    assert json.loads((tmp_path / DESCRIPTION).read_text()) == {"kind": "signs-lstm", "units": 10}


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_a_damaged_file_is_refused(name: str, damage: str, tmp_path: Path) -> None:
    save_language_model(LanguageModel(LanguageModelConfig(3)), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    path.write_bytes({"missing": b"", "empty": b"", "cut": data[:-7], "noise": b"\x93NUMPY" + data[6:]}[damage])
    if damage == "missing":
        path.unlink()
    with pytest.raises(ModelError):
        load_language_model(tmp_path)


@pytest.mark.parametrize(
    "settings", [{"units": 4}, {"units": 0}, {"units": "3"}, {"kind": "crystal ball"}, {"more": 1}]
)
def test_a_description_of_another_model_is_refused(settings: dict[str, object], tmp_path: Path) -> None:
    save_language_model(LanguageModel(LanguageModelConfig(3)), tmp_path)
    path = tmp_path / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    with pytest.raises(ModelError):
        load_language_model(tmp_path)


def test_weights_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    save_language_model(LanguageModel(LanguageModelConfig(3)), tmp_path)
    tensors = {name: tensor.clone() for name, tensor in load_file(tmp_path / WEIGHTS).items()}
    tensors["word.bias"][0] = torch.nan
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(ModelError, match="finite"):
        load_language_model(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [{"units": 0}, {"epochs": 0}, {"outputs": 0}, {"batch": 0}, {"learning_rate": 0.0}, {"clip": 0.0}, {"decay": 1.1}],
    ids=str,
)
def test_settings_that_can_not_work_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        LanguageSettings(**wrong)  # type: ignore[arg-type]
