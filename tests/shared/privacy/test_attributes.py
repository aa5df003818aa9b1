from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from shared.anonymity.surrogates import surrogate_bank
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.generate import generate_notes, public_site
from shared.labels import load_scheme
from shared.privacy.attacks.person.attributes import attribute_inference
from shared.privacy.attacks.person.searched_share import Kind, SearchedShare
from shared.privacy.attacks.person.told import AttributeSettings, PublicFacts
from shared.privacy.material.sharing import ClearEncoder, SharingEncoder
from shared.privacy.policy import judge, load_policy
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests import constructions
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES, PLAIN, SCHEME, Blind, Mapped, Noisy
from tests.tiny_notes import note

SETTINGS = AttributeSettings(targets=100, known=2, candidates=20, common=len(PLAIN))
FACTS = tuple(name.lower() for name in NAMES)
SCHEME_OF_GENERATED = load_scheme("i2b2_2014")


def notes(count: int, seed: int) -> list[Document]:
    """Sentences of common words, four rare ones that have nothing to do with each other, and a name."""
    dice = np.random.default_rng(seed)
    return [
        note(
            f"n{number}",
            f"{' '.join(dice.choice(PLAIN, 6))} {' '.join(dice.choice(FACTS, 4, replace=False))} ",
            (str(dice.choice(NAMES)), "PERSON"),
            " .\n",
        )
        for number in range(count)
    ]


# What is rare is shown by a vector of its own.
SHOWN = Mapped(dict(zip(FACTS, NAMES, strict=True)))
LOWERED = table((*PLAIN, *FACTS, *NAMES, "."), dim=12)

KNOWN, ATTACKED = 1, 2


@cache
def sentences(seed: int) -> TokenisedSentences:
    return tokenised_corpus(notes(400, seed), SCHEME)


def attacked(encoder: SharingEncoder) -> list[Finding]:
    return attribute_inference(encoder, sentences(KNOWN), sentences(ATTACKED), SETTINGS)


def broken(findings: list[Finding]) -> set[str]:
    """What the limits that are broken are about."""
    limits = [one for one in load_policy().limits if one.attack == "attribute inference"]
    return {verdict.limit.measure for verdict in judge(limits, findings, full=False) if verdict.broken}


READ = "another word of the sentence"


def test_words_that_are_shown_as_they_are_break_our_limits() -> None:
    read, found = attacked(SHOWN)
    assert (read.trials, found.trials) == (100, 100)
    assert read.value > 0.9
    assert found.value > 0.9
    assert READ in broken([read])


def test_a_blind_release_is_at_what_public_notes_tell() -> None:
    read, found = attacked(Blind())
    assert read.at_baseline
    assert found.at_baseline
    assert READ not in broken([read])


def test_a_sentence_that_is_found_tells_nothing_where_its_words_look_alike() -> None:
    read, found = attacked(Mapped(dict.fromkeys(FACTS, "the")))
    assert found.interval[0] > 0.2
    assert read.at_baseline
    assert READ not in broken([read])


def test_small_groups_of_words_break_our_limit() -> None:
    leaders = {word: NAMES[place - place % 4] for place, word in enumerate(FACTS)}
    read, _ = attacked(Mapped(leaders))
    assert 0.5 < read.value < 1
    assert READ in broken([read])


def test_noise_is_looked_through() -> None:
    assert attacked(Noisy(0.001, 0.05, LOWERED))[0].value > 0.8


def test_which_sentences_are_asked_for_does_not_hang_on_the_release() -> None:
    assert attacked(SHOWN)[0].baseline == attacked(Blind())[0].baseline


@cache
def generated() -> tuple[TokenisedSentences, TokenisedSentences, WordVectors]:
    """The attacker's and the attacked of the notes that the demonstration makes, and vectors that have nothing to do with each other."""
    made = list(generate_notes(public_site("en"), 60, 0))
    known, target = (tokenised_corpus(part, SCHEME_OF_GENERATED) for part in (made[:40], made[40:]))
    words = tuple(dict.fromkeys(word.lower() for word in (*known.words, *target.words)))
    return known, target, table(words, dim=30)


def test_of_generated_notes_clear_words_are_caught_and_the_default_passes() -> None:
    known, target, vectors = generated()
    bank = surrogate_bank([known])
    default = constructions.surrogates(constructions.clusters(vectors, 100), SCHEME_OF_GENERATED, bank)
    settings = AttributeSettings()
    kept = attribute_inference(default, known, target, settings)
    assert kept[0].trials >= 50
    assert not broken(kept)
    assert broken(attribute_inference(ClearEncoder(vectors, SCHEME_OF_GENERATED), known, target, settings)) == {READ}


def test_facts_are_rare_words_outside_phi() -> None:
    facts = PublicFacts(sentences(KNOWN), SETTINGS)
    for one in facts.draw(sentences(ATTACKED), np.random.default_rng(0)):
        own = {*one.words, one.listed[one.truth]}
        assert len(own) == 3
        assert len(set(one.listed)) == 20
        assert not own & set(PLAIN)
        assert not set(one.words) & set(one.listed)
        start = int(sentences(ATTACKED).starts[one.sentence])
        assert own <= {word.lower() for word in sentences(ATTACKED).words[start : start + 10]}
        assert one.phi == (start + 10,)
        assert not [word for word in own if word in repr(one)]


def test_facts_that_hardly_any_sentence_fits_count_most() -> None:
    share = SearchedShare(SHOWN, sentences(ATTACKED), 0)
    reliable = np.full(len(Kind), 0.9)
    rare, common = np.array([3]), np.arange(200)
    likely = np.exp(share.weigh([(Kind.WORD, rare), (Kind.PATTERN, common)], reliable))
    assert likely.sum() == pytest.approx(1)
    assert likely.argmax() == 3
    # Odds of 9 against 201 of 201, and 2 of 400: by hand.
    assert likely[0] / likely[300] == pytest.approx(9 / (201 / 201))
    assert likely[3] / likely[0] == pytest.approx(9 / (2 / 400))
    # What fits no oftener than by chance tells nothing.
    nothing = share.weigh([(Kind.PHI, rare)], np.zeros(len(Kind)) + 1e-6)
    assert np.exp(nothing) == pytest.approx(np.full(400, 1 / 400))


def test_too_few_facts_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="different words"):
        attribute_inference(SHOWN, sentences(KNOWN), sentences(ATTACKED), AttributeSettings(common=5000))
    with pytest.raises(ConfigurationError, match="sentences with 9"):
        attribute_inference(SHOWN, sentences(KNOWN), sentences(ATTACKED), replace(SETTINGS, known=8))
    with pytest.raises(ConfigurationError, match="from 1"):
        AttributeSettings(candidates=1)


def test_the_surest_tenth_is_told_of_many_sentences_only() -> None:
    known, many = (tokenised_corpus(notes(600, seed), SCHEME) for seed in (1, 2))
    *_, surest = attribute_inference(SHOWN, known, many, replace(SETTINGS, targets=500))
    assert surest.trials == 50
    assert len(broken([surest])) == 1
