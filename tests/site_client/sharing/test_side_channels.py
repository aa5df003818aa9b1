"""Which sentences of a share stand alone: by what its release computes of their text, and by nothing that was drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from protocols.payload.sentence_block import UNKNOWN_TAG, SentenceBlock
from shared.anonymity.surrogates import surrogate_bank
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.procedures.codes import CodedSurrogates
from shared.embeddings.generalised import fold_casing, generalise
from shared.generate import generate_notes
from shared.labels import LabelScheme, categories_of_any_form, load_scheme
from shared.models.noise_source import PrivateNoise
from shared.sentences.tokenised import tokenised_corpus
from site_client.sharing.encode import block_of
from site_client.sharing.readable.chance import Chance
from site_client.sharing.readable.side_channels import channels
from tests import constructions
from tests.shared.embeddings.made import table

SCHEME = load_scheme("i2b2_2014")
PATIENT, STREET = (2 * SCHEME.category_index[name] + 1 for name in ("PATIENT", "STREET"))
DRAWN, HIDING, AS_IT_IS = (
    Chance.stated(SCHEME, stated) for stated in ({"surrogates": 1}, {"surrogates": 1, "casing_hidden": 1}, {})
)


def coded(codes: list[int], tags: list[int], lengths: list[int], casing: list[int] | None = None) -> SentenceBlock:
    return SentenceBlock(
        np.array(codes, dtype="<u4"),
        np.array(tags, dtype=np.uint8),
        np.zeros(len(codes), dtype=np.uint8) if casing is None else np.array(casing, dtype=np.uint8),
        np.array(lengths, dtype="<i4"),
    )


def alone(*blocks: SentenceBlock, chance: Chance = DRAWN) -> tuple[int, int | None]:
    """How many stand alone by labels, length and casing; and by these and their words."""
    found = channels(blocks, SCHEME, chance)
    return found.alone, found.alone_in_words


def test_sentences_of_other_words_stand_alone_by_these_where_they_are_written_alike() -> None:
    assert alone(coded(list(range(8)), [0] * 8, [2] * 4)) == (0, 4)
    # Over all blocks, as the other count.
    assert alone(coded([1, 2], [0, 0], [2]), coded([1, 2, 3, 2], [0] * 4, [2, 2])) == (0, 1)


def test_a_sentence_stands_alone_by_its_words_and_its_pattern_together() -> None:
    # Two have the words of the first, and two its pattern; none has both.
    codes, casing = [7, 8, 1, 7, 8, 2, 7, 8, 3, 9, 9, 4, 9, 9, 5], [2, 2, 4, 2, 2, 3, 2, 2, 3, 2, 2, 4, 2, 2, 4]
    assert alone(coded(codes, [0, 0, PATIENT] * 5, [3] * 5, casing)) == (0, 1)


def test_what_stands_in_the_place_of_phi_makes_no_sentence_stand_alone() -> None:
    two = coded([7, 1, 7, 2], [0, PATIENT, 0, PATIENT], [2, 2])
    assert alone(two) == (0, 0)
    # A name has as many words as the one in the note, written alike.
    assert alone(two, coded([7, 3, 4], [0, PATIENT, PATIENT + 1], [3])) == (1, 1)
    assert alone(two, coded([7, 3], [0, PATIENT], [2], [0, 4])) == (1, 1)


def test_where_phi_is_not_replaced_it_makes_a_sentence_stand_alone_as_any_other_word() -> None:
    assert alone(coded([7, 1, 7, 2], [0, PATIENT, 0, PATIENT], [2, 2]), chance=AS_IT_IS) == (0, 2)


@pytest.mark.parametrize(
    ("tag", "chance", "found"),
    [(STREET, DRAWN, 0), (STREET, AS_IT_IS, 2), (PATIENT, DRAWN, 2), (PATIENT, HIDING, 0)],
)
def test_a_length_and_a_casing_that_were_drawn_make_no_sentence_stand_alone(
    tag: int, chance: Chance, found: int
) -> None:
    one, other = (
        coded([7, 1], [0, tag], [2], [2, 4]),
        coded([7, 1, 1, 1], [0, tag, tag + 1, tag + 1], [4], [2, 3, 0, 2]),
    )
    assert alone(one, other, chance=chance) == (found, found)
    # Two spans are told from one, and a span from one of another category.
    several = coded([7, 1, 1], [0, tag, tag], [3])
    assert alone(one, one, several, chance=chance) == (1, 1)
    assert alone(one, one, replace(one, tags=np.array([0, 3], dtype=np.uint8)), chance=chance) == (1, 1)


def test_how_many_words_may_be_phi_makes_no_sentence_stand_alone() -> None:
    one, other = coded([7, 0], [0, UNKNOWN_TAG], [2]), coded([7, 0, 0], [0, UNKNOWN_TAG, UNKNOWN_TAG], [3], [0, 3, 4])
    assert alone(one, other) == (0, 0)
    # A run ends with its sentence.
    assert alone(coded([7, 0, 0], [0, UNKNOWN_TAG, UNKNOWN_TAG], [2, 1]), one, coded([0], [UNKNOWN_TAG], [1])) == (0, 0)


def test_punctuation_within_phi_is_no_chance_and_makes_a_sentence_stand_alone() -> None:
    chance, words = ({"surrogates": 1}, ["anna", "-", ".", "otto"])
    block = coded([0, 1, 3, 3, 2, 0], [PATIENT, PATIENT + 1, PATIENT + 1] * 2, [3, 3])
    street = replace(block, tags=block.tags - np.uint8(PATIENT) + np.uint8(STREET))
    told = Chance.stated(SCHEME, chance, words)
    assert alone(block, chance=told) == (0, 2)
    assert alone(block, chance=DRAWN) == (0, 0)
    assert alone(street, chance=told) == (0, 0)
    assert alone(block, chance=Chance.stated(SCHEME, chance | {"casing_hidden": 1}, words)) == (0, 0)


def test_features_of_words_that_were_drawn_make_no_sentence_stand_alone() -> None:
    block = coded([7, 1, 7, 1], [0, PATIENT, 0, PATIENT], [2, 2])
    of_phi, of_others = (
        replace(block, features=np.array(one, dtype=np.uint8)[:, None]) for one in ([0, 1, 0, 2], [1, 0, 2, 0])
    )
    assert (alone(of_phi), alone(of_others), alone(of_phi, chance=AS_IT_IS)) == ((0, 0), (2, 2), (2, 2))


def test_no_category_of_a_scheme_is_missed() -> None:
    last = LabelScheme("many", tuple(f"KIND{number}" for number in range(126)))
    block = coded([7, 1, 7, 1, 1], [0, 251, 0, 251, 252], [2, 3])
    # Categories that nobody knows are of any form.
    assert channels([block], last, Chance.stated(last, {"surrogates": 1})).alone_in_words == 0


def made(public: int = 12, own: int = 20) -> tuple[CodedSurrogates, list[SentenceBlock]]:
    """A release, and what it shows of some notes under three draws."""
    notes = list(generate_notes("en_harbor", public + own, 0))
    chunk = tokenised_corpus(notes[public:], SCHEME)
    whole = tokenised_corpus(notes, SCHEME)
    phi = {word.lower() for word, tag in zip(whole.words, whole.tags.tolist(), strict=True) if tag}
    clear = fold_casing(table(list(dict.fromkeys(word.lower() for word in whole.words)), 8))
    shown = generalise(clear, np.array([word not in phi or is_punctuation(word) for word in clear.words]), 4)
    bank = surrogate_bank([tokenised_corpus(notes[:public], SCHEME)], any_form=categories_of_any_form(SCHEME))
    release = constructions.surrogates(shown, SCHEME, bank)
    noise = PrivateNoise()
    drawn = [release.with_public_lengths(chunk, noise) for _ in range(3)]
    return release, [block_of(release.share_sentences(sentences, noise)) for sentences in drawn]


def test_what_counts_is_the_same_in_every_draw_and_all_that_is() -> None:
    release, blocks = made()
    chance = Chance.of(release)
    assert len({tuple(block.lengths.tolist()) for block in blocks}) > 1
    patterns, shown = (np.array([told(block) for block in blocks]) for told in (chance.patterns, chance.shown))
    assert (patterns == patterns[0]).all()
    assert (shown == shown[0]).all()
    free = categories_of_any_form(SCHEME)
    expected = Counter(_token_by_token(blocks[0], release, free))
    found = channels(blocks[:1], SCHEME, chance)
    assert found.alone_in_words == sum(times == 1 for times in expected.values())
    assert 0 < found.alone < found.alone_in_words < blocks[0].sentences


def _token_by_token(block: SentenceBlock, release: CodedSurrogates, free: frozenset[int]) -> list[tuple[object, ...]]:
    """What each sentence shows that is not drawn."""
    told: list[tuple[object, ...]] = []
    columns = list(zip(block.values.tolist(), block.tags.tolist(), block.casing.tolist(), strict=True))
    for begin, end in zip(block.offsets[:-1].tolist(), block.offsets[1:].tolist(), strict=True):
        sentence: list[object] = []
        for code, tag, casing in columns[begin:end]:
            if tag == 0:
                sentence.append((code, casing))
            elif (tag - 1) // 2 not in free:
                word = release.vectors.words[code] if code < len(release.vectors) else ""
                sentence.append((tag, casing, word if word and is_punctuation(word) else ""))
            elif tag % 2:
                sentence.append(tag)
        told.append(tuple(sentence))
    return told
