"""Copies of the sentences of a share: what is altered, and that nothing goes into them but the share and what is public."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch

from shared.augment.augmentation import Augmentation, Edited
from shared.augment.entities import entities_of
from shared.augment.recasing import Recasing
from shared.constructions import decoding
from shared.constructions.augmented import AugmentedReading
from shared.constructions.procedures.codes import CodedSurrogates
from shared.labels import UNKNOWN_TAG, LabelScheme
from shared.models.noise_source import PrivateNoise
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES, casing_classes, spelled
from tests.shared.constructions.test_codes import CHUNK, NAMES, WORDS, surrogates

SCHEME = LabelScheme("i2b2_2014", ("PATIENT", "CITY"))
LOWER, UPPER, INITIAL, OTHER = (
    CASING_CLASSES.index(name) for name in ("all lower", "all upper", "initial upper", "other")
)


def share_of(made: CodedSurrogates, times: int = 1) -> CodedSentences:
    return made.rehearse_codes(TokenisedSentences.concatenate([CHUNK] * times), PrivateNoise())


def sentences(read: RaggedSentences) -> list[tuple[bytes, bytes, bytes]]:
    """Rows, casing and tags of each."""
    found = []
    for start, length in zip(read.starts.tolist(), read.lengths.tolist(), strict=True):
        tokens = np.arange(start, start + length)
        found.append((read.vectors(tokens).tobytes(), read.casing[tokens].tobytes(), read.tags[tokens].tobytes()))
    return found


def capitals(words: list[str], tags: list[int], chance: Random) -> Edited:
    return [word.upper() for word in words], tags


@pytest.mark.parametrize(
    ("word", "kind", "expected"),
    [
        ("jane", LOWER, "jane"),
        ("jane", UPPER, "JANE"),
        ("jane", INITIAL, "Jane"),
        ("mrna", OTHER, "mRNA"),
        (",", OTHER, ","),
        ("12", CASING_CLASSES.index("numeric"), "12"),
        ("b12", CASING_CLASSES.index("contains digit"), "b12"),
    ],
)
def test_a_word_is_written_in_the_class_that_travels(word: str, kind: int, expected: str) -> None:
    assert spelled(word, kind) == expected


def test_drawn_words_are_those_that_the_codes_may_mean_in_the_casing_that_travels() -> None:
    made = surrogates()
    share, generator = share_of(made), np.random.default_rng(0)
    for _ in range(30):
        drawn = made.decoding().draw_words(share, generator)
        np.testing.assert_array_equal(drawn.tags, share.tags)
        assert drawn.words[0] == "Patient"
        assert drawn.words[1] in {"Osyth", "Wulfric", "Quill"}
        for word, code, kind in zip(drawn.words, share.codes.tolist(), share.casing.tolist(), strict=True):
            if kind in (LOWER, INITIAL):
                assert casing_classes([word]) == [kind]
            assert code >= len(WORDS) or word.lower() in WORDS


def test_a_pass_holds_every_sentence_as_it_is_or_as_its_copy() -> None:
    made = surrogates()
    share = share_of(made, times=300)
    reading = AugmentedReading(made.decoding(), Augmentation((capitals,), 2))
    read = reading.read_augmented(share, np.random.default_rng(1))
    assert sorted(read.lengths.tolist()) == sorted(share.lengths.tolist())
    copies = [casing for _, casing, _ in sentences(read) if set(casing) <= {UPPER, OTHER}]
    assert len(copies) / read.sentences == pytest.approx(2 / 3, abs=0.06)
    # No other sentence of these is all in capitals.
    assert not any(
        set(casing) <= {UPPER, OTHER}
        for _, casing, _ in sentences(made.decoding().read_codes(share, np.random.default_rng(1)))
    )
    assert sorted(tags for _, _, tags in sentences(read)) == sorted(
        piece.tobytes() for piece in np.split(share.tags, np.cumsum(share.lengths)[:-1])
    )


def test_a_copy_is_what_its_words_look_like_in_house() -> None:
    made = surrogates()
    share = share_of(made)
    everything = AugmentedReading(made.decoding(), Augmentation((capitals,), 16))
    shown = {
        (vector, casing)
        for words in (["PATIENT", name, "THE", "FEVER", "SCAN"] for name in ("OSYTH", "WULFRIC", "QUILL"))
        for vector, casing, _ in sentences(
            made.noise_free(TokenisedSentences(words, np.zeros(5, np.uint8), np.array([5])))
        )
    }
    generator, copies = np.random.default_rng(2), 0
    for _ in range(20):
        read = everything.read_augmented(share, generator)
        whole = next(place for place, length in enumerate(read.lengths.tolist()) if length == 8)
        tokens = int(read.starts[whole]) + np.arange(5)
        if not (read.casing[tokens] == UPPER).all():
            continue
        copies += 1
        assert (read.vectors(tokens).tobytes(), read.casing[tokens].tobytes()) in shown
    assert copies > 10


def test_what_nobody_knows_stays_so_and_is_not_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_STRANGER_SHARE", 0.0)
    made = surrogates()
    views = 2 * made.representer.config.dim
    share = share_of(made)
    tags = share.tags.copy()
    tags[[1, 3]] = UNKNOWN_TAG
    doubted = CodedSentences(share.codes, share.casing, tags, share.lengths, share.features)
    edits = (entities_of(SCHEME), Recasing(1.0))

    def rows(*words: str) -> set[bytes]:
        read = made.decoding().read_words(TokenisedSentences.single_words(words))
        return {row.tobytes() for row in read.values[:, :views]}

    generator = np.random.default_rng(3)
    for _ in range(20):
        read = AugmentedReading(made.decoding(), Augmentation(edits)).read_augmented(doubted, generator)
        whole = int(read.starts[read.lengths == 8][0])
        assert read.tags[whole : whole + 8].tolist() == tags[:8].tolist()
        shown = read.vectors(np.arange(whole, whole + 8)).astype(np.float16)[:, :views]
        # Of a name that nobody has labelled the share tells its cluster, and nothing of any list takes its place.
        assert shown[1].tobytes() in rows(*NAMES)
        assert {shown[3].tobytes()} == rows("fever")


def test_the_codes_alone_and_the_seed_decide_what_is_read() -> None:
    """Two shares with the same codes, tags and casing, whatever was written in the notes, give the same bytes."""
    made = surrogates()
    reading = AugmentedReading(made.decoding(), Augmentation((entities_of(SCHEME), Recasing())))
    reads = []
    for names in (["Larkspur"], ["Zwiebel"]):
        chunk = CHUNK.with_words([CHUNK.words[0], *names, *CHUNK.words[2:]])
        coded = made.rehearse_codes(chunk, torch.Generator().manual_seed(4))
        reads.append(reading.read_augmented(coded, np.random.default_rng(5)))
    assert sentences(reads[0]) == sentences(reads[1])
    assert reads[0].tags.tobytes() == reads[1].tags.tobytes()


@pytest.mark.parametrize("times", [1, 2])
def test_one_sentence_is_read_whether_it_is_a_copy_or_not(times: int) -> None:
    made = surrogates()
    share = share_of(made, times)
    reading = AugmentedReading(made.decoding(), Augmentation((capitals,), 1))
    generator = np.random.default_rng(0)
    for _ in range(20):
        read = reading.read_augmented(share, generator)
        assert read.sentences == share.sentences
        assert read.dim == made.dim
