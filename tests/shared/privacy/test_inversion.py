from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, TrainingError
from shared.generate.notes import generate_notes
from shared.labels import LabelScheme, load_scheme
from shared.models.noise import NoiseSource
from shared.privacy.attacks.inversion import ATTACK, TOKEN_INVERSION, InversionSettings, _findings, token_inversion
from shared.privacy.inversion.model import Candidates, GuesserSettings
from shared.privacy.inversion.outcome import Outcome
from shared.privacy.inversion.placebo import Placebo
from shared.privacy.inversion.ranking import Ranks, _mixed
from shared.privacy.inversion.table import WordTable, phi_words
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.policy import judge, load_policy
from shared.privacy.statistics.cluster_bootstrap import cluster_interval
from shared.privacy.statistics.finding import Finding
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.casing import casing_classes
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES, SCHEME, VECTORS, Blind, Surrogates, clear, notes

QUICK = InversionSettings(
    GuesserSettings(epochs=3, hidden=16, batch=16, negatives=64, learning_rate=5e-3), resamples=500
)


def sentences(count: int, seed: int = 0) -> TokenisedSentences:
    return tokenised_corpus(notes(count, seed), SCHEME)


KNOWN, TARGET = sentences(150), sentences(60, 1)
I2B2 = load_scheme("i2b2_2014")
CATEGORIES = "categories in which top-1 lies above context-only, jointly at 95%"


def inverted(encoder: SharingEncoder, settings: InversionSettings = QUICK) -> dict[str, Finding]:
    return {finding.measure: finding for finding in token_inversion(encoder, VECTORS, KNOWN, TARGET, settings)}


def test_clear_vectors_give_their_words_away() -> None:
    found = inverted(clear())
    for kind in ("all categories", "PERSON", "PLACE"):
        assert found[f"top-1, {kind}"].value > 0.95
        assert not found[f"top-1, {kind}"].at_baseline
        assert not found[f"top-1 above context-only, {kind}"].at_baseline
        assert found[f"top-1, {kind}"].value <= found[f"top-10, {kind}"].value
    verdict = found[CATEGORIES]
    assert (verdict.value, verdict.trials, verdict.unit) == (2.0, 120, "categories")
    assert found["top-1 above context, casing and placebo, all categories"].interval[0] > 0


@pytest.mark.parametrize("encoder", [Blind(), Surrogates()], ids=["blind", "surrogates"])
def test_a_share_without_the_words_is_no_better_than_its_context(encoder: SharingEncoder) -> None:
    found = inverted(encoder)
    for kind in ("all categories", "PERSON", "PLACE"):
        assert found[f"top-1 above context-only, {kind}"].at_baseline
        assert found[f"top-1, {kind}"].value < 0.05
    assert found[CATEGORIES].value == 0


def test_a_surrogate_that_is_honest_now_and_then_is_found_out() -> None:
    found = inverted(Surrogates(honest=0.5))
    assert 0.4 < found["top-1, all categories"].value < 0.65
    assert not found["top-1 above context-only, all categories"].at_baseline


@dataclass(frozen=True)
class _SamePattern:
    """Shows a random word in the same casing in the place of each PHI word, but the word itself with a chance."""

    vectors: WordVectors
    honest: float
    scheme: LabelScheme = I2B2
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        assert isinstance(noise, torch.Generator)
        of_casing = casing_classes(self.vectors.words)
        others = {kind: np.flatnonzero(of_casing == kind) for kind in np.unique(of_casing).tolist()}
        casing, chances = casing_classes(chunk.words), torch.rand((len(chunk.words), 2), generator=noise).tolist()
        words = [
            self.vectors.words[others[kind][int(pick * len(others[kind]))]]
            if tag and lie >= self.honest and word[0].isalnum()
            else word
            for word, tag, kind, (pick, lie) in zip(
                chunk.words, chunk.tags.tolist(), casing.tolist(), chances, strict=True
            )
        ]
        return RaggedSentences(self.vectors.rows(words).astype(np.float16), casing, chunk.tags, chunk.lengths)


