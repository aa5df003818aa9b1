"""What stays of a pull that a person or the machine ends, and that is no error."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from command_line.stopping import StoppedError
from protocols.errors import SignatureError
from protocols.release.repository import read_latest
from site_client import workspace
from site_client.releases import pull as module
from site_client.releases.client import ReleaseClient
from site_client.releases.pull import pull
from site_client.releases.source import FolderSource
from site_client.trust import Trust
from site_client.workspace import Workspace
from tests.release_repositories import Publisher

pytestmark = pytest.mark.usefixtures("without_models")


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    made = Publisher(tmp_path / "provider")
    made.publish()
    return made


@pytest.fixture
def site(publisher: Publisher, tmp_path: Path) -> Workspace:
    """With release 1 in use."""
    return pull(workspace.create(tmp_path / "site", "north"), str(publisher.folder), publisher.fingerprint)[0]


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), StoppedError(signal.SIGTERM)])
@pytest.mark.parametrize("place", ["release", "metadata"])
def test_a_pull_that_is_ended_keeps_what_it_has_verified(
    place: str,
    ending: BaseException,
    publisher: Publisher,
    site: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A key that was taken back must not count again where somebody presses Ctrl-C, among the metadata or behind them."""
    old = publisher.copy(tmp_path / "old")
    publisher.repository.rotate(["timestamp", "snapshot"])
    publisher.publish("[2]")

    def end(*parts: object) -> NoReturn:
        raise ending

    def end_at_snapshot(source: FolderSource, name: str, most: int) -> Iterator[bytes]:
        return end() if "snapshot" in name else chunks(source, name, most)

    chunks = FolderSource.chunks
    with monkeypatch.context() as patch:
        if place == "release":
            patch.setattr(ReleaseClient, "download", end)
        else:
            patch.setattr(FolderSource, "chunks", end_at_snapshot)
        with pytest.raises(type(ending)):
            pull(site)
    kept = Trust.load(site.trust)
    assert kept is not None
    assert "root_history/2.root.json" in kept.files
    assert workspace.open_workspace(site.root) == site
    old.repository.refresh(with_offline=False)
    with pytest.raises(SignatureError):
        pull(site, str(old.folder))


def test_so_does_one_that_is_killed(
    publisher: Publisher, site: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing runs after that: what counts is on the disk as soon as the metadata are verified."""
    found: list[Trust | None] = []
    publisher.repository.rotate(["timestamp", "snapshot"])
    publisher.publish("[2]")

    def look(data: bytes) -> str:
        found.append(Trust.load(site.trust))
        return read_latest(data)

    monkeypatch.setattr(module, "read_latest", look)
    pull(site)
    [kept] = found
    assert kept is not None
    assert "root_history/2.root.json" in kept.files
    assert kept.files["timestamp.json"] == publisher.metadata("timestamp").read_bytes()


def test_a_first_pull_that_is_ended_pins_nothing(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*parts: object) -> NoReturn:
        raise KeyboardInterrupt

    new = workspace.create(tmp_path / "new", "south")
    monkeypatch.setattr(ReleaseClient, "download", end)
    with pytest.raises(KeyboardInterrupt):
        pull(new, str(publisher.folder), publisher.fingerprint)
    assert not new.trust.exists()
