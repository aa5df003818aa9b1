"""What a teacher is sure of becomes the label of text that nobody has labelled."""

from __future__ import annotations

import numpy as np
import torch

from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.pseudo_labels import pseudo_labels


def sentences() -> RaggedSentences:
    lengths = np.array([5, 4, 4, 3, 2, 2])
    tokens = int(lengths.sum())
    values = np.random.default_rng(3).normal(size=(tokens, 4)).astype(np.float32)
    return RaggedSentences(values, np.zeros(tokens, dtype=np.uint8), np.zeros(tokens, dtype=np.uint8), lengths)


def test_tags_of_which_the_teacher_is_not_sure_are_not_known() -> None:
    source = sentences()
    torch.manual_seed(0)
    head = BiLSTMCRF(BiLSTMCRFConfig(4, 5, hidden=6, input_dropout=0.0, variational_dropout=0.0, dropout=0.0)).eval()
    assert set(pseudo_labels(head, source, 1.01)) == {UNKNOWN_TAG}
    every = pseudo_labels(head, source, 0.0)
    middle = pseudo_labels(head, source, 0.3)
    known = middle != UNKNOWN_TAG
    assert 0 < known.sum() < len(known)
    assert (middle[known] == every[known]).all()
    [one] = source.batches(10)
    for row, tags, length in zip(one.rows, head.decode(one).tolist(), one.lengths.tolist(), strict=True):
        start = source.starts[row]
        assert every[start : start + length].tolist() == tags[:length]