@pytest.mark.parametrize(("honest", "passes"), [(0.0, True), (0.1, False)])
def test_a_quick_audit_finds_one_word_of_ten_that_is_shown_as_it_is(honest: float, passes: bool) -> None:
    """Of clinical notes, where a network learns from few of them less than a table tells by casing."""
    written = list(generate_notes("en_harbor", 100, 0))
    known, target = (tokenised_corpus(part, I2B2) for part in (written[:60], written[60:]))
    vectors = table(sorted({*known.words, *target.words}), dim=32)
    (settings,) = TOKEN_INVERSION.quick
    found = token_inversion(_SamePattern(vectors, honest), vectors, known, target, settings)
    limits = [one for one in load_policy().limits if one.attack == ATTACK]
    assert all(verdict.passed for verdict in judge(limits, found, full=False)) == passes
    by_name = {one.measure: one for one in found}
    assert by_name["top-1, all categories"].value > by_name["top-1 by casing alone, all categories"].value - 0.01


def test_the_table_backs_what_it_knows_of_a_span_by_casing_and_category() -> None:
    tags = np.array([1, 2, 1, 1, 0], np.uint8)
    learning = TokenisedSentences(["Ann", "Lee", "Ann", "bo", "seen"], tags, np.array([5]))
    vectors = table(("Ann", "Lee", "bo", "seen", "Zoe"), dim=2)
    candidates = Candidates.of(["Ann", "Lee", "Ann", "bo"], vectors, 10)
    judged = TokenisedSentences(["Zoe"], np.array([1], np.uint8), np.array([1]))
    prior = WordTable(learning).prior(judged, casing_classes(judged.words), candidates)
    chances = dict(zip(candidates.words, prior(np.zeros(1, np.int64)).exp()[0].tolist(), strict=True))
    # Of the category 4 words, 3 different; of its capitalised ones 3, 2; of spans of one such word 1, 1.
    by_category = {
        word: (count + 3 / 5) / 7
        for word, count in zip(("Ann", "Lee", "bo", "seen", "Zoe"), (2, 1, 1, 0, 0), strict=True)
    }
    by_casing = {word: ({"Ann": 2, "Lee": 1}.get(word, 0) + 2 * by_category[word]) / 5 for word in vectors.words}
    assert chances == pytest.approx({word: ((word == "Ann") + by_casing[word]) / 2 for word in vectors.words})
    assert sum(chances.values()) == pytest.approx(1)


def test_a_placebo_is_written_like_the_words_and_says_nothing_more_of_them() -> None:
    def sentence(*words: str) -> TokenisedSentences:
        return TokenisedSentences([*words], np.array([1, 2, 0, 3, 3], np.uint8), np.array([5]))

    known, targets = sentence("Ann", "LEE", "saw", "Rome", "12"), np.array([0, 1, 3, 4])
    placebo = Placebo(known, targets)
    asked = sentence("Zoe", "Ng", "met", "Bern", "345")
    assert placebo.draw(asked, targets, np.random.default_rng(0)).words == ["Ann", "Ann", "met", "Rome", "12"]
    # Words in capitals are known of people alone; nobody known is written in small letters.
    rare = placebo.draw(sentence("ZOE", "ng", "met", "BERN", "7"), targets, np.random.default_rng(0))
    assert rare.words == ["LEE", "a", "met", "LEE", "12"]
    others = [word[::-1].capitalize() if word in NAMES else word for word in TARGET.words]
    targets = phi_words(TARGET)
    one, other = (
        Placebo(KNOWN, phi_words(KNOWN)).draw(sentences, targets, np.random.default_rng(3)).words
        for sentences in (TARGET, TARGET.with_words(others))
    )
    assert one == other
    assert one != TARGET.words


@dataclass(frozen=True)
class _Smuggler:
    """Hides each PHI word and shows its vector at the token after it."""

    scheme: LabelScheme = SCHEME
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        values = VECTORS.rows(chunk.words)
        values[chunk.tags > 0] = 0
        before = np.flatnonzero((chunk.tags[:-1] > 0) & (chunk.tags[1:] == 0))
        values[before + 1] = VECTORS.rows([chunk.words[place] for place in before.tolist()])
        casing = np.zeros(len(values), dtype=np.uint8)
        return RaggedSentences(values.astype(np.float16), casing, chunk.tags, chunk.lengths)


def test_what_leaks_into_the_neighbours_does_not_feed_the_baseline() -> None:
    settings = InversionSettings(
        GuesserSettings(epochs=12, hidden=48, batch=16, negatives=64, learning_rate=1e-2), resamples=500
    )
    place = inverted(_Smuggler(), settings)["top-1, PLACE"]
    assert place.baseline is not None
    assert place.baseline < 0.05
    assert place.value > 0.25


