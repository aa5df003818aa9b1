"""Tokens of which nobody knows whether they are PHI: no training, no score and no vote looks at their tag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from aggregator.training.codebook_rows import count_rows
from aggregator.training.judging.recall import compare_recall
from aggregator.training.judging.site_scores import score_site
from aggregator.training.pool import Pool, read_blocks, read_codes
from protocols.payload.opening import SentenceBlock
from shared.labels import UNKNOWN_TAG
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig, train_tagger
from tests.aggregator.training.pools import DIM, SCHEME, block, honest
from tests.protocols.payload.blocks import write_payload


def payload(path: Path, blocks: list[SentenceBlock]) -> Path:
    return write_payload(path, blocks, dim=DIM)


@pytest.fixture
def plain() -> list[SentenceBlock]:
    return [block(honest(np.random.default_rng(seed), 400)) for seed in range(2)]


def doubted(blocks: list[SentenceBlock], instead: int) -> list[SentenceBlock]:
    """Every fourth token has another tag."""
    return [replace(one, tags=np.where(np.arange(one.tokens) % 4 == 2, np.uint8(instead), one.tags)) for one in blocks]


def tagger(seed: int) -> BiLSTMCRF:
    seed_training(seed)
    return BiLSTMCRF(BiLSTMCRFConfig(DIM, len(SCHEME.tags), hidden=6)).eval()


def test_scores_are_those_of_the_tokens_that_somebody_has_labelled(plain: list[SentenceBlock], tmp_path: Path) -> None:
    head, path = tagger(1), payload(tmp_path / "a.parquet", doubted(plain, UNKNOWN_TAG))
    hits = found = true = tokens = 0
    with Pool([path], held_out=True) as pool, torch.no_grad():
        for batch in pool.batches(7):
            said = head.decode(batch)
            for line, length in enumerate(batch.lengths.tolist()):
                for tag, answer in zip(batch.tags[line, :length].tolist(), said[line, :length].tolist(), strict=True):
                    if tag != UNKNOWN_TAG:
                        tokens += 1
                        found += answer > 0
                        true += tag > 0
                        hits += answer > 0 and tag > 0
    assert 0 < hits < found
    score = score_site(head, "ash", Pool([path], held_out=True))
    assert (score.tokens, score.phi_tokens) == (tokens, true)
    assert (score.precision, score.recall) == pytest.approx((hits / found, hits / true))


def test_recall_asks_for_nothing_that_nobody_knows(plain: list[SentenceBlock], tmp_path: Path) -> None:
    paths = [payload(tmp_path / f"{tag}.parquet", doubted(plain * 4, tag)) for tag in (UNKNOWN_TAG, 0)]
    asked, without = (compare_recall(tagger(1), tagger(2), Pool([path], held_out=True), SCHEME) for path in paths)
    *found, alarms = asked
    *as_found, more = without
    assert found == as_found
    assert found
    # What nobody knows is no false alarm; what is labelled as no PHI is.
    assert alarms.tokens < more.tokens


def test_a_site_has_no_voice_where_it_does_not_know(plain: list[SentenceBlock], tmp_path: Path) -> None:
    paths = {"ash": (payload(tmp_path / "a.parquet", doubted(plain, UNKNOWN_TAG)),)}
    counts = count_rows(paths)
    [read] = [RaggedSentences.concatenate(list(read_blocks(path))) for path in paths["ash"]]
    rows = counts.rows_of(read)
    for row in range(len(counts.keys)):
        tags = read.tags[rows == row]
        assert counts.tokens[0, row] == (tags != UNKNOWN_TAG).sum()
        assert counts.phi[0, row] == ((tags != UNKNOWN_TAG) & (tags > 0)).sum()


def test_what_nobody_knows_is_no_span_and_of_no_category(plain: list[SentenceBlock]) -> None:
    [one] = doubted(plain[:1], UNKNOWN_TAG)
    sentences = RaggedSentences(one.values, one.casing, one.tags, one.lengths.astype(np.int64))
    assert (sentences.categories[~sentences.known] == -1).all()
    assert all(sentences.known[start:end].all() for start, end, _ in sentences.spans())
    assert {category for _, _, category in sentences.spans()} <= {0, 1}
    only = replace(sentences, tags=np.where(sentences.known, np.uint8(0), sentences.tags))
    assert not len(only.rows_with_phi())
    assert not list(only.spans())


def test_codes_of_what_nobody_knows_are_read_as_those_of_other_words() -> None:
    met: list[NDArray[np.uint8]] = []

    class Reading:
        dim = 1

        def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
            met.append(sentences.tags)
            rows = sentences.codes[:, None].astype(np.float16)
            return RaggedSentences(rows, sentences.casing, sentences.tags, sentences.lengths)

    tags = np.array([0, 1, UNKNOWN_TAG], dtype=np.uint8)
    rows = np.arange(3, dtype=np.float32)[:, None]
    read = read_codes(Reading(), RaggedSentences(rows, np.zeros(3, dtype=np.uint8), tags, np.array([3])))
    assert met[0].tolist() == [0, 1, 0]
    assert read.tags.tolist() == tags.tolist()


def test_a_head_learns_what_it_would_without_the_lies_in_the_tags_that_nobody_knows(
    plain: list[SentenceBlock],
) -> None:
    """Whether a forgotten name is O or unknown decides whether a head learns to overlook names."""

    def recall(instead: int) -> float:
        lines = plain[0]
        # Of the names four of five are forgotten.
        forgotten = (lines.tags == 1) & (np.arange(lines.tokens) % 5 > 0)
        tags = np.where(forgotten, np.uint8(instead), lines.tags)
        own = RaggedSentences(lines.values, lines.casing, tags, lines.lengths.astype(np.int64))
        trained = train_tagger(
            own,
            len(SCHEME.tags),
            TaggingConfig(6, batch=16, learning_rate=2e-2),
            shape=BiLSTMCRFConfig(DIM, len(SCHEME.tags), hidden=12),
        ).eval()
        other = plain[1]
        with torch.no_grad():
            whole = RaggedSentences(other.values, other.casing, other.tags, other.lengths.astype(np.int64))
            said = [(trained.decode(batch) == 1) & (batch.tags == 1) for batch in whole.batches(16)]
        return sum(int(one.sum()) for one in said) / int((other.tags == 1).sum())

    assert recall(0) < 0.5
    assert recall(UNKNOWN_TAG) > 0.9
