"""A hospital with a pulled release whose representer has noise, or has none; nothing is trained."""

from __future__ import annotations

from pathlib import Path

import torch

from aggregator import workspace as provider
from aggregator.publishing import releases
from foundation.files import write_text
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.models import lstm
from shared.models.representer import Representer, RepresenterConfig
from shared.models.token_local import TokenLocal, TokenLocalConfig
from shared.pipeline.pipeline import Encoder, save_encoder
from shared.text.tokens import tokenise
from site_client import workspace as hospital
from site_client.releases import pull
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes

SCHEME = load_scheme("i2b2_2014")


def vectors(dim: int = 8) -> WordVectors:
    """Word vectors of the tiny notes."""
    return table(sorted({word for note in tiny_notes(20) for word in tokenise(note.text).words}), dim)


def noisy(scale: float, inputs: float = 0.01) -> Encoder:
    """Output noise of `scale`, little input noise."""
    torch.manual_seed(0)
    config = RepresenterConfig(
        8, dim=6, hidden=8, input_noise=inputs, output_noise=scale, noise_floor=min(inputs, scale)
    )
    return Encoder(vectors(), Representer(config).eval().requires_grad_(False), SCHEME)


def clear() -> Encoder:
    """No protection at all."""
    return Encoder(vectors(), TokenLocal(TokenLocalConfig(8, 8)).eval(), SCHEME)


def site(root: Path, encoder: Encoder, training: str = "{}") -> hospital.Workspace:
    """A hospital's workspace below `root`, the encoder's release in use."""
    central = provider.create(root / "provider", "test", encoder.scheme.name)
    central.representer.mkdir()
    save_encoder(encoder, central.representer)
    write_text(central.representer / "training.json", training, private=False)
    releases.publish_representer(central, releases.Publishing(audited=False))
    fingerprint = central.repository().fingerprint.key_id
    made, _ = pull.pull(hospital.create(root / "site", "test"), str(central.releases), fingerprint)
    return made


def single_precision(monkeypatch: object) -> None:
    """LSTMs in float32, so that the same sentence gives the same numbers in any company, but for the last bits."""
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)  # type: ignore[attr-defined]
