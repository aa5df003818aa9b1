"""A hospital with a pulled release whose representer has noise, or has none; nothing is trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aggregator import workspace as provider
from aggregator.publishing import releases
from foundation.files import write_text
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.procedures.surrogates import Surrogates
from shared.embeddings.generalised import GeneralisedVectors, fold_casing, generalise
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.models import lstm
from shared.models.representer import RepresenterConfig
from shared.text.tokens import tokenise
from site_client import workspace as hospital
from site_client.policy.site_policy import CONSTRUCTIONS, SitePolicy
from site_client.policy.stored import set_policy
from site_client.releases import pull
from tests import constructions
from tests.audited import write_audit
from tests.loop import sample_the_same_runs
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes

LENIENT = SitePolicy(
    constructions=CONSTRUCTIONS, least_cluster=1, most_common_words=None, most_bank_spans=1000, least_new_notes=0
)
SCHEME = load_scheme("i2b2_2014")


def vectors(dim: int = 8) -> WordVectors:
    """Word vectors of the tiny notes."""
    return table(sorted({word for note in tiny_notes(20) for word in tokenise(note.text).words}), dim)


def noisy(scale: float, inputs: float = 0.01) -> NoisyRecurrent:
    """Output noise of `scale`, little input noise."""
    config = RepresenterConfig(
        8, dim=6, hidden=8, input_noise=inputs, output_noise=scale, noise_floor=min(inputs, scale)
    )
    return constructions.noisy(vectors(), SCHEME, config)


def clear() -> constructions.Transparent:
    """No protection at all; no release holds it."""
    return constructions.transparent(vectors(), SCHEME)


def vocabulary() -> GeneralisedVectors:
    """A k-anonymous vocabulary in which every word is public but two that are no PHI."""
    words = fold_casing(vectors())
    return generalise(words, np.array([word not in ("chest", "pain") for word in words.words]), 2)


def revealing() -> KAnonymous:
    """As little protection as a release can have."""
    return constructions.k_anonymous(vocabulary(), SCHEME)


def surrogates(bank: SurrogateBank) -> Surrogates:
    """The same, but for labelled PHI."""
    return constructions.surrogates(vocabulary(), SCHEME, bank)


def site(root: Path, construction: Construction, training: str = "{}") -> hospital.Workspace:
    """A hospital's workspace below `root`, a release of the construction in use."""
    central = provider.create(root / "provider", "test", construction.scheme.name)
    central.representer.mkdir()
    construction.save(central.representer)
    write_text(central.representer / "training.json", training, private=False)
    write_audit(central.root / "audit", releases.representer_digest(central))
    releases.publish_representer(central)
    created = lenient(hospital.create(root / "site", "test"))
    sample_the_same_runs(created.root)
    made, _ = pull.pull(created, str(central.releases), central.repository().fingerprint.key_id)
    return made


def lenient(workspace: hospital.Workspace, **changed: Any) -> hospital.Workspace:
    """The same hospital with a policy that asks for as little as a policy can, but for what is changed."""
    set_policy(workspace, replace(LENIENT, **changed))
    return workspace


def single_precision(monkeypatch: object) -> None:
    """LSTMs in float32, so that the same sentence gives the same numbers in any company, but for the last bits."""
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)  # type: ignore[attr-defined]
