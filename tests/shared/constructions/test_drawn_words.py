"""A tagger that reads words is shown none of a share but those that its codes may mean: nothing of what the hospital's own PHI was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.augment.augmentation import Augmentation
from shared.augment.recasing import Recasing
from shared.constructions import decoding
from shared.constructions.augmented import AugmentedReading
from shared.constructions.drawn_words import CodesInMemory, DrawnWords
from shared.models.noise_source import PrivateNoise
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from tests.shared.constructions.test_codes import CHUNK, WORDS, surrogates

BANK_WORDS = {"Osyth", "Wulfric", "Quill"}


@pytest.fixture(autouse=True)
def without_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of shipped dictionaries stand in for some members of a cluster; without them all that may be seen can be listed."""
    monkeypatch.setattr(decoding, "_STRANGER_SHARE", 0.0)


class Listener:
    """Stands for a tagger that reads words: notes each that it is shown."""

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    def read(self, chunk: TokenisedSentences) -> RaggedSentences:
        self.shown.append(list(chunk.words))
        rows = np.array([[len(word), sum(map(ord, word))] for word in chunk.words], dtype=np.float32)
        return RaggedSentences(rows, casing_classes(chunk.words), chunk.tags, chunk.lengths)


def test_what_is_read_of_a_share_is_drawn_anew_in_every_pass_and_holds_no_word_of_the_hospitals_own() -> None:
    made, heard = surrogates(), Listener()
    share = made.rehearse_codes(CHUNK, PrivateNoise())
    source = CodesInMemory(share, DrawnWords(made.decoding(), heard.read))
    assert (source.sentences, source.dim) == (2, 2)
    heard.shown.clear()
    generator = np.random.default_rng(0)
    for _ in range(40):
        batches = list(source.batches(8, generator))
        assert sum(len(batch.rows) for batch in batches) == 2
    assert {words[1] for words in heard.shown} == BANK_WORDS
    assert len({tuple(words) for words in heard.shown}) > 10
    seen = {word.lower() for words in heard.shown for word in words} - {word.lower() for word in BANK_WORDS}
    assert seen <= set(WORDS) | {"patient"}
    assert not seen & {"larkspur", "unheard"}
    # Where nothing is to be random, it is the same every time.
    before = [batch.inputs for batch in source.batches(8)]
    assert all(torch.equal(one.inputs, other) for one, other in zip(source.batches(8), before, strict=True))


def test_what_the_hospitals_own_phi_was_changes_nothing_that_is_read() -> None:
    made = surrogates()
    read = []
    for name in ("Larkspur", "Zwiebel", "Fever", "The"):
        heard = Listener()
        chunk = CHUNK.with_words([CHUNK.words[0], name, *CHUNK.words[2:]])
        share = made.rehearse_codes(chunk, torch.Generator().manual_seed(5))
        list(CodesInMemory(share, DrawnWords(made.decoding(), heard.read)).batches(8, np.random.default_rng(1)))
        read.append(heard.shown)
    assert read[0] == read[1] == read[2] == read[3]


def test_copies_for_training_are_made_of_the_drawn_words() -> None:
    made, heard = surrogates(), Listener()
    share = made.rehearse_codes(CHUNK, PrivateNoise())
    reading = AugmentedReading(DrawnWords(made.decoding(), heard.read), Augmentation((Recasing(),)))
    for seed in range(20):
        reading.read_augmented(share, np.random.default_rng(seed))
    seen = {word.lower() for words in heard.shown for word in words}
    assert seen <= {word.lower() for word in (*WORDS, *BANK_WORDS, "patient")}
    assert len({word for words in heard.shown for word in words if word.lower() == "patient"}) > 1
