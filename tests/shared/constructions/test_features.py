"""Feature columns of a construction: computed from what a share shows, and seen by whoever looks whether PHI has a way into it."""

from __future__ import annotations

import numpy as np
import pytest

from bench.privacy import noninterference
from bench.privacy.noninterference import measure
from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.constructions.procedures.codes import CodedSurrogates
from shared.generate.notes import generate_notes
from shared.labels import categories_of_any_form, load_scheme
from shared.models.noise_source import PrivateNoise
from shared.privacy.attacks.person.pattern import looks_of
from shared.privacy.noninterference import find_interfering
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.tokens import tokenise
from tests import constructions
from tests.constructions import LeakingLengths, WithLengths
from tests.shared.embeddings.made import table

SCHEME = load_scheme("i2b2_2014")
NOTES = list(generate_notes("en_harbor", 3, 3))
CHUNK = tokenised_corpus(NOTES, SCHEME)
BANK = surrogate_bank(
    [tokenised_corpus(generate_notes("en_harbor", 8, 4), SCHEME)], any_form=categories_of_any_form(SCHEME)
)
WORDS = sorted({word for note in NOTES for word in tokenise(note.text.lower()).words})
MEMBERS = constructions.members(constructions.clusters(table(WORDS, dim=8), 6))


def made(kind: type[CodedSurrogates], bank: SurrogateBank = BANK) -> CodedSurrogates:
    return kind(MEMBERS, constructions.unchanged(MEMBERS.dim), SCHEME, bank)


def told(words: list[str]) -> list[list[int]]:
    """By hand, what `WithLengths` says of words."""
    return [[min(len(word) // 3, 3), int(word[0] in "aeiouAEIOU")] for word in words]


def test_a_share_tells_the_classes_of_its_words_and_of_public_phi_in_the_place_of_labelled() -> None:
    share = made(WithLengths, SurrogateBank([(0, ("Oooooooooooo",))])).share_sentences(CHUNK, PrivateNoise())
    labelled = CHUNK.tags > 0
    own = np.array(told(list(CHUNK.words)))
    assert share.features.dtype == np.uint8
    np.testing.assert_array_equal(share.features[~labelled], own[~labelled])
    named = np.array([word.isalnum() for word in CHUNK.words])
    patients = np.flatnonzero(named & ((CHUNK.tags == 1) | (CHUNK.tags == 2)))
    assert len(patients) > 3
    assert (share.features[patients] == [3, 1]).all()
    assert (own[patients] != [3, 1]).any()


def test_public_notes_have_them_of_the_words_that_the_vocabulary_has() -> None:
    construction = made(WithLengths)
    words = ["Patient", "unheardof", *WORDS[:3]]
    chunk = TokenisedSentences(words, np.zeros(len(words), dtype=np.uint8), np.array([len(words)]))
    sentences, _ = index_sentences([chunk], construction.vectors)
    shown = construction.share_public_sentences(sentences, PrivateNoise())
    known = [word.lower() in construction.vectors.words for word in words]
    assert not all(known)
    np.testing.assert_array_equal(shown.features[known], np.array(told(words))[known])
    assert not shown.features[~np.array(known)].any()


def test_constructions_that_declare_none_have_none() -> None:
    plain = made(CodedSurrogates)
    assert plain.features == plain.rows().features == ()
    assert plain.share_sentences(CHUNK, PrivateNoise()).features.shape == (CHUNK.tokens, 0)
    assert made(WithLengths).rows().features == made(WithLengths).features


@pytest.mark.parametrize(("kind", "found"), [(WithLengths, False), (LeakingLengths, True)])
def test_a_hospital_sees_whether_labelled_phi_shows_in_them(kind: type[CodedSurrogates], found: bool) -> None:
    assert find_interfering(made(kind), CHUNK, np.random.default_rng(1)).any() == found


@pytest.mark.parametrize(("kind", "found"), [(WithLengths, False), (LeakingLengths, True)])
def test_the_measurement_sees_it_too(kind: type[CodedSurrogates], found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noninterference, "LABELLED_FORMATS", ("jsonl",))
    ((tried, differing),) = measure(made(kind), NOTES, len(NOTES), 7).values()
    assert tried == len(NOTES)
    assert (differing > 0) == found


@pytest.mark.parametrize(("kind", "found"), [(WithLengths, False), (LeakingLengths, True)])
def test_an_attacker_tells_people_by_them(kind: type[CodedSurrogates], found: bool) -> None:
    category = SCHEME.category_index["PATIENT"]
    names = [("Li",), ("Montgomery",)]
    looks = looks_of(made(kind), {category: names}, draws=4)[category]
    assert len(looks) == 2
    assert (len(set(looks.values())) == 2) == found
