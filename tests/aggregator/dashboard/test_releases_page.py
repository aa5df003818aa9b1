"""The page of the releases: what is out, what its audit says, and what stands between the workspace and the next release."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from aggregator.publishing import releases
from aggregator.publishing.releases import Publishing
from aggregator.repository.tuf_repository import Repository
from foundation.errors import StorageError
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.publishing.trained import lay_down, record_training

UNAUDITED = Publishing(audited=False)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With a representer and a head that nothing was published of."""
    made = Desk(tmp_path / "world")
    lay_down(made.workspace)
    record_training(made.workspace)
    return made


def test_a_release_that_was_cut_is_shown_as_one_that_is_not_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise StorageError("room", received="a full disk", advice="free some space", place="targets")

    monkeypatch.setattr(Repository, "publish", full)
    # As if the process were gone: it writes down no more.
    monkeypatch.setattr(releases, "give_up_release", lambda *arguments: None)
    with pytest.raises(StorageError):
        releases.publish_representer(desk.workspace, UNAUDITED)
    browser = desk.signed_in("viewer")
    assert "no release yet" in shown(browser.get("/"))
    assert browser.get("/sites").status_code == 200
    said = f"begun {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    for path in ("/releases", "/releases/0001-representer"):
        page = browser.get(path)
        assert said in shown(page)
        assert "not out" in shown(page)
        assert 'mark good">' not in page.text
