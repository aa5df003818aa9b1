from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError
from shared.models.noise import NoiseSource
from shared.privacy.attacks.readability import ReadabilitySettings, _are_content, _commonest, readability
from shared.privacy.inversion.model import Candidates, GuesserSettings, Sight, WordGuesser, target_cells
from shared.privacy.inversion.ranking import _ranks, likelihoods, ranks
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from tests.shared.privacy.attacked import PLAIN, SCHEME, VECTORS, Blind, Mapped, Noisy, clear, notes, shown_as
from tests.shared.training.toy import random_sentences

QUICK = ReadabilitySettings(GuesserSettings(epochs=2, hidden=16, batch=16, negatives=64), bands=(0, 1, 30))


def sentences(count: int, seed: int = 0) -> TokenisedSentences:
    return tokenised_corpus(notes(count, seed), SCHEME)


KNOWN, TARGET = sentences(60), sentences(30, 1)
READ = [word for word, tag in zip(TARGET.words, TARGET.tags.tolist(), strict=True) if not tag and word != "."]


def read(encoder: SharingEncoder, public: dict[str, int] | None = None) -> list[Finding]:
    return readability(encoder, VECTORS, KNOWN, TARGET, QUICK, public=public)


def test_clear_vectors_are_read_and_every_row_names_one_word() -> None:
    found = read(clear())
    assert found[0].measure == "top-1 by look-up, all words"
    assert (found[0].value, found[0].trials) == (1.0, len(READ))
    assert found[-1].measure == "tokens whose row belongs to a single public word"
    assert found[-1].value == 1.0


def test_a_blind_share_gives_the_commonest_word_at_best() -> None:
    found = read(Blind())
    context_free = max(READ.count(word) for word in set(READ)) / len(READ)
    assert found[0].interval[0] <= context_free
    assert found[-1].value == 0.0


def test_words_that_share_a_row_are_read_as_the_commonest_of_them() -> None:
    public = dict.fromkeys(PLAIN, 10) | {PLAIN[0]: 50, PLAIN[1]: 40}
    found = {finding.measure: finding for finding in read(Mapped({PLAIN[1]: PLAIN[0]}), public)}
    assert found["top-1 by look-up, all words"].value == pytest.approx(1 - READ.count(PLAIN[1]) / len(READ))
    assert found["tokens whose row belongs to a single public word"].value == pytest.approx(
        1 - (READ.count(PLAIN[0]) + READ.count(PLAIN[1])) / len(READ)
    )


def test_the_bands_follow_public_frequency() -> None:
    public = dict.fromkeys(PLAIN[:5], 30) | dict.fromkeys(PLAIN[5:10], 3)
    found = {finding.measure.partition(", ")[2]: finding for finding in read(clear(), public)}
    counts = [public.get(word, 0) for word in READ]
    assert found["public frequency from 0 to 0"].trials == counts.count(0)
    assert found["public frequency from 1 to 29"].trials == counts.count(3)
    assert found["public frequency from 30"].trials == counts.count(30)
    assert found["rare words, public frequency below 5"].trials == counts.count(0) + counts.count(3)


def test_where_a_row_is_never_the_same_twice_the_network_reads() -> None:
    found = read(Noisy(0.01, 0.01))
    assert found[0].measure == "top-1 by network, all words"
    assert found[0].value > 0.8


def test_the_commonest_of_each_group() -> None:
    groups, counts = np.array([1, 0, 1, 0, 2]), np.array([3, 5, 4, 5, 0])
    assert _commonest(groups, counts).tolist() == [1, 2, 4]


def test_ranks_by_hand() -> None:
    scores = torch.tensor([[0.0, 3.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 5.0], [-np.inf, 0.0, 1.0, 2.0]])
    found = _ranks(scores, torch.tensor([3, 1, -1, 0]))
    assert found.ahead.tolist() == [1, 0, np.inf, np.inf]
    assert found.equal[:2].tolist() == [0, 2]


@pytest.mark.parametrize("equals", [1, 2, 3, 12])
@pytest.mark.parametrize("ahead", [0, 1, 9, 10])
@pytest.mark.parametrize("top", [1, 10])
def test_among_equals_the_attacker_draws(equals: int, ahead: int, top: int) -> None:
    scores = torch.tensor([[2.0] * ahead + [1.0] * equals + [0.0]])
    # In each of the orders that equals can come in, one place for the true one.
    places = [ahead + place < top for place in range(equals)]
    assert _ranks(scores, torch.tensor([ahead])).chance_within(top).tolist() == [pytest.approx(np.mean(places))]


def test_target_cells_point_at_the_targets_of_a_padded_batch() -> None:
    share = random_sentences([3, 5, 2, 5])
    targets = np.array([0, 2, 3, 7, 9, 14])
    sight = Sight(share, targets, targets)
    rows = np.array([1, 3, 0, 2])
    batch = share.batch(rows, share.starts)
    cells, which = target_cells(sight, rows)
    assert sorted(which.tolist()) == list(range(6))
    np.testing.assert_array_equal(batch.inputs.flatten(0, 1)[cells].numpy(), share.values[targets[which]])


