"""Noisy surrogates: a share is made of codes, tags, casing and chance; and what a second share of a sentence adds."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.constructions.procedures.noisy_surrogates import NoisySurrogates, public_sentences
from shared.constructions.training import TrainingMaterial
from shared.models.noise_source import PrivateNoise
from shared.models.representer import RepresenterConfig
from shared.sentences.encoding import noise_for, represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from tests import constructions
from tests.shared.constructions.test_codes import BANK, CHUNK, NAMES, OTHERS, SCHEME, surrogates, vectors

SECRET = bytes(range(32))
# Noise that drowns what is shown, so that what is left of two shares is their noise.
LOUD = RepresenterConfig(vectors().dim, dim=6, hidden=4, input_noise=0.01, output_noise=50.0)


def made(shape: RepresenterConfig = LOUD) -> NoisySurrogates:
    return constructions.noisy_surrogates(vectors(), SCHEME, BANK, shape)


def saved(construction: NoisySurrogates, folder: Path) -> Path:
    folder.mkdir()
    construction.save(folder)
    return folder


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def spelled_like(word: str, other: str) -> str:
    return other.capitalize() if word[0].isupper() else other


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_words_of_the_same_codes_give_the_same_bytes(data: st.DataObject) -> None:
    """Of words that are no PHI, too, a share tells no more than the codes: the others of a cluster or a group stand in for them."""
    one, told = made(), surrogates()
    words = list(CHUNK.words)
    for place, word in enumerate(words):
        pool = NAMES if word.lower() in NAMES or word == "Unheard" else OTHERS
        if word.lower() in (*NAMES, *OTHERS):
            words[place] = spelled_like(word, data.draw(st.sampled_from(pool)))
    other = CHUNK.with_words(words)
    first, second = (one.rehearse_share(chunk, seeded()) for chunk in (CHUNK, other))
    labelled = CHUNK.tags > 0
    alike = bool((told.codes(CHUNK) == told.codes(other))[~labelled].all())
    assert (first.values.tobytes() == second.values.tobytes()) == alike


def test_what_a_representer_sees_are_the_vectors_of_the_codes() -> None:
    """Looked up one by one: a public word near PHI or common has its own, any other the mean of its group or cluster."""
    one = made()
    held = one.vectors
    seen = one.embed(CHUNK, one.codes(CHUNK)).vectors(np.arange(CHUNK.tokens))
    exact = {"Patient", "the", "fever", "scan", "."}
    for place, word in enumerate(CHUNK.words):
        row = int(held.ids([word])[0])
        if word in exact:
            np.testing.assert_array_equal(seen[place], held.matrix[row])
        else:
            group = int(held.clusters[row]) if row >= 0 else int(held.cluster([word])[0])
            np.testing.assert_array_equal(seen[place], held.cluster_centres[group])
            assert all((seen[place] != held.matrix[other]).any() for other in np.flatnonzero(held.public))


class TestASecondShare:
    """Of the same sentences, under the same secret."""

    @staticmethod
    def residues(construction: NoisySurrogates, folder: Path, rounds: int) -> list[NDArray[np.float64]]:
        """What the noise of some shares is, but for a representation of length 1 beside a noise of 50."""
        noise = construction.sharing_noise(SECRET, folder)
        shares = (construction.share_sentences(CHUNK, noise).values for _ in range(rounds))
        return [values.astype(np.float64) for values in shares]

    def test_is_the_first_where_nothing_is_replaced(self, tmp_path: Path) -> None:
        one = made()
        first, second = self.residues(one, saved(one, tmp_path / "made"), 2)
        np.testing.assert_array_equal(first[8:], second[8:])

    def test_of_other_words_with_the_same_codes_is_the_first_too(self, tmp_path: Path) -> None:
        """Noise tells nothing of words that codes do not tell."""
        one = made()
        noise = one.sharing_noise(SECRET, saved(one, tmp_path / "made"))
        mate = next(word for word in NAMES if (one.codes(_alone("Unheard")) == one.codes(_alone(word))).all())
        first, second = (one.share_sentences(_alone(word), noise) for word in ("unheard", mate))
        assert first.values.tobytes() == second.values.tobytes()

    def test_can_not_be_subtracted_from_the_first_where_surrogates_are_others(self, tmp_path: Path) -> None:
        one = made()
        # Two of the three surrogates have the same codes: of 12 shares, all had these in one run of 130; of 40, in one of ten million.
        shares = self.residues(one, saved(one, tmp_path / "made"), 40)
        # Sentences of codes are at most as many as surrogates, each with one noise of its own.
        distinct = list({share[:8].tobytes(): share[:8].ravel() for share in shares}.values())
        assert 1 < len(distinct) <= 3
        for share, other in combinations(distinct, 2):
            assert abs(float(np.corrcoef(share, other)[0, 1])) < 0.6
        # Of few surrogates the same come again, with the same noise; a hospital is told no more than that.
        assert len(distinct) < len(shares)
        [line] = [line for line in one.explain(one.promises()) if "noise again" in line]
        assert "draws surrogates anew, and where it draws others, as of few it may not, other noise" in line

    def test_noise_that_hung_on_the_true_words_would_cancel_out(self, tmp_path: Path) -> None:
        """The same measure finds it, so that it would find ours."""
        one = made()
        noise = one.sharing_noise(SECRET, saved(one, tmp_path / "made"))
        shares = []
        for _ in range(6):
            replaced = one.replaced(CHUNK, noise)
            shown = one.embed(replaced, one.codes(replaced))
            mean = represent_noise_free(shown, one.representer).values[:8]
            drawn = noise_for(CHUNK, noise).standard_normal((CHUNK.tokens, 6))[:8]
            shares.append((mean + 50 * drawn).ravel())
        assert np.corrcoef(np.stack(shares)).min() > 0.99

    def test_another_secret_draws_anew(self, tmp_path: Path) -> None:
        one = made()
        folder = saved(one, tmp_path / "made")
        first, other = (
            one.share_sentences(CHUNK, one.sharing_noise(key, folder)).values for key in (SECRET, SECRET[::-1])
        )
        assert (first != other).any(1).all()


def test_public_notes_look_as_in_a_share_or_as_in_house() -> None:
    one = made()
    chunk = TokenisedSentences.concatenate([CHUNK] * 20)
    material = TrainingMaterial([chunk], one.vectors, SCHEME)
    found = public_sentences(one, material, seed=1)
    shared = one.codes(CHUNK)
    house = one.codes(CHUNK.with_tags(np.ones_like(CHUNK.tags)))
    assert found.ids is not None
    sentences = found.ids.reshape(20, CHUNK.tokens)[:, :8]
    kinds = {sentence.astype(np.uint32).tobytes() for sentence in sentences}
    assert kinds == {shared[:8].tobytes(), house[:8].tobytes()}
    # As in-house is as the pipeline sees it.
    clear = represent_noise_free(RaggedSentences(one.vectors.rows(CHUNK.words), *_layout(CHUNK)), one.representer)
    coded = represent_noise_free(
        RaggedSentences(found.values, *_layout(CHUNK), house.astype(np.int32)), one.representer
    )
    np.testing.assert_array_equal(clear.values, coded.values)


def _alone(word: str) -> TokenisedSentences:
    return TokenisedSentences(["the", word, "."], np.zeros(3, dtype=np.uint8), np.array([3]))


def _layout(chunk: TokenisedSentences) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    return casing_classes(chunk.words), chunk.tags, chunk.lengths


@pytest.mark.parametrize("phi", ["Larkspur", "Fever", "The", "Unheard"])
def test_labelled_phi_has_no_way_in_whatever_it_is(phi: str) -> None:
    one = made(RepresenterConfig(vectors().dim, dim=6, hidden=4))
    words = [phi if tag else word for word, tag in zip(CHUNK.words, CHUNK.tags, strict=True)]
    first, second = (one.rehearse_share(chunk, seeded(3)) for chunk in (CHUNK, CHUNK.with_words(words)))
    assert first.values.tobytes() == second.values.tobytes()


def test_it_is_accounted_for_as_noise_behind_surrogates() -> None:
    found = made().account(20, 300)
    assert found.basis == "independence and noise"
    assert found.guarantees[0].mu == pytest.approx(2 / 50, rel=1e-5)
    assert "its shares compose" in found.statement
    assert "does not depend on labelled PHI" in found.statement
    with pytest.raises(TypeError):
        made().share_sentences(CHUNK, seeded())  # type: ignore[arg-type]
    assert made().share_sentences(CHUNK, PrivateNoise()).values.shape == (12, 6)
