"""What is particular to the tagger of Khin et al. 2018: what it reads of a word, and what it is told of a share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from shared.errors import ConfigurationError, ModelError
from shared.models import lstm
from shared.models.language_model import LanguageModel, LanguageModelConfig
from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import Batch, RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.khin2018 import Khin2018, Khin2018Config
from shared.taggers.registry import load_head, save_head
from shared.text.parts_of_speech import LANGUAGES, PARTS
from shared.text.spelling import spellings
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.models.test_lstm import by_hand
from tests.shared.training.toy import VECTORS

SENTENCES = ["the patient saw Dr Namea on 12 .", "Dr Nameb saw 34", "a day ."]
CONFIG = Khin2018Config(VECTORS.dim, 3, hidden=6, characters=4, language=LANGUAGES.index("English"))


def chunk(*sentences: str) -> TokenisedSentences:
    words = [sentence.split() for sentence in sentences]
    lengths = np.array(list(map(len, words)), dtype=np.int64)
    return TokenisedSentences(
        [word for sentence in words for word in sentence], np.zeros(int(lengths.sum()), dtype=np.uint8), lengths
    )


def represent(sentences: TokenisedSentences) -> RaggedSentences:
    return embed_sentences(sentences, VECTORS)


def made(config: Khin2018Config, seed: int = 0) -> Khin2018:
    torch.manual_seed(seed)
    return Khin2018(config).eval()


def batch_of(tagger: Khin2018, *sentences: str) -> Batch:
    """The sentences as one batch; they come by falling length."""
    return next(tagger.inputs(chunk(*sentences), represent).batches(len(sentences)))


@torch.no_grad()
def test_the_inputs_of_a_token_are_those_of_the_paper_one_behind_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # By hand it is float32, on a processor with a faster kind of number, too.
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)
    tagger = made(CONFIG)
    seen: list[torch.Tensor] = []
    tagger.first.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    tagger.scores(batch_of(tagger, *SENTENCES))
    vectors, signs, parts, casing = torch.split(seen[0], [VECTORS.dim, 8, len(PARTS), 7], 2)
    for line, sentence in enumerate(SENTENCES):
        words = sentence.split()
        torch.testing.assert_close(vectors[line, : len(words)], torch.from_numpy(VECTORS.rows(words)))
        for place, word in enumerate(words):
            row = tagger.signs.weight[torch.from_numpy(spellings([word])[0, : len(word)].astype(np.int64))]
            ahead, back = (
                by_hand(layer, steps, torch.ones(4))[-1]
                for layer, steps in ((tagger.spelling.forwards, row), (tagger.spelling.backwards, row.flip(0)))
            )
            torch.testing.assert_close(signs[line, place], torch.cat([ahead, back]), atol=1e-5, rtol=1e-5)
    spoken = ["DET", "NOUN", "VERB", "PROPN", "PROPN", "ADP", "NUM", "PUNCT"]
    expected = functional.one_hot(torch.tensor(list(map(PARTS.index, spoken))), len(PARTS)).float()
    torch.testing.assert_close(parts[0], expected)
    # numeric, all lower, initial upper: 0, 2 and 4 of the classes of casing; "." is of the last.
    assert casing[0].argmax(1).tolist() == [2, 2, 2, 4, 4, 2, 0, 6]


@pytest.mark.parametrize(
    "changes",
    [{"characters": 0}, {"vectors": 0}, {"parts": 0}, {"casing": 0}, {"context": 5}, {"variational": 0}],
    ids=str,
)
def test_every_input_can_be_left_out_and_counts_where_it_is_not(changes: dict[str, int]) -> None:
    tagger = made(replace(CONFIG, **changes))
    batch = batch_of(tagger, *SENTENCES)
    assert tagger.first.forwards.input_size == tagger.config.width
    marks, vectors = torch.zeros_like(batch.marks), torch.zeros_like(batch.inputs)  # type: ignore[arg-type]
    marks[:, :, -1] = batch.marks[:, :, -1]  # type: ignore[index]
    unspelled, unspoken = replace(batch, marks=marks), replace(batch, marks=batch.marks.clone())  # type: ignore[union-attr]
    unspoken.marks[:, :, -1] = 0  # type: ignore[index]
    reads_signs = bool(tagger.config.characters or tagger.config.context)
    for other, matters in (
        (unspelled, reads_signs),
        (unspoken, tagger.config.parts),
        (replace(batch, inputs=vectors), tagger.config.vectors),
        (replace(batch, casing=(batch.casing + 1) % 7), tagger.config.casing),
    ):
        with torch.no_grad():
            assert torch.equal(tagger.scores(batch), tagger.scores(other)) != bool(matters)


def test_a_word_with_its_context_is_another_in_another_sentence_and_padding_is_no_context() -> None:
    config = replace(CONFIG, vectors=0, characters=0, parts=0, casing=0, context=5)
    tagger = made(config)
    seen: list[torch.Tensor] = []
    tagger.first.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0]))
    with torch.no_grad():
        for batch in ((SENTENCES[1], SENTENCES[2]), (SENTENCES[1],), ("a patient",), ("patient",)):
            tagger.scores(batch_of(tagger, *batch))
    torch.testing.assert_close(seen[0][0], seen[1][0])
    assert not torch.allclose(seen[2][0, 1], seen[3][0, 0])
    # What comes behind a word is in the half of the other direction alone.
    tagger.scores(batch_of(tagger, "patient day"))
    torch.testing.assert_close(seen[4][0, 0, :5], seen[3][0, 0, :5])
    assert not torch.allclose(seen[4][0, 0, 5:], seen[3][0, 0, 5:])


def test_the_language_model_is_taken_over_does_not_learn_and_travels_with_the_head(tmp_path: Path) -> None:
    config = replace(CONFIG, context=5)
    torch.manual_seed(8)
    model = LanguageModel(LanguageModelConfig(5))
    sentences = chunk(*SENTENCES).with_tags(np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], dtype=np.uint8))
    source = made(config).inputs(sentences, represent)

    begun = made(config)
    begun.take_language_model(model)
    head = train_tagger(source, 3, TaggingConfig(3, batch=2), start=begun)
    assert not torch.equal(head.output.weight, begun.output.weight)  # type: ignore[arg-type, union-attr]
    save_head(head, tmp_path)
    loaded = load_head(tmp_path)
    assert isinstance(loaded, Khin2018)
    assert loaded.language is not None
    for name, weight in model.state_dict().items():
        assert torch.equal(loaded.language.state_dict()[name], weight)
    fresh = train_tagger(source, 3, TaggingConfig(1, batch=2), shape=config)
    assert isinstance(fresh, Khin2018)
    assert not torch.equal(fresh.language.word.weight, model.word.weight)  # type: ignore[union-attr]
    for other in (LanguageModel(LanguageModelConfig(6)), model):
        with pytest.raises(ConfigurationError, match="language model"):
            made(replace(CONFIG, context=5 if other is not model else 0)).take_language_model(other)


def test_sentences_that_another_kind_has_read_are_refused_and_its_own_are_read_by_others() -> None:
    tagger = made(CONFIG)
    bare = next(represent(chunk(*SENTENCES)).batches(3))
    with pytest.raises(ModelError, match="khin2018"):
        tagger.scores(bare)
    plain = BiLSTMCRF(BiLSTMCRFConfig(VECTORS.dim, 3, hidden=4)).eval()
    with torch.no_grad():
        assert torch.equal(plain.scores(bare), plain.scores(batch_of(tagger, *SENTENCES)))


def test_variational_dropout_takes_units_of_a_whole_sentence_and_naive_dropout_of_a_token() -> None:
    for variational in (1, 0):
        tagger = made(replace(CONFIG, hidden=60, variational=variational)).train()
        seen: list[torch.Tensor] = []
        for layer in (tagger.second, tagger.output):
            layer.register_forward_pre_hook(lambda module, arguments, to=seen: to.append(arguments[0].detach()))
        tagger.scores(batch_of(tagger, *SENTENCES))
        for look in seen:
            dropped = look[0] == 0
            assert 0.3 < dropped.float().mean() < 0.7
            assert bool((dropped == dropped[0]).all()) == bool(variational)
        assert tagger.first.recurrent_dropout == tagger.second.recurrent_dropout == (0.5 if variational else 0.0)


@pytest.mark.parametrize(
    "setting",
    [
        {"hidden": 0},
        {"characters": -1},
        {"context": -1},
        {"vectors": 2},
        {"language": len(LANGUAGES)},
        {"dropout": 1.0},
        {"vectors": 0, "characters": 0, "parts": 0, "casing": 0},
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(setting: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        replace(CONFIG, **setting)