def test_the_frequency_baseline_and_seen_words_by_hand() -> None:
    tags = np.array([1, 2, 0, 3], dtype=np.uint8)
    learning = TokenisedSentences(["Ann", "Ann", "x", "Bern"], tags, np.array([4]))
    judged = TokenisedSentences(
        ["Ann", ".", "x", "Ann", "Bea", "Bern"], np.array([1, 2, 0, 3, 1, 3], np.uint8), np.array([3, 3])
    )
    outcome = Outcome.of(judged, ["Ann", "Ann", "Bern"], WordTable(learning), casing_classes(judged.words))
    assert outcome.category.tolist() == [0, 1, 0, 1]
    assert outcome.sentence.tolist() == [0, 1, 1, 1]
    assert outcome.frequent.tolist() == [True, False, False, True]
    assert outcome.seen.tolist() == [True, True, False, True]


def test_the_casing_baseline_by_hand() -> None:
    learning = TokenisedSentences(["Ann", "Ann", "ann", "BO"], np.array([1, 1, 1, 1], np.uint8), np.array([4]))
    judged = TokenisedSentences(["Ann", "ann", "BO", "Bo"], np.array([1, 1, 1, 1], np.uint8), np.array([4]))
    outcome = Outcome.of(judged, learning.words, WordTable(learning), casing_classes(judged.words))
    assert outcome.frequent.tolist() == [True, False, False, False]
    assert outcome.cased.tolist() == [True, True, True, False]


def test_the_casing_of_a_whole_span_and_the_place_in_it_are_known_without_the_share() -> None:
    def of(*spans: str) -> TokenisedSentences:
        words = [word for span in spans for word in span.split()]
        tags = [2 if place else 1 for span in spans for place, _ in enumerate(span.split())]
        return TokenisedSentences(words, np.array(tags, np.uint8), np.array([len(words)]))

    learning = of(
        "Plaza de la Paz", "Calle de la Luz", "Calle de los Reyes", "Calle que Sube", "Calle que Baja", "Calle que Gira"
    )
    judged = of("Ronda de la Fe", "Ronda que Cae", "ronda")
    outcome = Outcome.of(judged, learning.words, WordTable(learning), casing_classes(judged.words))
    # By the casing of a word alone, all that is written small would be "de" or "que".
    assert outcome.cased.tolist() == [False, True, True, False, False, True, False, False]
    # As it travels: a release may show another casing than that of the words.
    hidden = np.full(len(judged.words), 9, np.uint8)
    assert not Outcome.of(judged, learning.words, WordTable(learning), hidden).cased.any()


@dataclass(frozen=True)
class _CasingOnly:
    """Hides every word but shows how it is written."""

    scheme: LabelScheme = SCHEME
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        values = np.ones((len(chunk.words), 4), dtype=np.float16)
        return RaggedSentences(values, casing_classes(chunk.words), chunk.tags, chunk.lengths)


def test_what_casing_gives_away_is_its_own_figure() -> None:
    def written(chunk: TokenisedSentences) -> TokenisedSentences:
        """Names of people all in capitals, and one name only; places as they are."""
        words = [NAMES[0].upper() if tag in (1, 2) else word for word, tag in zip(chunk.words, chunk.tags, strict=True)]
        lower = np.random.default_rng(0).random(len(words)) < 0.5
        words = [word.lower() if low and tag else word for word, tag, low in zip(words, chunk.tags, lower, strict=True)]
        return TokenisedSentences(words, chunk.tags, chunk.lengths)

    found = {
        finding.measure: finding
        for finding in token_inversion(_CasingOnly(), VECTORS, written(KNOWN), written(TARGET), QUICK)
    }
    assert found["top-1 by casing alone, PERSON"].value == 1
    assert found["top-1 by casing alone, PERSON"].baseline == pytest.approx(0.5, abs=0.1)
    assert found[CATEGORIES].value == 0


def judged(
    sentences: list[int], read: list[bool], words: int = 20, context: float = np.inf, placebo: float = np.inf
) -> dict[str, Finding]:
    """Of categories with so many sentences of so many words each, those that are all read or not at all."""
    category = np.repeat(np.arange(len(sentences)), np.array(sentences) * words)
    sentence = np.repeat(np.arange(sum(sentences)), words)
    no, equal = np.zeros(len(category), dtype=np.bool_), np.zeros(len(category))
    attack = Ranks(np.where(np.array(read)[category], 0, np.inf), equal)
    without = (Ranks(np.full(len(category), rank), equal) for rank in (context, placebo))
    outcome = Outcome(category, sentence, no, no, no, attack, *without)
    names = [f"C{index}" for index in range(len(sentences))]
    found = _findings(outcome, names, InversionSettings(), np.random.default_rng(0))
    return {finding.measure: finding for finding in found}


