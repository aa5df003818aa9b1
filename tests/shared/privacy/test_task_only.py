"""A control that is trained for the task alone shows what it should hide."""

from __future__ import annotations

import pytest

from shared.errors import TrainingError
from shared.models.representer import Representer
from shared.privacy.adversaries.task_only import task_only
from shared.privacy.attacks.matching import MatchingSettings, matching
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests.shared.privacy.attacked import NEIGHBOURS, SCHEME, VECTORS, notes
from tests.tiny_notes import note


def sentences(count: int) -> TokenisedSentences:
    return tokenised_corpus(notes(count), SCHEME)


def test_its_words_can_be_read_off() -> None:
    encoder = task_only(VECTORS, sentences(40), SCHEME, 2, 0)
    assert encoder.surrogates is None
    assert isinstance(encoder.representer, Representer)
    assert max(encoder.representer.noise_scales()["output"]) < 0.02
    found = matching(
        encoder, notes(20, 1), NEIGHBOURS, MatchingSettings(targets=30, candidates=20, draws=4, shares=(1,))
    )
    assert found[0].value > 0.5


def test_without_phi_there_is_nothing_to_show() -> None:
    plain = tokenised_corpus([note("a", "No fever today .\n")], SCHEME)
    with pytest.raises(TrainingError):
        task_only(VECTORS, plain, SCHEME, 1, 0)
