"""A search fine-tunes on some documents and judges by others, which nothing is trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shared.document import Document
from shared.errors import ConfigurationError
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.transformer import Transformer
from shared.training.fine_tuning.recipe import hold_out, judge_by
from shared.training.fine_tuning.search import SearchSpace, Settings, best_of, search_settings
from tests.shared.taggers.transformer.made import make_checkpoint
from tests.shared.training.toy import WORDS, toy


def words_of(count: int, seed: int) -> TokenisedSentences:
    source = toy(count, seed)
    assert source.ids is not None
    return TokenisedSentences([WORDS[row] for row in source.ids.tolist()], source.tags, source.lengths)


def test_a_fifth_of_the_documents_is_held_out_and_none_is_lost() -> None:
    documents = [Document(f"note-{number}", "text") for number in range(23)]
    learnt, held = hold_out(documents, seed=1)
    assert len(held) == 4
    assert {one.identifier for one in learnt} | {one.identifier for one in held} == {
        one.identifier for one in documents
    }
    assert len(learnt) + len(held) == 23
    assert hold_out(documents, seed=1) == (learnt, held) != hold_out(documents, seed=2)
    assert [len(side) for side in hold_out(documents[:2], seed=1)] == [1, 1]
    with pytest.raises(ConfigurationError):
        hold_out(documents[:1], seed=1)


def test_every_trial_learns_from_what_it_is_given_and_is_judged_by_what_is_held_back(tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "made")
    learnt, held = words_of(24, 0), words_of(12, 7)
    begun: list[int] = []

    def start(window: int) -> Transformer:
        begun.append(window)
        return start_from_checkpoint(folder, 10, 3, seed=1, window=window)

    def source(tagger: Transformer) -> SentenceSource:
        return tagger.read(learnt)

    judge = judge_by(start, source, held, seed=2)
    told: list[float] = []
    last = judge(Settings(epochs=3, batch=8, window=20), told.append)
    assert (len(told), told[-1]) == (3, last)
    assert judge(Settings(epochs=3, batch=8, window=20), lambda score: None) == last
    space = SearchSpace(1, 2, (8, 16), (20, 30))
    tried = search_settings(tmp_path / "search.log", judge, 3, seed=3, space=space)
    assert begun[2:] == [one.settings.window for one in tried]
    assert best_of(tried).score == max(one.score for one in tried)
    assert np.isfinite([one.score for one in tried]).all()
