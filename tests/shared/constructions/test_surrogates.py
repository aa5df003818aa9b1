"""Surrogates in a share: drawn anew for every sentence, and what a word is claimed to hide among."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.constructions.procedures.surrogates import Surrogates
from shared.embeddings.generalised import GeneralisedVectors, fold_casing, generalise
from shared.labels import LabelScheme, load_scheme
from shared.models.noise import SharingNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.sentences.codes import SharedCodes
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.casing import casing_class
from shared.text.tokens import tokenise
from tests import constructions
from tests.shared.embeddings.made import table, with_subwords
from tests.tiny_notes import tiny_notes

NAMES = tuple(f"name{letter}" for letter in "abcdefghij")


class TestDraws:
    """Equal sentences with a labelled name: what a share shows of them must not say that they are equal."""

    CHUNK = TokenisedSentences(
        ["Patient", "Zwiebelfisch", "came", "."] * 200,
        np.tile(np.array([0, 1, 0, 0], dtype=np.uint8), 200),
        np.full(200, 4),
    )

    def vectors(self) -> GeneralisedVectors:
        """All names are public, so that each is shown as it is."""
        folded = fold_casing(with_subwords(["patient", "came", ".", "rare", "rarer", *NAMES], dim=8))
        return generalise(folded, np.array([not word.startswith("rare") for word in folded.words]), 2)

    def made(self) -> Surrogates:
        bank = SurrogateBank(tuple((0, (name.capitalize(),)) for name in NAMES))
        return constructions.surrogates(self.vectors(), LabelScheme("one", ("PATIENT",)), bank)

    def shown(self, sentences: RaggedSentences | SharedCodes) -> tuple[np.ndarray, np.ndarray]:
        """Which name each sentence shows, and everything else."""
        if isinstance(sentences, SharedCodes):
            codes = sentences.codes.reshape(200, 4)
            names = np.argsort(self.vectors().ids(NAMES))[
                np.searchsorted(np.sort(self.vectors().ids(NAMES)), codes[:, 1])
            ]
            return names, codes[:, [0, 2, 3]]
        values = sentences.values.reshape(200, 4, -1)
        names = self.vectors().rows(NAMES).astype(np.float16).astype(np.float32)
        away = np.abs(values[:, 1, None].astype(np.float32) - names).max(2)
        assert away.min(1).max() < 1e-3
        return away.argmin(1), values[:, [0, 2, 3]]

    def share(self, noise: SharingNoise) -> SharedCodes:
        found = self.made().share_sentences(self.CHUNK, noise)
        assert isinstance(found, SharedCodes)
        return found

    @pytest.mark.parametrize("noise", [MemoisedNoise(bytes(32), b"release"), PrivateNoise()])
    def test_they_are_drawn_anew_for_every_sentence_and_every_share(self, noise: SharingNoise) -> None:
        (first, rest), (second, again) = (self.shown(self.share(noise)) for _ in range(2))
        np.testing.assert_array_equal(rest, again)
        # Ten names, each as likely: 20 of 200 sentences on average for each, and the same as before in one of ten.
        for drawn in (first, second):
            assert np.bincount(drawn, minlength=10).min() >= 4
            assert 3 <= (drawn[:-1] == drawn[1:]).sum() <= 45
        assert 3 <= (first == second).sum() <= 45

    def test_a_seeded_source_gives_the_same_again(self) -> None:
        noises = (torch.Generator().manual_seed(3) for _ in range(2))
        first, second = (self.shown(self.made().rehearse_share(self.CHUNK, noise))[0] for noise in noises)
        np.testing.assert_array_equal(first, second)
        assert len(set(first.tolist())) == 10


class TestOwnSet:
    NOTES = tuple(tiny_notes(24, 1))

    def made(self) -> Surrogates:
        scheme = load_scheme("i2b2_2014")
        words = tuple(dict.fromkeys(word for one in self.NOTES for word in tokenise(one.text).words))
        bank = surrogate_bank(tokenised_chunks(tokenise_documents(self.NOTES), scheme))
        return constructions.surrogates(constructions.clusters(table(words, dim=12), 8), scheme, bank)

    @pytest.mark.parametrize("word", ["Quillfeather", "QUILLFEATHER", "osyth", "x", "A"])
    def test_a_word_is_hidden_among_all_of_its_casing(self, word: str) -> None:
        own = self.made().own_set()
        assert own is not None
        listed = list(own(word))
        assert len(listed) > 20
        assert {casing_class(other) for other in listed} == {casing_class(word)}

    @pytest.mark.parametrize(("word", "size"), [("7", 10), ("77", 100), ("2019", 1000), ("9" * 20, 1000)])
    def test_and_a_number_among_those_of_as_many_digits(self, word: str, size: int) -> None:
        own = self.made().own_set()
        assert own is not None
        listed = list(own(word))
        assert len(set(listed)) == size
        assert {len(other) for other in listed} == {len(word)}
