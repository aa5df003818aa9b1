"""What every kind of tagger promises, tried on each that the registry names: a new kind is covered by its line there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from shared.errors import ConfigurationError, ModelError
from shared.models import lstm
from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import Batch, RaggedSentences, SentenceSource
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.registry import TAGGERS, build_tagger, load_head, save_head
from shared.taggers.tagger import Tagger, TaggerConfig, predict
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.training.toy import VECTORS, WORDS, toy

TAGS = ("O", "B-NAME", "I-NAME", "B-PLACE", "I-PLACE")
"""The toy notes have names only: the tags of places are never seen."""
WEIGHTS, DESCRIPTION = "head.safetensors", "head.json"

kinds = pytest.mark.parametrize("kind", TAGGERS)


def notes(count: int, seed: int = 0) -> TokenisedSentences:
    source = toy(count, seed)
    assert source.ids is not None
    return TokenisedSentences([WORDS[row] for row in source.ids.tolist()], source.tags, source.lengths)


def represent(chunk: TokenisedSentences) -> RaggedSentences:
    return embed_sentences(chunk, VECTORS)


SMALL = {"hidden": 12, "embedding": 12, "inner": 24, "heads": 2, "layers": 1, "vocabulary": 700}


def config_of(kind: str) -> TaggerConfig:
    """Small where it can be."""
    config = TAGGERS[kind].config_type(VECTORS.dim, len(TAGS))
    return replace(config, **{field.name: SMALL[field.name] for field in fields(config) if field.name in SMALL})


def fresh(kind: str) -> Tagger:
    """Untrained, and so of no sure opinion: with weights so large that it has some all the same."""
    tagger = build_tagger(config_of(kind)).eval()
    with torch.no_grad():
        for weight in tagger.parameters():
            weight.mul_(4)
    return tagger


def source_of(tagger: Tagger, count: int = 30, seed: int = 0) -> SentenceSource:
    return tagger.inputs(notes(count, seed), represent)


def batches_of(tagger: Tagger, size: int = 8) -> list[Batch]:
    return list(source_of(tagger).batches(size))


@cache
def train(kind: str) -> Tagger:
    """Nobody may change it."""
    config = config_of(kind)
    source = source_of(build_tagger(config), 120)
    return train_tagger(source, len(TAGS), TaggingConfig(8, batch=8, learning_rate=1e-2), shape=config)


@pytest.fixture(params=[False, True], ids=["float32", "bfloat16"])
def tolerance(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """How far two ways to the same result may be apart, in either precision of the LSTM."""
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: request.param)
    return 5e-2 if request.param else 1e-5


def inside(batch: Batch) -> torch.Tensor:
    return torch.arange(batch.inputs.shape[1])[None, :] < batch.lengths[:, None]


@kinds
def test_a_kind_is_known_by_its_name_and_its_config(kind: str) -> None:
    tagger = build_tagger(config_of(kind))
    assert type(tagger) is TAGGERS[kind]
    assert tagger.kind == kind
    assert (tagger.config, tagger.config.tags) == (config_of(kind), len(TAGS))
    assert len({one.config_type for one in TAGGERS.values()}) == len(TAGGERS)
    with pytest.raises(ConfigurationError, match=kind):
        build_tagger(TaggerConfig(4, 3))


@kinds
@pytest.mark.parametrize("setting", [{"inputs": 0}, {"tags": 1}, {"tags": 4}])
def test_a_shape_that_cannot_work_is_refused(kind: str, setting: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        replace(config_of(kind), **setting)


@kinds
def test_training_lowers_the_loss_and_finds_names(kind: str) -> None:
    def mean_loss(tagger: Tagger) -> float:
        with torch.no_grad():
            return float(torch.cat([tagger.eval().loss(batch) for batch in batches_of(tagger)]).mean())

    tagger = train(kind)
    assert mean_loss(tagger) < 0.3 * mean_loss(build_tagger(config_of(kind)))
    unseen = notes(40, seed=9)
    said = np.zeros_like(unseen.tags)
    for rows, lines in predict(tagger, tagger.inputs(unseen, represent)):
        for row, line in zip(rows.tolist(), lines, strict=True):
            assert line.dtype == np.uint8
            said[unseen.tokens_of(np.array([row]))] = line
    assert (said == unseen.tags).mean() > 0.9


@kinds
def test_outputs_have_their_types_and_shapes(kind: str) -> None:
    tagger = fresh(kind)
    for batch in batches_of(tagger):
        size, steps = len(batch.rows), int(batch.lengths[0])
        for made, shape, dtype in (
            (tagger.loss(batch), (size,), torch.float32),
            (tagger.scores(batch), (size, steps, len(TAGS)), torch.float32),
            (tagger.decode(batch), (size, steps), torch.int64),
            (tagger.marginals(batch), (size, steps, len(TAGS)), torch.float32),
        ):
            assert (tuple(made.shape), made.dtype) == (shape, dtype)
        assert tagger.loss(batch).requires_grad
        assert not tagger.marginals(batch).requires_grad
        assert (tagger.loss(batch) > -1e-4).all()


@kinds
def test_what_is_decoded_is_bio_and_o_on_padding(kind: str) -> None:
    tagger = fresh(kind)
    seen: set[str] = set()
    for batch in batches_of(tagger):
        for line, length in zip(tagger.decode(batch).tolist(), batch.lengths.tolist(), strict=True):
            assert not any(line[length:])
            names = [TAGS[tag] for tag in line[:length]]
            seen |= set(names)
            for before, after in zip(["O", *names], names, strict=False):
                assert after[0] != "I" or before[2:] == after[2:]
    assert any(name != "O" for name in seen)


@kinds
def test_marginals_are_probabilities_of_what_bio_allows(kind: str) -> None:
    tagger = fresh(kind)
    for batch in batches_of(tagger):
        found = tagger.marginals(batch)
        assert (found >= 0).all()
        torch.testing.assert_close(found.sum(2), inside(batch).float(), atol=1e-4, rtol=0)
        for tag, name in enumerate(TAGS):
            if name[0] == "I":
                assert found[:, 0, tag].max() < 1e-6
                # What goes on has begun or gone on before.
                assert (found[:, 1:, tag] <= found[:, :-1, tag] + found[:, :-1, tag - 1] + 1e-4).all()


@kinds
def test_draws_are_bio_and_as_frequent_as_marginals_say(kind: str) -> None:
    tagger = fresh(kind)
    # Fifty copies of each sentence in one batch are fifty draws of it: each for itself, as those of different sentences are.
    some = notes(8)
    copies = TokenisedSentences(some.words * 50, np.tile(some.tags, 50), np.tile(some.lengths, 50))
    [batch] = tagger.inputs(copies, represent).batches(400)
    generator = np.random.default_rng(0)
    drawn = torch.stack([tagger.draw(batch, generator) for _ in range(8)])
    assert not drawn[:, ~inside(batch)].any()
    goes_on = (drawn > 0) & (drawn % 2 == 0)
    assert not goes_on[:, :, 0].any()
    begun = (drawn[:, :, 1:] == drawn[:, :, :-1]) | (drawn[:, :, 1:] == drawn[:, :, :-1] + 1)
    assert begun[goes_on[:, :, 1:]].all()
    expected, frequency = tagger.marginals(batch), torch.nn.functional.one_hot(drawn, len(TAGS)).double().mean(0)
    for number in range(8):
        same = torch.as_tensor(batch.rows) % 8 == number
        assert same.sum() == 50
        # Five standard deviations of so many draws.
        assert (frequency[same].mean(0) - expected[same])[inside(batch)[same]].abs().max() < 0.125
    assert tagger.draw(batch, np.random.default_rng(3)).equal(tagger.draw(batch, np.random.default_rng(3)))


@kinds
def test_marginals_agree_with_what_is_decoded_where_it_is_clear(kind: str) -> None:
    tagger = train(kind)
    clear = total = 0
    for batch in batches_of(tagger):
        sure, best = tagger.marginals(batch).max(2)
        marked = (sure > 0.9) & inside(batch)
        assert torch.equal(best[marked], tagger.decode(batch)[marked])
        clear, total = clear + int(marked.sum()), total + int(inside(batch).sum())
    assert clear > 0.8 * total


@kinds
@torch.no_grad()
def test_padding_changes_nothing(kind: str, tolerance: float) -> None:
    tagger = fresh(kind)
    source = source_of(tagger, 12)

    def told(batch: Batch) -> dict[int, list[torch.Tensor]]:
        """Marginals, scores, loss and tags of each sentence, without its padding."""
        made = [tagger.marginals(batch), tagger.scores(batch), tagger.loss(batch)[:, None], tagger.decode(batch)]
        lengths = dict(zip(batch.rows.tolist(), batch.lengths.tolist(), strict=True))
        return {row: [one[line, :length] for one in made] for line, (row, length) in enumerate(lengths.items())}

    alone = {row: found for batch in source.batches(1) for row, found in told(batch).items()}
    for batch in source.batches(6):
        filled = replace(batch, inputs=torch.where(inside(batch)[:, :, None], batch.inputs, 50.0))
        for row, (marginals, scores, loss, tags) in [*told(batch).items(), *told(filled).items()]:
            own_marginals, own_scores, own_loss, own_tags = alone[row]
            torch.testing.assert_close(marginals, own_marginals, atol=10 * tolerance, rtol=0)
            torch.testing.assert_close(scores, own_scores, atol=10 * tolerance, rtol=tolerance)
            torch.testing.assert_close(loss, own_loss, atol=100 * tolerance, rtol=10 * tolerance)
            # In the lower precision two tags may be as good as one another.
            assert tolerance > 1e-3 or torch.equal(tags, own_tags)


@kinds
def test_evaluation_is_the_same_every_time_and_draws_nothing(kind: str) -> None:
    tagger = fresh(kind)
    batch = batches_of(tagger)[0]
    before = torch.get_rng_state()
    for made in (tagger.loss, tagger.scores, tagger.decode, tagger.marginals):
        assert torch.equal(made(batch), made(batch))
    assert torch.equal(torch.get_rng_state(), before)


@kinds
def test_what_is_saved_is_loaded_frozen_and_gives_the_same(kind: str, tmp_path: Path) -> None:
    tagger = fresh(kind)
    save_head(tagger, tmp_path)
    loaded = load_head(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {WEIGHTS, DESCRIPTION}
    assert type(loaded) is type(tagger)
    assert loaded.config == tagger.config
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    for mine, its in zip(batches_of(tagger), batches_of(loaded), strict=True):
        for name in ("loss", "scores", "decode", "marginals"):
            with torch.no_grad():
                assert torch.equal(getattr(tagger, name)(mine), getattr(loaded, name)(its))


@kinds
@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_a_damaged_file_is_refused(kind: str, name: str, damage: str, tmp_path: Path) -> None:
    save_head(fresh(kind), tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    path.write_bytes({"missing": b"", "empty": b"", "cut": data[:-7], "noise": b"\x93NUMPY" + data[6:]}[damage])
    if damage == "missing":
        path.unlink()
    with pytest.raises(ModelError):
        load_head(tmp_path)


def spoil(tensors: dict[str, torch.Tensor]) -> None:
    next(tensor for tensor in tensors.values() if tensor.is_floating_point()).view(-1)[0] = torch.nan


@kinds
@pytest.mark.parametrize(
    "change",
    [
        spoil,
        lambda tensors: tensors.popitem(),
        lambda tensors: tensors.update({"one.more": torch.zeros(1)}),
        lambda tensors: tensors.update({name: tensor.half() for name, tensor in tensors.items()}),
    ],
    ids=["not finite", "one missing", "one more", "another type"],
)
def test_other_weights_than_described_are_refused(
    kind: str, change: Callable[[dict[str, torch.Tensor]], object], tmp_path: Path
) -> None:
    save_head(fresh(kind), tmp_path)
    tensors = {name: tensor.clone() for name, tensor in load_file(tmp_path / WEIGHTS).items()}
    change(tensors)
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(ModelError):
        load_head(tmp_path)


@kinds
@pytest.mark.parametrize(
    "settings",
    [
        {"tags": 7},
        {"inputs": 0},
        {"inputs": "4"},
        {"inputs": 10**9},
        {"unknown": 1},
        {"kind": "crystal ball"},
        {"kind": 3},
    ],
    ids=str,
)
def test_a_description_of_another_or_impossible_tagger_is_refused(
    kind: str, settings: dict[str, object], tmp_path: Path
) -> None:
    save_head(fresh(kind), tmp_path)
    path = tmp_path / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    with pytest.raises(ModelError):
        load_head(tmp_path)
