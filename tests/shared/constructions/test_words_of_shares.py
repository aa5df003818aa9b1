"""A tagger that reads words, on shares: it is shown the words that a draw of the codes writes, and in-house those of the note."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shared.document import Document
from shared.models.noise_source import PrivateNoise
from shared.pipeline.pipeline import Pipeline
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.khin2018 import Khin2018, Khin2018Config
from shared.taggers.registry import build_tagger
from shared.text.spelling import ALPHABET, LONGEST
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.constructions.test_codes import CHUNK, NAMES, WORDS, surrogates

MADE = surrogates()
SHAPE = Khin2018Config(MADE.dim, 5, hidden=16, characters=3, context=2, dropout=0.1)


def spelled(read: RaggedSentences) -> list[str]:
    """The words that the marks of each token spell."""
    assert read.marks is not None
    return ["".join(ALPHABET[sign - 2] for sign in row if sign) for row in read.marks[:, :LONGEST].tolist()]


def read_share(seed: int, times: int = 1) -> RaggedSentences:
    decoding, tagger = MADE.decoding(), build_tagger(SHAPE)
    share = MADE.rehearse_codes(TokenisedSentences.concatenate([CHUNK] * times), PrivateNoise())
    drawn = decoding.draw_words(share, np.random.default_rng(seed))
    read = tagger.inputs(drawn, decoding.read_words)
    assert isinstance(read, RaggedSentences)
    return read


def test_of_a_share_it_is_told_words_that_are_public_and_in_the_house_those_of_the_note() -> None:
    in_house = build_tagger(SHAPE).inputs(CHUNK, MADE.noise_free)
    assert isinstance(in_house, RaggedSentences)
    assert spelled(in_house) == CHUNK.words
    known = set(WORDS)
    seen: set[str] = set()
    for seed in range(12):
        words = [word.lower() for word in spelled(read_share(seed))]
        seen |= set(words)
        # No draw has the word that no vocabulary holds; what is drawn in its place is a member, or of a dictionary.
        assert "unheard" not in words
        # Its own name is labelled: other public PHI of one word stands there.
        assert words[1] in {"osyth", "wulfric", "quill"}
    assert len(seen & known) > 8
    assert len(seen & set(NAMES)) > 1


def test_it_learns_from_a_share_and_reads_notes_by_what_it_learned() -> None:
    head = train_tagger(read_share(0, 8), 5, TaggingConfig(15, batch=4, learning_rate=1e-2), shape=SHAPE)
    assert isinstance(head, Khin2018)
    pipeline = Pipeline(MADE, head)
    note = Document("1", "Patient Quill the fever scan cough lesion.")
    (found,) = pipeline.annotate([note])
    assert [(span.start, span.category) for span in found.annotations] == [(8, "PATIENT")]
    # The same note alone and among others.
    others = [Document("0", "the fever."), note, Document("2", "the rash.")]
    assert list(pipeline.annotate(others))[1] == found


def test_a_share_and_the_same_share_again_are_read_alike() -> None:
    first, again = read_share(3), read_share(3)
    assert first.marks is not None
    assert again.marks is not None
    np.testing.assert_array_equal(first.marks, again.marks)
    assert replace(first, marks=None).marks is None
