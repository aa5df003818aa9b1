"""From notes to the provider's tensors: the pool holds what direct computation gives, but for the noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from aggregator.pool import Pool
from protocols.shuffled_writer import ShuffledWriter
from shared.encoding import embedded, represented, tokenised, tokenised_chunks
from shared.labels import LabelScheme
from shared.models.representer import Representer, RepresenterConfig
from shared.pipeline import Encoder
from shared.text.tokens import tokenise
from site_client import encode as module
from site_client.encode import encoded_blocks, protection
from tests.shared.embeddings.made import with_subwords
from tests.tiny_notes import tiny_notes

SCHEME = LabelScheme("tiny", ("PATIENT", "DOCTOR", "DATE", "PHONE", "HOSPITAL"))
NOTES = list(tiny_notes(10))
SIGMA = 1e-4


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.manual_seed(0)
    words = sorted({word for document in NOTES for word in tokenise(document.text).words})
    config = RepresenterConfig(12, dim=6, hidden=8, input_noise=2 * SIGMA, output_noise=2 * SIGMA, noise_floor=SIGMA)
    return Encoder(with_subwords(words, dim=12), Representer(config).eval().requires_grad_(False), SCHEME)


@pytest.mark.parametrize("suffix", ["parquet", "h5"])
def test_the_pool_holds_what_the_notes_give(suffix: str, encoder: Encoder, tmp_path: Path) -> None:
    with ShuffledWriter(tmp_path / f"a.{suffix}", dim=6) as writer:
        for block in encoded_blocks(encoder, NOTES):
            writer.append(block)
    direct = represented(
        embedded(next(tokenised_chunks(tokenised(NOTES), SCHEME)), encoder.vectors), encoder.representer, None
    )
    expected: dict[tuple[bytes, bytes], list[np.ndarray]] = {}
    for start, length in zip(direct.starts.tolist(), direct.lengths.tolist(), strict=True):
        tokens = slice(start, start + length)
        key = (direct.tags[tokens].tobytes(), direct.casing[tokens].tobytes())
        expected.setdefault(key, []).append(direct.values[tokens].astype(np.float32))
    seen = 0
    with Pool([tmp_path / f"a.{suffix}"]) as pool:
        for batch in pool.batches(8, np.random.default_rng(0)):
            for line, length in enumerate(batch.lengths.tolist()):
                key = tuple(
                    part[line, :length].numpy().astype(np.uint8).tobytes() for part in (batch.tags, batch.casing)
                )
                values = batch.inputs[line, :length].numpy()
                away = [float(np.abs(values - other).max()) for other in expected[key]]
                nearest = int(np.argmin(away))
                # Rounding to float16 and the bfloat16 of the LSTM are coarser than this little noise.
                assert away[nearest] < 0.02
                del expected[key][nearest]
                seen += 1
    assert seen == direct.sentences
    assert not any(expected.values())


def test_the_noise_of_two_encodings_differs(encoder: Encoder) -> None:
    first, second = (np.concatenate([block.values for block in encoded_blocks(encoder, NOTES)]) for _ in range(2))
    assert np.count_nonzero(first != second) > 0.3 * first.size


def test_notes_of_many_chunks_are_encoded_as_one(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = encoded_blocks(encoder, NOTES)
    chunks = module.tokenised_chunks
    monkeypatch.setattr(module, "tokenised_chunks", lambda documents, scheme: chunks(documents, scheme, 50))
    pieces = list(encoded_blocks(encoder, NOTES))
    assert len(pieces) > 5
    for name in ("tags", "casing", "lengths"):
        np.testing.assert_array_equal(np.concatenate([getattr(piece, name) for piece in pieces]), getattr(whole, name))
    values = np.concatenate([piece.values for piece in pieces]).astype(np.float32)
    np.testing.assert_allclose(values, whole.values, atol=0.02)


def test_the_protection_is_that_of_the_noise(encoder: Encoder) -> None:
    with torch.no_grad():
        scale = encoder.representer.output_noise.scale.numpy()
    stated = protection(encoder)
    assert stated["noise_sigma_min"] == pytest.approx(scale.min())
    assert stated["noise_sigma_mean"] == pytest.approx(scale.mean())
    assert stated["mu_per_token"] == pytest.approx(2 / scale.min())
