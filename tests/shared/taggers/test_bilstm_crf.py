"""What is particular to the paper's tagger: its regularisation, and its files, which are older than the registry."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import Batch
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.registry import DEFAULT, default_config, load_head, save_head
from shared.text.casing import CASING_CLASSES

LENGTHS = torch.tensor([6, 4, 4, 1])


def batch(inputs: int = 5) -> Batch:
    vectors, casing = torch.full((4, 6, inputs), 0.5), torch.zeros(4, 6, dtype=torch.int64)
    return Batch(vectors, casing, casing, LENGTHS, np.arange(4))


def test_variational_dropout_takes_features_of_a_whole_sentence_in_training_alone() -> None:
    config = BiLSTMCRFConfig(5, 7, hidden=40, input_dropout=0.0, variational_dropout=0.25, dropout=0.0)
    tagger = BiLSTMCRF(config)
    seen: list[torch.Tensor] = []
    tagger.second.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0].detach()))
    for training in (True, False):
        tagger.train(training).scores(batch())
    dropped, whole = (look == 0 for look in seen)
    assert not whole.any()
    masks = dropped[:, 0]
    assert (dropped == masks[:, None]).all()
    assert len(torch.unique(masks, dim=0)) == len(LENGTHS)
    assert 0.15 < masks.float().mean() < 0.35
    torch.testing.assert_close(seen[0][~dropped], seen[1][~dropped] / 0.75, atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize(("layer", "rate"), [("first", 0.1), ("output", 0.5)])
def test_inputs_and_outputs_are_dropped_at_the_rates_of_table_1_in_training_alone(layer: str, rate: float) -> None:
    tagger = BiLSTMCRF(BiLSTMCRFConfig(400, 7))
    seen: list[torch.Tensor] = []
    getattr(tagger, layer).register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0].detach()))
    for training in (True, False):
        tagger.train(training).scores(batch(400))
    # No sentence is shorter than a token; casing, which is never dropped, stands behind the vector.
    dropped, whole = (look[:, 0, :256] == 0 for look in seen)
    assert not whole.any()
    assert rate - 0.06 < dropped.float().mean() < rate + 0.06


def test_every_class_of_casing_counts() -> None:
    tagger, plain = BiLSTMCRF(BiLSTMCRFConfig(5, 7)).eval(), batch()
    looks = [
        tagger.scores(replace(plain, casing=torch.full_like(plain.casing, number)))[0, 0]
        for number in range(len(CASING_CLASSES))
    ]
    assert len(torch.unique(torch.stack(looks), dim=0)) == len(looks)


def test_the_default_kind_has_the_shape_of_table_1() -> None:
    assert default_config(300, 9) == BiLSTMCRFConfig(300, 9, 128, 0.1, 0.25, 0.5)
    assert default_config(300, 9, hidden=12) == BiLSTMCRFConfig(300, 9, hidden=12)
    assert DEFAULT == "bilstm-crf"


def test_its_description_is_written_as_before_there_were_kinds_and_read_with_or_without_its_kind(
    tmp_path: Path,
) -> None:
    save_head(BiLSTMCRF(BiLSTMCRFConfig(4, 5, hidden=6)), tmp_path)
    path = tmp_path / "head.json"
    lines = ('"dropout": 0.5', '"hidden": 6', '"input_dropout": 0.1', '"inputs": 4', '"tags": 5')
    assert path.read_text() == "{\n " + ",\n ".join((*lines, '"variational_dropout": 0.25')) + "\n}"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "bilstm-crf"}))
    assert load_head(tmp_path).config == BiLSTMCRFConfig(4, 5, hidden=6)


@pytest.mark.parametrize("setting", [{"hidden": 0}, {"dropout": 1.0}, {"input_dropout": -0.1}, {"dropout": math.nan}])
def test_a_shape_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        BiLSTMCRFConfig(**({"inputs": 5, "tags": 7} | setting))  # type: ignore[arg-type]


def test_a_token_of_unknown_tag_may_have_any_and_the_others_count_as_they_are() -> None:
    tagger, plain = BiLSTMCRF(BiLSTMCRFConfig(5, 5, hidden=6)).eval(), batch()
    tags = torch.zeros(4, 6, dtype=torch.int64)
    tags[0, 2], tags[1, 0] = 1, 3
    unknown = tags.clone()
    unknown[0, 1] = unknown[0, 4] = unknown[2, 3] = UNKNOWN_TAG
    with torch.no_grad():
        asked = tagger.loss(replace(plain, tags=unknown))
        terms = []
        for first in range(5):
            for second in range(5):
                tried = tags.clone()
                tried[0, 1], tried[0, 4], tried[2, 3] = first, second, first
                terms.append(tagger.loss(replace(plain, tags=tried)))
        together = torch.stack(terms)
    torch.testing.assert_close(asked[0], -torch.logsumexp(-together[:, 0], 0), rtol=1e-5, atol=1e-5)
    # Every value of the third sentence's tag came up five times.
    torch.testing.assert_close(asked[2], -torch.logsumexp(-together[:, 2], 0) + math.log(5), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(asked[1::2], together[0, 1::2])


def test_nothing_is_learnt_of_a_token_of_unknown_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger, plain = BiLSTMCRF(BiLSTMCRFConfig(5, 5, hidden=6)).eval(), batch()
    scores = torch.randn(4, 6, 5, requires_grad=True)
    monkeypatch.setattr(tagger, "scores", lambda batch: scores)
    tags = torch.zeros(4, 6, dtype=torch.int64)
    tags[0, 1] = tags[2, 3] = UNKNOWN_TAG
    tagger.loss(replace(plain, tags=tags)).sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert not scores.grad[0, 1].any()
    assert not scores.grad[2, 3].any()
    assert scores.grad[0, 0].all()
    assert scores.grad[2, 2].all()
