from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.document import Document
from shared.labels import LabelScheme
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences import encoding
from shared.sentences.encoding import embed_sentences, embedded_corpus, represent, represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.text.casing import casing_classes
from shared.text.tokens import tokenise
from tests.shared.embeddings.made import table, with_subwords
from tests.tiny_notes import tiny_notes

SCHEME = LabelScheme("i2b2", ("PATIENT", "DOCTOR", "DATE", "PHONE", "HOSPITAL"))
NOTES = list(tiny_notes(12))


def representer(dim: int = 8, noise: float = 0.05) -> Representer:
    torch.manual_seed(0)
    config = RepresenterConfig(dim, dim=6, hidden=7, input_noise=noise, output_noise=noise, noise_floor=noise / 10)
    return Representer(config).eval().requires_grad_(False)


class TestEmbeddedCorpus:
    @pytest.mark.parametrize("make", [table, with_subwords])
    def test_it_is_the_same_as_chunk_by_chunk(self, make: object) -> None:
        words = sorted({word for note in NOTES for word in tokenise(note.text).words})[::2]
        vectors = make(words)  # type: ignore[operator]
        corpus, names = embedded_corpus(NOTES, vectors, SCHEME)
        direct = embed_sentences(next(tokenised_chunks(tokenise_documents(NOTES), SCHEME)), vectors)
        assert corpus.ids is not None
        np.testing.assert_array_equal(corpus.values[corpus.ids], direct.values)
        for name in ("casing", "tags", "lengths"):
            np.testing.assert_array_equal(getattr(corpus, name), getattr(direct, name))
        assert names[: len(vectors)] == vectors.words
        assert len(names) == len(set(names)) == len(corpus.values)
        said = [word for note in NOTES for word in tokenise(note.text).words]
        if vectors.kind == "subwords":
            assert [names[index] for index in corpus.ids.tolist()] == said
        np.testing.assert_array_equal(corpus.casing, casing_classes(said))

    def test_no_notes_are_no_sentences(self) -> None:
        corpus, names = embedded_corpus([Document("a", " ")], table(("a", "b")), SCHEME)
        assert (corpus.sentences, corpus.tokens, names) == (0, 0, ("a", "b"))


class TestRepresented:
    def sentences(self) -> RaggedSentences:
        return embed_sentences(
            next(tokenised_chunks(tokenise_documents(NOTES), SCHEME)), table(tokenise(NOTES[0].text).words[:3])
        )

    def test_without_noise_it_is_the_noise_free_representation_of_each_sentence(self) -> None:
        sentences, model = self.sentences(), representer()
        shown = represent_noise_free(sentences, model)
        assert shown.values.dtype == np.float16
        for row in range(sentences.sentences):
            batch = sentences.batch(np.array([row]), sentences.starts)
            alone = model.noise_free(batch.inputs, batch.lengths)[0].numpy()
            tokens = slice(sentences.starts[row], sentences.starts[row] + sentences.lengths[row])
            np.testing.assert_allclose(shown.values[tokens], alone, atol=2e-2)
        for name in ("casing", "tags", "lengths"):
            np.testing.assert_array_equal(getattr(shown, name), getattr(sentences, name))

    def test_with_noise_it_is_that_up_to_the_noise(self) -> None:
        sentences, model = self.sentences(), representer(noise=0.05)
        clean = represent_noise_free(sentences, model).values.astype(np.float64)
        away = represent(sentences, model, PrivateNoise()).values - clean
        # The output noise alone has 0.05; the input noise passes through the network and adds a little.
        assert 0.045 < away.std() < 0.08
        assert abs(away.mean()) < 0.005

    @settings(deadline=None, max_examples=8)
    @given(st.integers(8, 2000))
    def test_the_size_of_the_batches_changes_nothing(self, size: int) -> None:
        sentences, model = self.sentences(), representer()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "_BATCH_CELLS", size)
            other = represent_noise_free(sentences, model).values
        np.testing.assert_allclose(other, represent_noise_free(sentences, model).values, atol=2e-2)

    def test_noise_is_fresh_for_every_token_and_every_call(self) -> None:
        sentences, model = self.sentences(), representer()
        clean = represent_noise_free(sentences, model).values.astype(np.float32)
        first, second = (represent(sentences, model, PrivateNoise()).values - clean for _ in range(2))
        assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.12
        assert len(np.unique(first, axis=0)) == len(first)

    def test_a_factor_raises_the_output_noise_of_its_sentence_alone(self) -> None:
        sentences, model = self.sentences(), representer(noise=0.05)
        factors = np.where(np.arange(sentences.sentences) % 2, 4.0, 1.0)
        clean = represent_noise_free(sentences, model).values.astype(np.float64)
        away = represent(sentences, model, PrivateNoise(), factors).values - clean
        raised = np.repeat(factors, sentences.lengths) > 1
        assert 0.045 < away[~raised].std() < 0.08
        # Bounds far from what chance alone makes of so few numbers: the noise has no seed.
        assert 0.17 < away[raised].std() < 0.24
