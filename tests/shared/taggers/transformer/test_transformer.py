"""What is particular to the transformer: windows, first pieces, what it learns from, and its files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, ModelError
from shared.federated.weights import describe_shape, read_shape
from shared.labels import UNKNOWN_TAG
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.registry import load_head, save_head
from shared.taggers.tagger import predict
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.config import TransformerConfig
from shared.taggers.transformer.pieces import FILE
from shared.taggers.transformer.transformer import Transformer
from shared.training.fine_tuning.recipe import RECIPE
from shared.training.loop import Descent
from shared.training.tagging import train_tagger
from tests.shared.taggers.transformer.made import batch_of, sentences
from tests.shared.training.toy import WORDS, toy


@pytest.fixture(scope="module")
def started(made: Path) -> Transformer:
    return start_from_checkpoint(made, 10, 3, seed=1)


def words_of(count: int, seed: int = 0) -> TokenisedSentences:
    source = toy(count, seed)
    assert source.ids is not None
    return TokenisedSentences([WORDS[row] for row in source.ids.tolist()], source.tags, source.lengths)


@torch.no_grad()
def test_a_sentence_that_fits_is_scored_the_same_however_large_the_window(made: Path) -> None:
    lines = "the patient saw Dr Namea on a day .", "Dr Nameb Xyz ."
    narrow, wide = (start_from_checkpoint(made, 10, 3, seed=1, window=size, overlap=8) for size in (20, 40))
    both = [tagger.scores(batch_of(tagger, sentences(*lines))) for tagger in (narrow, wide)]
    torch.testing.assert_close(both[0][0], both[1][0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(both[0][1, :4], both[1][1, :4], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_sentence_of_any_length_has_a_score_for_every_token_and_each_is_that_of_its_window(made: Path) -> None:
    tagger = start_from_checkpoint(made, 10, 3, seed=1, window=20, overlap=6)
    words = [WORDS[number % len(WORDS)] for number in range(100)]
    found = tagger.scores(batch_of(tagger, sentences(" ".join(words))))[0]
    assert found.shape == (100, 3)
    # Each of these words is one piece, so a window is 18 words; the first reads what is nearer to it than to the second.
    alone = tagger.scores(batch_of(tagger, sentences(" ".join(words[:18]))))[0]
    torch.testing.assert_close(found[:12], alone[:12], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(found[17], alone[17], atol=1e-3)


@torch.no_grad()
def test_pieces_behind_the_first_are_seen_and_not_labelled(started: Transformer) -> None:
    one, other = (started.scores(batch_of(started, sentences(f"Dr {word} ."))) for word in ("Namexy", "Namexz"))
    assert one.shape == other.shape == (1, 3, 3)
    assert (one - other).abs().max() > 1e-4


def test_it_is_not_shown_what_stands_before_it(started: Transformer) -> None:
    def refuse(chunk: object) -> None:
        raise AssertionError("word vectors were looked up")

    assert started.inputs(sentences("Dr Namea"), refuse).tokens == 2  # type: ignore[arg-type]


def test_the_loss_is_the_cross_entropy_of_the_tokens_whose_tags_are_known(started: Transformer) -> None:
    batch = batch_of(started, sentences("Dr Namea saw the patient .", "Dr Nameb ."))
    tags = torch.tensor([[0, 1, 0, UNKNOWN_TAG, 0, 0], [0, 1, 0, 0, 0, 0]])
    with torch.no_grad():
        found = started.loss(replace(batch, tags=tags))
        logs = started.scores(batch).log_softmax(2)
    by_hand = -sum(float(logs[0, place, tags[0, place]]) for place in (0, 1, 2, 4, 5))
    assert float(found[0]) == pytest.approx(by_hand, rel=1e-5)
    assert float(found[1]) == pytest.approx(-sum(float(logs[1, place, tags[1, place]]) for place in range(3)), rel=1e-5)


def test_vectors_in_the_place_of_pieces_are_refused_and_so_is_learning_together_from_them(started: Transformer) -> None:
    batch = batch_of(started, sentences("Dr Namea ."))
    with pytest.raises(ConfigurationError, match="expected 16 pieces for a word, got 246 numbers"):
        started.decode(replace(batch, inputs=torch.zeros(1, 3, 246)))
    with pytest.raises(ConfigurationError, match="expected a kind of tagger among bilstm-crf"):
        read_shape("transformer", describe_shape(started.config))


def test_the_recipe_is_the_papers() -> None:
    assert (RECIPE.epochs, RECIPE.batch, RECIPE.learning_rate) == (20, 64, 1e-4)
    assert (TransformerConfig(4, 3).dropout, TransformerConfig(4, 3).window) == (0.1, 128)
    assert isinstance(Descent.adamw([torch.nn.Parameter(torch.ones(2, 2))], 1e-4, 1.0).optimizer, torch.optim.AdamW)


def test_one_step_of_its_descent_is_that_of_loshchilov_and_hutter() -> None:
    table, bias = (torch.nn.Parameter(torch.full(shape, 2.0)) for shape in ((1, 1), (1,)))
    descent = Descent.adamw([table, bias], 0.1, clip=10.0)
    (3 * table.sum() + 3 * bias.sum()).backward()  # type: ignore[no-untyped-call]
    descent.optimizer.step()
    # The first step is the learning rate against the sign of the gradient; a table also loses 0.1 * 0.01 of itself.
    assert table.item() == pytest.approx(2 - 0.1 * 0.01 * 2 - 0.1, abs=1e-5)
    assert bias.item() == pytest.approx(2 - 0.1, abs=1e-5)


@pytest.mark.parametrize("crf", [0, 1])
def test_fine_tuning_begins_with_the_weights_of_the_checkpoint_and_leaves_them_as_they_are(
    made: Path, crf: int
) -> None:
    start = start_from_checkpoint(made, 10, 3, seed=1, crf=crf)
    before = {name: value.clone() for name, value in start.state_dict().items()}
    source = start.read(words_of(80))
    recipe = replace(RECIPE, epochs=6, batch=8, learning_rate=5e-3)
    shown: list[int] = []
    tuned = train_tagger(source, 3, recipe, start=start, each_epoch=lambda one: shown.append(int(one.training)))
    assert shown == [0] * 6
    assert all(torch.equal(value, before[name]) for name, value in start.state_dict().items())
    moved = {name for name, value in tuned.state_dict().items() if not torch.equal(value, before[name])}
    assert {"network.embeddings.word_embeddings.weight", "output.weight"} <= moved
    assert ("crf.transitions" in moved) == bool(crf)
    unseen = words_of(30, seed=9)
    said = np.zeros_like(unseen.tags)
    for rows, lines in predict(tuned, start.read(unseen)):
        for row, line in zip(rows.tolist(), lines, strict=True):
            said[unseen.tokens_of(np.array([row]))] = line
    assert (said == unseen.tags).mean() > 0.9


def test_a_head_begun_from_a_checkpoint_is_saved_and_loaded_whole(started: Transformer, tmp_path: Path) -> None:
    save_head(started, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"head.json", "head.safetensors", FILE}
    loaded = load_head(tmp_path)
    chunk = sentences("Dr Namea Xyz12 saw the patient .")
    with torch.no_grad():
        assert torch.equal(loaded.scores(batch_of(loaded, chunk)), started.scores(batch_of(started, chunk)))
    # One that was loaded is frozen, and learns all the same where it is begun with.
    source = started.read(words_of(8))
    tuned = train_tagger(source, 3, replace(RECIPE, epochs=1, batch=8), start=loaded)
    assert not torch.equal(tuned.state_dict()["output.weight"], loaded.state_dict()["output.weight"])


def test_a_head_without_its_pieces_or_with_more_than_it_has_rows_for_is_refused(
    started: Transformer, tmp_path: Path
) -> None:
    save_head(started, tmp_path / "head")
    shutil.copytree(tmp_path / "head", tmp_path / "without")
    (tmp_path / "without" / FILE).unlink()
    with pytest.raises(ModelError, match=FILE):
        load_head(tmp_path / "without")
    with pytest.raises(ModelError, match="at most 9 pieces"):
        Transformer(replace(started.config, vocabulary=9, begin=1, end=2), started.pieces)


@pytest.mark.parametrize(
    "setting",
    [
        {"window": 17},
        {"window": 513},
        {"overlap": 64},
        {"overlap": -1},
        {"dropout": 1.0},
        {"crf": 2},
        {"heads": 5},
        {"architecture": 6},
        {"activation": -1},
        {"embedding": 8},
        {"layers": 49},
        {"begin": 30_522},
        {"epsilon": 0.0},
        {"architecture": 1, "window": 512},
    ],
    ids=str,
)
def test_a_shape_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        TransformerConfig(**({"inputs": 5, "tags": 7} | setting))  # type: ignore[arg-type]


@pytest.mark.parametrize("architecture", range(6))
@torch.no_grad()
def test_every_architecture_is_built_from_numbers_and_reads_as_many_pieces_as_it_says(architecture: int) -> None:
    config = TransformerConfig(
        5,
        3,
        architecture=architecture,
        vocabulary=700,
        embedding=8,
        hidden=8,
        layers=1,
        heads=2,
        inner=8,
        positions=24,
        overlap=0,
        window=18,
    )
    tagger = Transformer(replace(config, window=config.most_window)).eval()
    found = tagger.scores(batch_of(tagger, sentences(" ".join(["Dr", "Namea", "x"] * 20))))
    assert torch.isfinite(found).all()