def kept(found: dict[str, Finding]) -> list[bool]:
    """Which of our limits are kept."""
    limits = [one for one in load_policy().limits if one.attack == ATTACK]
    return [verdict.passed for verdict in judge(limits, list(found.values()), full=True)]


@pytest.mark.parametrize(
    ("sentences", "read", "above", "trials"),
    [
        # None has enough sentences by itself; all of them have.
        ([9] * 5, [True] * 5, 1, 45),
        ([9] * 5, [False] * 5, 0, 45),
        ([9] * 5, [True] + [False] * 4, 1, 45),
        # Three sentences are too few even together, so the smallest other category joins them.
        ([2, 40, 1, 60], [True] * 4, 2, 103),
        ([2, 12, 1, 60], [True, True, True, False], 1, 75),
        ([2, 40, 1, 60], [False] * 4, 0, 103),
        ([10, 40], [True, False], 1, 50),
        ([12, 4, 8], [False, True, True], 1, 24),
        # Fewer than ten sentences in all say nothing.
        ([4, 5], [True, True], 0, 0),
    ],
)
def test_no_category_goes_unjudged_for_want_of_sentences(
    sentences: list[int], read: list[bool], above: int, trials: int
) -> None:
    found = judged(sentences, read)
    assert (found[CATEGORIES].value, found[CATEGORIES].trials) == (above, trials)


def test_words_that_are_all_read_break_our_limits_however_few_the_sentences() -> None:
    assert not any(kept(judged([9] * 5, [True] * 5)))
    assert not all(kept(judged([4, 5], [True, True])))
    assert not all(kept(judged([4, 5], [False, False])))
    assert all(kept(judged([9] * 12, [False] * 12)))
    # As much is read without the share.
    assert all(kept(judged([9] * 12, [True] * 12, context=0.0)))
    # As much is read off other PHI, drawn without a look at theirs.
    assert all(kept(judged([9] * 12, [True] * 12, placebo=0.0)))
    # One word of a hundred that the placebo does not give.
    assert not any(kept(judged([10, 1000], [True, False], words=1)))


def test_no_word_of_a_note_is_in_a_finding() -> None:
    told = repr(list(inverted(clear()).values()))
    assert not any(word in told for word in set(np.array(TARGET.words)[TARGET.tags > 0].tolist()))


def test_the_interval_of_clusters() -> None:
    generator = np.random.default_rng(0)
    sizes = generator.integers(1, 6, 400)
    cluster = np.repeat(np.arange(400), sizes)
    # The words of a cluster are all alike, so that the clusters are the sample.
    hit = generator.integers(0, 2, 400)
    low, high = cluster_interval(hit[cluster].astype(np.float64), cluster, generator, 4000)
    mean = hit[cluster].mean()
    spread = np.sqrt(np.sum((sizes * (hit - mean)) ** 2)) / sizes.sum()
    assert low == pytest.approx(mean - 1.96 * spread, abs=0.01)
    assert high == pytest.approx(mean + 1.96 * spread, abs=0.01)
    assert cluster_interval(np.ones(50), np.arange(50) * 7, generator, 100) == (1.0, 1.0)
    assert cluster_interval(np.ones(50), np.arange(50) % 9, generator, 100) == (-1.0, 1.0)


def test_no_phi_is_an_error() -> None:
    plain = TokenisedSentences(KNOWN.words, np.zeros_like(KNOWN.tags), KNOWN.lengths)
    with pytest.raises(TrainingError, match="PHI"):
        token_inversion(clear(), VECTORS, plain, TARGET, QUICK)


def test_a_setting_that_cannot_work_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        InversionSettings(judged=0)
    with pytest.raises(ConfigurationError):
        GuesserSettings(epochs=0)


def test_weights_of_a_single_target_are_no_ground_for_a_warning() -> None:
    views, weights = [torch.zeros(1, 3), torch.ones(1, 3)], np.broadcast_to(np.array([0.25, 0.75]), (1, 2))
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(action="error"):
            assert _mixed(views, weights).tolist() == [[0.75, 0.75, 0.75]]
    finally:
        torch.set_warn_always(False)
