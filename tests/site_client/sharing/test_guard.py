"""The bound on what the best attacker tells, against brute force over every neighbour of every PHI word."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.models.divergence import Replacements, divergences
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.privacy.enforcement import AdvantageBound
from shared.privacy.white_box import normal_cdf
from shared.privacy.word_pairs import WHILE_ENCODING
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from site_client.sharing import guard as module
from site_client.sharing.encode import encoded_blocks
from site_client.sharing.guard import NEIGHBOURS, Guard, neighbours_of
from tests import constructions
from tests.site_client.sites import SCHEME, clear, noisy, single_precision, surrogates
from tests.tiny_notes import tiny_notes

NOTES = list(tiny_notes(6))
(CHUNK,) = tokenised_chunks(tokenise_documents(NOTES), SCHEME)
NOISE = MemoisedNoise(bytes(32), b"bound")
N = 10


@pytest.fixture(autouse=True)
def _single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    single_precision(monkeypatch)


def sentences(chunk: TokenisedSentences) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    ends = np.cumsum(chunk.lengths).tolist()
    return [
        (tuple(chunk.words[begin:end]), tuple(chunk.tags[begin:end].tolist()))
        for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    ]


def deltas(construction: NoisyRecurrent, words: tuple[str, ...], tags: tuple[int, ...]) -> NDArray[np.float64]:
    """Of every pair, from the definition: the sentence with each of all N nearest words by cosine in a place, in units of the noise."""
    model, vectors = construction.representer, construction.vectors
    changed = []
    for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
        if tag == 0 or not any(character.isalnum() for character in word) or word.isdecimal():
            continue
        nearest = np.argsort(-(vectors.matrix @ vectors.rows([word])[0]), kind="stable")[:N]
        changed += [
            [*words[:place], other, *words[place + 1 :]]
            for other in (vectors.words[row] for row in nearest)
            if other != word
        ]
    if not changed:
        return np.zeros(0)
    rows = torch.from_numpy(np.stack([vectors.rows(sentence) for sentence in (words, *changed)]))
    means = model.noise_free(rows, torch.full((len(rows),), len(words))).numpy().astype(np.float64)
    found: NDArray[np.float64] = np.sqrt((((means[1:] - means[0]) / model.output_noise.scale.numpy()) ** 2).sum((1, 2)))
    return found


def advantages(apart: NDArray[np.float64], factor: float) -> list[float]:
    """Of pairs so far apart, under so much more noise."""
    return [math.erf(delta / factor / 2 / math.sqrt(2)) for delta in apart.tolist()]


@pytest.mark.parametrize(("advantage", "quantile"), [(0.1, 1.0), (0.3, 1.0), (0.1, 0.8)])
def test_every_sentence_that_passes_keeps_the_bound_and_no_other_is_touched(advantage: float, quantile: float) -> None:
    # The input noise is next to nothing, so that the bound is one number.
    construction = noisy(0.1, inputs=1e-5)
    guard = Guard(construction, N, AdvantageBound(advantage, quantile, max_factor=4), NOISE)
    passed, factors = guard.admit_sentences(CHUNK)
    assert factors is not None
    result = guard.result()
    assert sentences(CHUNK.leave_out(~guard.admitted)) == sentences(passed)
    shared = dict(zip(sentences(passed), factors.tolist(), strict=True))
    raised = left_out = 0
    for words, tags in sentences(CHUNK):
        apart = deltas(construction, words, tags)
        alone = advantages(apart, 1.0)
        if any(word.isdecimal() and tag for word, tag in zip(words, tags, strict=True)):
            # Neighbours of numbers are drawn; that the others keep the bound holds all the more.
            continue
        if (words, tags) not in shared:
            left_out += 1
            assert np.quantile(advantages(apart, 4), quantile, method="higher") > advantage
        elif alone:
            factor = shared[words, tags]
            raised += factor > 1
            held = np.quantile(advantages(apart, factor), quantile, method="higher")
            assert held <= advantage + 1e-3
            if factor == 1:
                assert np.quantile(alone, quantile, method="higher") <= advantage + 1e-3
            else:
                less = advantages(apart, factor / 2**0.25)
                assert np.quantile(less, quantile, method="higher") > advantage - 1e-3
        else:
            assert shared[words, tags] == 1
    assert 0 < raised <= result.raised
    assert left_out <= result.left_out
    if quantile == 1:
        assert 2 * result.white_box.representation[""].maximum - 1 <= advantage + 1e-6


@cache
def far_from_strangers() -> tuple[NoisyRecurrent, NDArray[np.int64], NDArray[np.float64]]:
    """A construction, the sentence of each of some pairs of a PHI word and a stranger, and how far they are apart under sixty fresh draws."""
    construction, words = noisy(0.05, inputs=0.3), CHUNK.words
    # Neighbours of numbers are drawn, and punctuation has none.
    places = np.array([place for place in np.flatnonzero(CHUNK.tags).tolist() if words[place].isalpha()])
    pairs = Replacements(
        np.repeat(places, 3),
        np.tile(np.arange(3), len(places)),
        construction.vectors.rows(["Theobald", "Clinic", "Oxenthorpe"]),
    )
    sentence = np.repeat(np.arange(len(CHUNK.lengths)), CHUNK.lengths)[pairs.tokens]
    vectors, fresh = construction.vectors.rows(words), torch.Generator().manual_seed(7)
    drawn = [divergences(construction.representer, vectors, CHUNK.lengths, pairs, fresh) for _ in range(60)]
    return construction, sentence, np.stack(drawn)


# With another noise each, they notice noise that is raised by a tenth too little.
@pytest.mark.parametrize(("advantage", "seeds"), [(0.1, range(4, 8)), (0.2, range(4))])
def test_the_bound_holds_on_average_over_draws_that_did_not_choose_the_noise(advantage: float, seeds: range) -> None:
    construction, sentence, delta = far_from_strangers()
    broken = kept = 0
    for seed in seeds:
        guard = Guard(construction, 10_000, AdvantageBound(advantage), MemoisedNoise(bytes([seed] * 32), b"bound"))
        passed, factors = guard.admit_sentences(CHUNK)
        assert factors is not None
        of = dict(zip(sentences(passed), factors.tolist(), strict=True))
        for row, one in enumerate(sentences(CHUNK)):
            if one in of and any(one[1]):
                kept += 1
                mean = np.mean(2 * normal_cdf(delta[:, sentence == row] / of[one] / 2) - 1, axis=0)
                broken += bool(mean.max(initial=0) > advantage)
    assert kept > 25
    assert broken == 0


def test_the_noise_of_a_share_is_raised_as_much_and_nothing_else_changes() -> None:
    construction, share = noisy(0.05), MemoisedNoise(bytes(32), b"share")
    guard = Guard(construction, N, AdvantageBound(0.2), NOISE)
    passed, factors = guard.admit_sentences(CHUNK)
    assert factors is not None
    assert len(set(factors.tolist())) > 2
    plain, bounded = (
        next(encoded_blocks(construction, NOTES, Guard(construction, N, bound, NOISE), share))
        for bound in (None, AdvantageBound(0.2))
    )
    kept = [one in set(sentences(passed)) for one in sentences(CHUNK)]
    tokens = np.repeat(kept, CHUNK.lengths)
    for name in ("tags", "casing"):
        np.testing.assert_array_equal(getattr(plain, name)[tokens], getattr(bounded, name))
    np.testing.assert_array_equal(plain.lengths[kept], bounded.lengths)
    same = np.repeat(factors == 1, passed.lengths)
    assert 0 < same.sum() < len(same)
    values = plain.values[tokens].astype(np.float32)
    np.testing.assert_allclose(values[same], bounded.values[same], atol=2e-3)
    # What was raised is the other share with independent noise on top: nothing averages out between the two.
    added = (bounded.values - values) / construction.representer.output_noise.scale.numpy()
    expected = np.sqrt(np.repeat(factors, passed.lengths) ** 2 - 1)
    assert abs(np.mean(added[~same] ** 2 / expected[~same, None] ** 2) - 1) < 0.1
    # Fresh noise, many times over, has the scale that was asked for.
    clean = construction.noise_free(passed).values.astype(np.float32)
    fresh = np.stack([construction.share_sentences(passed, PrivateNoise(), factors).values for _ in range(40)]).astype(
        np.float32
    )
    spread = (fresh - clean).std((0, 2)) / float(construction.representer.output_noise.scale.mean())
    # The input noise comes on top of it where nothing was raised.
    np.testing.assert_allclose(spread, np.repeat(factors, passed.lengths), rtol=0.25)
    assert bounded.values.dtype == np.float16
    norms = np.linalg.norm(fresh, axis=2).max()
    assert norms <= guard.value_bound


def test_a_sentence_is_treated_alike_in_any_company() -> None:
    construction, bound = noisy(0.05, inputs=0.3), AdvantageBound(0.2)
    passed, factors = Guard(construction, N, bound, NOISE).admit_sentences(CHUNK)
    assert factors is not None
    whole = dict(zip(sentences(passed), factors.tolist(), strict=True))
    for note in reversed(NOTES):
        (chunk,) = tokenised_chunks(tokenise_documents([note]), SCHEME)
        passed, factors = Guard(construction, N, bound, NOISE).admit_sentences(chunk)
        assert factors is not None
        for sentence, factor in zip(sentences(passed), factors.tolist(), strict=True):
            assert whole[sentence] == factor


def test_pieces_make_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    construction, bound = noisy(0.05), AdvantageBound(0.2, max_factor=4)
    whole, factors = Guard(construction, N, bound, NOISE).admit_sentences(CHUNK)
    monkeypatch.setattr(module, "_PAIRS", 30)
    guard = Guard(construction, N, bound, NOISE)
    assert len(list(guard._pieces(CHUNK))) > 5
    pieces, others = guard.admit_sentences(CHUNK)
    assert pieces.words == whole.words
    np.testing.assert_array_equal(factors, others)
    assert guard.result().white_box.representation[""].tokens > 10


def test_without_noise_what_breaks_the_bound_is_left_out() -> None:
    guard = Guard(clear(), N, AdvantageBound(0.5), NOISE)
    passed, factors = guard.admit_sentences(CHUNK)
    assert not passed.tags.any()
    assert factors is not None
    assert (factors == 1).all()
    assert sentences(passed) == [one for one in sentences(CHUNK) if not any(one[1])]
    result = guard.result()
    assert (result.raised, result.left_out) == (0, sum(any(tags) for _, tags in sentences(CHUNK)))
    assert guard.value_bound == clear().representer.value_bound


def test_neighbours_are_words_that_are_shown_differently() -> None:
    # Between words of one cluster the best attacker has to guess, which says nothing of the others.
    vectors = constructions.clusters(clear().vectors, 4)
    construction = constructions.k_anonymous(vectors, SCHEME)
    guard = Guard(construction, 10_000, None, NOISE)
    guard.admit_sentences(CHUNK)
    result = guard.result()
    assert result.neighbours == len(vectors.centres)
    assert result.white_box.representation[""].mean == 1
    bounded = Guard(construction, N, AdvantageBound(0.9), NOISE)
    passed, _ = bounded.admit_sentences(CHUNK)
    assert not passed.tags.any()
    assert bounded.result().left_out > 0


@pytest.mark.parametrize("bound", [None, AdvantageBound(0.01)])
def test_surrogates_need_neither_noise_nor_neighbours(
    bound: AdvantageBound | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*arguments: object) -> None:
        raise AssertionError("a neighbour was looked for")

    monkeypatch.setattr(module, "Neighbours", search)
    construction = surrogates(SurrogateBank(((0, ("Anna",)),)))
    guard = Guard(construction, N, bound, NOISE)
    assert guard.admit_sentences(CHUNK) == (CHUNK, None)
    result = guard.result()
    assert (result.neighbours, result.raised, result.left_out) == (0, 0, 0)
    assert result.white_box.representation[""].tokens == np.count_nonzero(CHUNK.tags)
    assert result.white_box.representation[""].maximum == 0.5


def test_measuring_changes_nothing_and_looks_at_a_sample() -> None:
    guard = Guard(clear(), 10_000, None, NOISE)
    assert guard.admit_sentences(CHUNK) == (CHUNK, None)
    result = guard.result()
    assert result.neighbours == len(clear().vectors)
    assert result.white_box.settings.neighbours == WHILE_ENCODING.neighbours
    assert result.white_box.representation[""].mean == 1


def test_nobody_knows_ahead_what_a_measurement_will_look_at() -> None:
    found = set()
    for _ in range(3):
        guard = Guard(noisy(0.05), 10_000, None, NOISE)
        guard.admit_sentences(CHUNK)
        found.add(guard.result().white_box.representation[""].mean)
    assert len(found) == 3


def test_the_value_bound_says_nothing_about_the_notes() -> None:
    construction = noisy(0.05)
    assert Guard(construction, N, None, NOISE).value_bound == construction.representer.value_bound
    guard = Guard(construction, N, AdvantageBound(0.2, max_factor=8), NOISE)
    before = guard.value_bound
    guard.admit_sentences(CHUNK)
    assert guard.value_bound == before == pytest.approx(1 + 8 * (construction.representer.value_bound - 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"options": {"neighbours": 370}}), 370),
        # The audited digest does not cover the file, and one neighbour would prove nothing.
        (json.dumps({"options": {"neighbours": 2}}), NEIGHBOURS),
        (json.dumps({"options": {"neighbours": 1}}), NEIGHBOURS),
        (json.dumps({"options": {"neighbours": True}}), NEIGHBOURS),
        (json.dumps({"options": {"neighbours": "500"}}), NEIGHBOURS),
        (json.dumps({"options": []}), NEIGHBOURS),
        ("{}", NEIGHBOURS),
        ("[", NEIGHBOURS),
        (None, NEIGHBOURS),
    ],
)
def test_the_neighbours_are_those_of_the_training_or_more(text: str | None, expected: int, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "representer.training.json").write_text(text)
    assert neighbours_of(tmp_path) == expected