def guesser() -> tuple[WordGuesser, Candidates, Sight]:
    candidates = Candidates.of([*PLAIN, *PLAIN[:4]], VECTORS, 100)
    share = random_sentences([4, 3, 2], dim=6)
    targets = np.array([1, 2, 5, 8])
    torch.manual_seed(0)
    return WordGuesser(6, 5, candidates, 4), candidates, Sight(share, targets, np.array([0, 30, 2, -1]))


def test_the_two_ways_to_name_a_word_make_one_distribution() -> None:
    network, candidates, sight = guesser()
    assert candidates.closed == 4
    rows = np.array([0, 1, 2])
    others = torch.arange(4, len(candidates.words))
    with torch.no_grad():
        features = network.features(sight.share, rows)
        scores = network(features, torch.zeros(len(features), dtype=torch.int64), candidates, others)
    np.testing.assert_allclose(scores.exp().sum(1).numpy(), 1, rtol=1e-4)


def test_a_group_is_all_that_a_target_can_be() -> None:
    network, candidates, sight = guesser()
    groups = np.arange(len(candidates.words))
    told = ranks(network, [sight], candidates, groups=(groups, np.array([0, 30, 2, 1])))
    assert told.chance_within(1).tolist() == [1, 1, 1, 0]
    free = ranks(network, [sight], candidates).ahead
    np.testing.assert_array_equal(ranks(network, [sight], candidates, groups=(groups, np.full(4, -1))).ahead, free)
    assert ranks(network, [sight], candidates, groups=(groups, np.full(4, 7))).ahead.tolist() == [np.inf] * 4


def test_weights_choose_among_views() -> None:
    network, candidates, sight = guesser()
    other = Sight(random_sentences([4, 3, 2], dim=6, seed=5), sight.targets, sight.answers)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    first, second = (ranks(network, [one], candidates).ahead for one in (sight, other))
    np.testing.assert_array_equal(
        ranks(network, [sight, other], candidates, weights=weights).ahead, np.where(weights[:, 0] > 0, first, second)
    )
    alone = likelihoods(network, [sight], candidates, np.array([[1.0]]))
    both = likelihoods(network, [sight, other], candidates, np.array([[1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_allclose(both[:, 0], alone[:, 0], rtol=1e-4)
    assert both[3].tolist() == [0.0, 0.0]


def test_a_setting_that_cannot_work_is_refused() -> None:
    for setting in ({"rare": 0}, {"bands": (1, 5)}, {"bands": (0, 5, 5)}):
        with pytest.raises(ConfigurationError):
            ReadabilitySettings(**setting)


class NearPhi(Mapped):
    """Shows a word as it is beside one that is labelled, and all others as one."""

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        beside = [True] * len(chunk.words)
        for place in range(len(beside)):
            own = chunk.sentence_of_token == chunk.sentence_of_token[place]
            beside[place] = bool((own & (chunk.tags > 0))[max(0, place - 1) : place + 2].any())
        return shown_as(self.vectors, [w if b else "the" for w, b in zip(chunk.words, beside, strict=True)], chunk)


def test_words_that_are_shown_near_phi_alone_are_read_there() -> None:
    """All that stand beside PHI, and elsewhere the one word that every other is shown as."""
    shared = NearPhi({}).rehearse_share(TARGET, torch.Generator())
    expected = [
        np.array_equal(row, VECTORS.rows([word])[0].astype(np.float16)) or word == PLAIN[0]
        for row, word, tag in zip(shared.values, TARGET.words, TARGET.tags.tolist(), strict=True)
        if not tag and word != "."
    ]
    public = dict.fromkeys(PLAIN, 10) | {PLAIN[0]: 50}
    found = {finding.measure: finding for finding in read(NearPhi({}), public)}
    look_up = next(one for name, one in found.items() if name.startswith("top-1 by look-up, all"))
    assert 0.2 < np.mean(expected) < 0.95
    assert look_up.value == pytest.approx(np.mean(expected))


def test_content_words_are_long_and_not_among_the_commonest() -> None:
    public = dict.fromkeys(PLAIN, 1) | {"The": 5, "patient": 5, "cough": 2}
    settings = replace(QUICK, commonest=2)
    words = ["the", "patient", "Cough", "fever", "rash", "ill", "a1234"]
    assert _are_content(words, public, settings).tolist() == [False, False, True, True, True, False, False]
    content = [word for word in READ if len(word) > 3]
    found = {finding.measure: finding.trials for finding in read(clear(), dict.fromkeys(PLAIN, 30))}
    assert found["top-1 by look-up, content words"] == 0
    assert found["top-1 by look-up, rare content words, public frequency below 5"] == 0
    few = {
        finding.measure: finding
        for finding in readability(clear(), VECTORS, KNOWN, TARGET, replace(QUICK, commonest=0))
    }
    assert (few["top-1 by look-up, content words"].trials, few["top-1 by look-up, content words"].value) == (
        len(content),
        1,
    )
