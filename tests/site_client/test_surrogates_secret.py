"""The site's secret for surrogates that come again: made on first use, and never anew unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from site_client.errors import WorkspaceError
from site_client.workspace import create, open_workspace


def test_it_is_made_on_first_use_and_a_lost_one_is_missed(tmp_path: Path) -> None:
    create(tmp_path, "st-anne")
    first = open_workspace(tmp_path).surrogates_secret()
    assert open_workspace(tmp_path).surrogates_secret() == first
    open_workspace(tmp_path).surrogates_key.unlink()
    with pytest.raises(WorkspaceError, match=r"surrogates\.key: expected the secret of earlier.*restore it"):
        open_workspace(tmp_path).surrogates_secret()
    assert not open_workspace(tmp_path).surrogates_key.exists()


def test_one_that_an_earlier_version_made_is_missed_from_its_next_use_on(tmp_path: Path) -> None:
    create(tmp_path, "st-anne").surrogates_secret()
    settings = json.loads((tmp_path / "site.json").read_text())
    del settings["surrogates_made"]
    (tmp_path / "site.json").write_text(json.dumps(settings))
    open_workspace(tmp_path).surrogates_secret()
    open_workspace(tmp_path).surrogates_key.unlink()
    with pytest.raises(WorkspaceError):
        open_workspace(tmp_path).surrogates_secret()
