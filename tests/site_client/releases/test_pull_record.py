"""What a release states of its construction is held against what its files show, before it is taken in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocols.release.verification import ReleaseFields
from shared.errors import ModelError
from tests.site_client import sites


@pytest.mark.parametrize(
    "lie",
    [
        {"smallest_cluster": 999},
        {"surrogate_spans": 4},
        {"options": {"procedure": "surrogates"}},
        {"options": {"hide_casing": True}},
    ],
)
def test_a_release_that_is_not_what_its_record_states_is_not_taken_in(lie: object, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="tell the provider"):
        sites.site(tmp_path, sites.revealing(), json.dumps(lie))
    assert not (tmp_path / "site" / "releases" / "0001-representer").exists()


def test_a_release_that_states_another_label_scheme_than_its_files_have_is_not_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated: Any = lambda **fields: ReleaseFields(**fields | {"label_scheme": "meddocan"})  # noqa: E731
    monkeypatch.setattr("aggregator.publishing.releases.ReleaseFields", stated)
    with pytest.raises(ModelError, match="meddocan"):
        sites.site(tmp_path, sites.revealing())
    assert not (tmp_path / "site" / "releases" / "0001-representer").exists()


def test_a_release_that_is_what_its_record_states_is_taken_in(tmp_path: Path) -> None:
    construction = sites.revealing()
    record = {"options": {"procedure": "k-anonymous", "hide_casing": False}} | construction.facts()
    assert sites.site(tmp_path, construction, json.dumps(record)).release().manifest.name
