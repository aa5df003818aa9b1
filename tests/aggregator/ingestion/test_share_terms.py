"""The terms of a share, of a provider that has published something: all other tests of the intake invent them."""

from __future__ import annotations

from pathlib import Path

from aggregator.ingestion.share_terms import share_terms
from aggregator.publishing.releases import Publishing, publish_representer
from aggregator.workspace import create
from foundation.files import write_text
from protocols.share.sealing import ShareExpectation
from shared.labels import load_scheme
from shared.models.representer import RepresenterConfig
from tests import constructions
from tests.shared.embeddings.made import table


def test_a_share_must_fit_what_was_published_and_be_meant_for_this_provider(tmp_path: Path) -> None:
    scheme, config = load_scheme("meddocan"), RepresenterConfig(8, dim=6, hidden=4)
    workspace = create(tmp_path / "provider", "north", scheme.name)
    workspace.representer.mkdir()
    constructions.noisy(table(["chest", "pain"], 8), scheme, config).save(workspace.representer)
    write_text(workspace.representer / "training.json", "{}", private=False)
    release = publish_representer(workspace, Publishing(audited=False))
    terms = share_terms(workspace)
    assert terms.releases == {release.digest}
    assert terms.expected == ShareExpectation(
        recipient=workspace.key().public_key.key_id, label_scheme="meddocan", tags=len(scheme.tags), dim=6
    )
