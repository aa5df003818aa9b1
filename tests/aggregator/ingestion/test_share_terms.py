"""The terms of a share, of a provider that has published something: all other tests of the intake invent them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aggregator.enrolled.overlap_key import overlap_key
from aggregator.ingestion.known_rows import find_known_rows
from aggregator.ingestion.share_terms import share_terms
from aggregator.publishing.releases import Publishing, publish_representer
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareDigestsRow
from aggregator.workspace import create
from foundation.errors import StorageError
from foundation.files import write_text
from protocols.share.sealing import ShareExpectation
from shared.constructions import registry
from shared.constructions.rows import MAX_FACTOR
from shared.labels import load_scheme
from shared.models.representer import RepresenterConfig
from tests import constructions
from tests.aggregator.registry.rows import add, share, site
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
        recipient=workspace.key().public_key.key_id, label_scheme="meddocan", tags=len(scheme.tags), dim=6, features=()
    )


class TestTheSecretOfDigests:
    def test_a_workspace_of_before_makes_it_while_no_digests_are_made_with_another(self, tmp_path: Path) -> None:
        workspace = create(tmp_path, "north", "meddocan")
        workspace.overlap_secret.unlink()
        assert overlap_key(workspace) == overlap_key(workspace) == workspace.overlap_secret.read_bytes()

    def test_attack_notes_shared_twice_across_a_restore_without_it_are_not_taken_for_new(self, tmp_path: Path) -> None:
        workspace = create(tmp_path, "north", "meddocan")
        with workspace.registry().transaction() as session:
            add(session, site(), share(1, id=1, state=ShareState.QUARANTINED))
            session.add(ShareDigestsRow(share=1, digests=b""))
        workspace.overlap_secret.unlink()
        with pytest.raises(
            StorageError, match=r"overlap\.key: expected the secret .* restore it from the copy of keys/"
        ):
            overlap_key(workspace)
        assert not workspace.overlap_secret.exists()


@pytest.mark.parametrize("codes", [True, False])
def test_what_a_construction_can_show_is_worked_out_once_and_anew_where_it_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: bool
) -> None:
    scheme = load_scheme("meddocan")
    workspace = create(tmp_path / "provider", "north", scheme.name)
    workspace.representer.mkdir()
    make = constructions.k_anonymous if codes else constructions.k_anonymous_centres
    construction = make(constructions.clusters(table(["chest", "pain"], 8), 2), scheme)
    construction.save(workspace.representer)
    write_text(workspace.representer / "training.json", "{}", private=False)
    release = publish_representer(workspace, Publishing(audited=False))
    first = find_known_rows(workspace, release)
    listed = first.codebook if first.codes is None else first.codes.places
    assert (first.codes is not None) == codes
    assert listed is not None
    content = listed.read_bytes()
    assert first.rows == construction.rows(MAX_FACTOR)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "load_construction", lambda folder: pytest.fail("it is known"))
        assert find_known_rows(workspace, release) == first
    kept = listed.with_suffix(".json")
    whole = json.loads(kept.read_text())
    for text in ("", "[]", "{}", json.dumps(whole | {"format": 0}), json.dumps(whole | {"factor": 2.0})):
        kept.write_text(text)
        assert find_known_rows(workspace, release) == first
        assert json.loads(kept.read_text()) == whole
    listed.unlink()
    assert find_known_rows(workspace, release) == first
    assert listed.read_bytes() == content


def test_where_noise_makes_any_row_possible_there_is_no_list(tmp_path: Path) -> None:
    scheme, config = load_scheme("meddocan"), RepresenterConfig(8, dim=6, hidden=4)
    workspace = create(tmp_path / "provider", "north", scheme.name)
    workspace.representer.mkdir()
    construction = constructions.noisy(table(["chest", "pain"], 8), scheme, config)
    construction.save(workspace.representer)
    write_text(workspace.representer / "training.json", "{}", private=False)
    release = publish_representer(workspace, Publishing(audited=False))
    for _ in range(2):
        known = find_known_rows(workspace, release)
        assert (known.codebook, known.rows) == (None, construction.rows(MAX_FACTOR))
