"""A provider that keeps one hospital on an old pipeline, by a log that is everybody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tuf.api.metadata import Targets

from foundation.errors import StorageError
from protocols.errors import DigestError
from protocols.log.checkpoint import LOG
from protocols.release.warrant import Warrant
from site_client import workspace
from site_client.errors import ForkError
from site_client.releases.pull import pull
from site_client.workspace import Workspace, open_workspace
from tests.release_repositories import LoggedPublisher

pytestmark = pytest.mark.usefixtures("without_models")


@pytest.fixture
def publisher(tmp_path: Path) -> LoggedPublisher:
    """With a pipeline, a representer, the newer pipeline, and two representers after it."""
    made = LoggedPublisher(tmp_path / "provider")
    for number, kind in enumerate(("pipeline", "representer", "pipeline", "representer", "representer")):
        made.publish(f"[{number}]", kind=kind)
    return made


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return workspace.create(tmp_path / "site", "st-anne")


def changed(publisher: LoggedPublisher, change: Callable[[dict[str, Any]], object]) -> None:
    """Signs for other releases than there are, by all keys of the provider."""

    def forge(targets: Targets) -> None:
        assert targets.delegations is not None
        assert targets.delegations.roles is not None
        change(targets.delegations.roles)

    publisher.forge_upwards(publisher.forge("targets", forge))


def take(site: Workspace, publisher: LoggedPublisher) -> Workspace:
    return pull(open_workspace(site.root), str(publisher.folder), publisher.fingerprint)[0]


def test_attack_the_newer_pipeline_is_left_out_for_one_hospital(publisher: LoggedPublisher, site: Workspace) -> None:
    changed(publisher, lambda roles: roles.pop("0003-pipeline"))
    with pytest.raises(ForkError, match="expected pipeline 3, which stands in it, to be here, got none") as caught:
        take(site, publisher)
    assert "\n" not in str(caught.value)
    assert open_workspace(site.root).current is None
    # What the provider signed shows it by itself: the checkpoint, and the releases beside it.
    [path] = (site.root / LOG).glob("fork-*.json")
    warrant = Warrant.from_bytes(json.loads(path.read_bytes())["shown_warrant"].encode())
    assert warrant.verify(warrant.roots[:1]).split("\n")[1] == "5"
    assert b"0003-pipeline" not in warrant.targets


def test_attack_all_pipelines_are_left_out(publisher: LoggedPublisher, site: Workspace) -> None:
    changed(publisher, lambda roles: [roles.pop(name) for name in ("0001-pipeline", "0003-pipeline")])
    with pytest.raises(ForkError, match="expected pipeline 1"):
        take(site, publisher)


def test_attack_the_newer_pipeline_stands_there_as_a_representer(publisher: LoggedPublisher, site: Workspace) -> None:
    def disguise(roles: dict[str, Any]) -> None:
        roles["0003-representer"] = roles.pop("0003-pipeline")
        roles["0003-representer"].name = "0003-representer"

    changed(publisher, disguise)
    with pytest.raises(ForkError, match="expected pipeline 3"):
        take(site, publisher)


def test_a_release_from_before_the_pipeline_may_be_gone(publisher: LoggedPublisher, site: Workspace) -> None:
    """No hospital would take it any more, and a provider may come to tidy up."""
    changed(publisher, lambda roles: [roles.pop(name) for name in ("0001-pipeline", "0002-representer")])
    taken = take(site, publisher)
    assert taken.pipeline is not None
    assert taken.pipeline.folder == "0003-pipeline"


def test_so_may_one_that_the_hospital_has(publisher: LoggedPublisher, site: Workspace) -> None:
    take(site, publisher)
    changed(publisher, lambda roles: roles.pop("0003-pipeline"))
    taken = take(site, publisher)
    assert taken.pipeline is not None
    assert taken.pipeline.folder == "0003-pipeline"


def test_entries_that_are_not_those_of_the_log_are_refused_and_taken_for_no_fork(
    publisher: LoggedPublisher, site: Workspace
) -> None:
    path = publisher.folder / LOG / "tile/entries/000.p/5"
    good = path.read_bytes()
    assert good.count(b'"representer"') == 3
    for bad in (good.replace(b"representer", b"representor"), good.replace(b'"sequence":4', b'"sequence":6'), b""):
        path.write_bytes(bad)
        with pytest.raises(DigestError, match="tiles of the signed checkpoint"):
            take(site, publisher)
    path.unlink()
    with pytest.raises(StorageError):
        take(site, publisher)
    assert not list((site.root / LOG).glob("fork-*"))
    path.write_bytes(good)
    assert take(site, publisher).current is not None
