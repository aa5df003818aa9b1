"""Hospitals to which the provider has given different keys compare all the same: by what its offline keys have signed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.release_repositories as repositories
from protocols.errors import UnknownSignerError
from protocols.keys.signing import PrivateKey
from protocols.log.checkpoint import LOG, log_origin
from protocols.log.entry import ReleaseEntry
from protocols.log.note import claimed_part, text_of
from protocols.release.repository import PROVIDER
from protocols.release.warrant import Warrant
from site_client import ledger, workspace
from site_client.errors import ForkError
from site_client.release_log import Relation, compare_log, require_shown
from site_client.releases.pull import pull
from site_client.trust import Trust
from site_client.workspace import Workspace, open_workspace
from tests.loop import done, hospital, refused, values
from tests.release_repositories import RECORD, LoggedPublisher

pytestmark = pytest.mark.usefixtures("without_models")

Join = Callable[[str, LoggedPublisher], Workspace]
OTHER = PrivateKey.from_seed(bytes(32))


@pytest.fixture
def publisher(tmp_path: Path) -> LoggedPublisher:
    """With release 1."""
    made = LoggedPublisher(tmp_path / "provider")
    made.publish()
    return made


@pytest.fixture
def join(tmp_path: Path) -> Join:
    """Makes a hospital that pulls from a provider."""

    def made(name: str, publisher: LoggedPublisher) -> Workspace:
        return pull(workspace.create(tmp_path / name, name), str(publisher.folder), publisher.fingerprint)[0]

    return made


@contextmanager
def under(key: PrivateKey) -> Iterator[None]:
    """What the provider publishes meanwhile is signed by this key, and no other is told."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repositories, "KEY", key)
        patch.setattr(repositories, "RECORD", replace(RECORD, signing_key=key.public_key))
        yield


def exported(site: Workspace) -> tuple[bytes, bytes]:
    """The checkpoint and its warrant."""
    shown = require_shown(site)
    return shown.note, shown.warrant


def kept(site: Workspace, kind: str) -> list[Path]:
    return sorted((site.root / LOG).glob(f"{kind}-*"))


def compared(site: Workspace) -> list[Any]:
    return [one.details for one in ledger.entries(site) if one.event == ledger.Event.RELEASE_LOG_COMPARED]


@pytest.fixture
def fork(publisher: LoggedPublisher, join: Join, tmp_path: Path) -> tuple[Workspace, Workspace]:
    """A hospital that is shown what everybody is, and one that is shown another release 2 under a key of its own."""
    face = publisher.copy(tmp_path / "face")
    publisher.publish('["everybody"]')
    with under(OTHER):
        face.publish('["for one"]')
    return join("st-anne", publisher), join("st-ben", face)


@pytest.mark.parametrize("reader", [0, 1])
def test_attack_a_fork_under_a_key_for_one_hospital_is_proved(reader: int, fork: tuple[Workspace, Workspace]) -> None:
    site, other = fork[reader], fork[1 - reader]
    with pytest.raises(ForkError, match="the 2 releases"):
        compare_log(site, *exported(other))
    [path] = kept(site, "fork")
    found = json.loads(path.read_bytes())
    # Whoever has pinned the same root can see it, and knows neither key.
    trust = Trust.load(site.trust)
    assert trust is not None
    first = trust.roots[:1]
    texts = [
        Warrant.from_bytes(one.encode()).verify(first) for one in (found["seen"]["warrant"], found["shown_warrant"])
    ]
    assert texts[1] == text_of(found["shown"].encode())
    assert [text.split("\n")[1] for text in texts] == ["2", "2"]
    assert texts[0] != texts[1]
    # And nothing is taken from then on.
    with pytest.raises(ForkError):
        pull(open_workspace(site.root))


@pytest.mark.parametrize("reader", [0, 1])
def test_without_its_warrant_it_is_kept_and_told(reader: int, fork: tuple[Workspace, Workspace]) -> None:
    """As a hospital of an earlier version exports it: no proof, and no word that sends people to the provider alone."""
    site, other = fork[reader], fork[1 - reader]
    note, _ = exported(other)
    for _ in range(2):
        with pytest.raises(
            UnknownSignerError,
            match=r"different keys: keep .*, take no release, and telephone the other hospital, not the",
        ):
            compare_log(site, note)
    [path] = kept(site, "not-proved")
    assert path.read_bytes() == note
    [details] = compared(site)
    assert details == {"not_proved": path.name, "claimed": require_shown(other).head.to_json()}
    assert not kept(site, "fork")
    # It proves nothing, so anybody could have made it: pulls go on.
    pull(open_workspace(site.root))


def test_both_files_go_by_the_commands(fork: tuple[Workspace, Workspace], tmp_path: Path) -> None:
    site, other = fork
    note, warrant = tmp_path / "st-ben.checkpoint", tmp_path / "st-ben.checkpoint.warrant"
    result = values(hospital("log", "export", note, "--workspace", other.root, "--json"))
    assert (result["file"], result["warrant"]) == (str(note), str(warrant))
    assert (note.read_bytes(), warrant.read_bytes()) == exported(other)
    # Again, over what is there.
    done(hospital("log", "export", note, "--workspace", other.root))
    refused(hospital("log", "compare", note, "--workspace", site.root), 36, "2 releases", "telephone")
    for path in kept(other, "warrant"):
        path.unlink()
    assert "pull, and export again" in done(hospital("log", "export", note, "--workspace", other.root)).stdout
    warrant.write_text("a letter", encoding="utf-8")
    pull(open_workspace(other.root))
    refused(hospital("log", "export", note, "--workspace", other.root), 2, "expected a new file or a warrant")
    assert warrant.read_text(encoding="utf-8") == "a letter"


def test_a_key_that_was_rotated_between_two_pulls_compares_well(publisher: LoggedPublisher, join: Join) -> None:
    """Without an overlap, as after a theft: each hospital knows but its own key."""
    before = join("st-anne", publisher)
    with under(OTHER):
        publisher.publish("[2]")
    after = join("st-ben", publisher)
    assert compare_log(before, *exported(after))[0] == Relation.LATER
    assert compare_log(after, *exported(before))[0] == Relation.EARLIER
    with under(OTHER):
        pull(open_workspace(before.root))
    assert compare_log(open_workspace(before.root), *exported(after))[0] == Relation.SAME


@pytest.mark.parametrize("role", ["root", "targets", "snapshot"])
def test_so_it_does_beside_new_keys_of_the_releases(role: str, publisher: LoggedPublisher, join: Join) -> None:
    before = join("st-anne", publisher)
    publisher.repository.rotate([role])
    with under(OTHER):
        publisher.publish("[2]")
    after = join("st-ben", publisher)
    assert compare_log(before, *exported(after))[0] == Relation.LATER
    if role != "targets":
        assert compare_log(after, *exported(before))[0] == Relation.EARLIER
        return
    # The keys before could be in a thief's hands.
    with pytest.raises(UnknownSignerError, match="pull at both"):
        compare_log(after, *exported(before))
    pull(open_workspace(before.root))
    assert compare_log(after, *exported(open_workspace(before.root)))[0] == Relation.SAME


def test_attack_a_thief_of_keys_that_were_taken_back_makes_no_fork(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    thief = publisher.copy(tmp_path / "thief")
    publisher.repository.rotate(["root", "targets", "snapshot", "timestamp"])
    publisher.publish("[2]")
    site = join("st-anne", publisher)
    with under(OTHER):
        thief.publish('["never was"]')
    with pytest.raises(UnknownSignerError, match="no warrant"):
        compare_log(site, *exported(join("st-ben", thief)))
    assert not kept(site, "fork")
    pull(open_workspace(site.root))


def test_attack_a_thief_of_a_signing_key_that_was_taken_back_makes_no_fork(
    publisher: LoggedPublisher, join: Join, tmp_path: Path
) -> None:
    """The metadata of before are public; they name one checkpoint alone, whoever has the key that signed it."""
    old = join("st-ben", publisher)
    warrant = Warrant.from_bytes(require_shown(old).warrant)
    thief = publisher.copy(tmp_path / "thief")
    thief.state([ReleaseEntry(1, "representer", "ab" * 32).to_bytes()])
    forged = (thief.folder / LOG / "checkpoint").read_bytes()
    with under(OTHER):
        publisher.publish("[2]")
    site = join("st-anne", publisher)
    for one in (warrant, replace(warrant, checkpoint=forged)):
        with pytest.raises(UnknownSignerError, match="no warrant"):
            compare_log(site, forged, one.to_bytes())
    assert not kept(site, "fork")
    assert [details.get("release_log") for details in compared(site)] == [None]


def test_signatures_of_others_take_no_warrant_away(publisher: LoggedPublisher, join: Join) -> None:
    """The metadata name the checkpoint with all its signatures, of which the ledger holds one."""
    with under(OTHER):
        publisher.publish("[2]")
        entries = [publisher.entry(name).to_bytes() for name in publisher.repository.release_names()]
        publisher.state(entries, key=OTHER, witnesses="— witness AAAA\n".encode())
    other = join("st-ben", publisher)
    publisher.state(entries)
    publisher.repository.publish({PROVIDER: RECORD.to_bytes()})
    site = join("st-anne", publisher)
    note, warrant = exported(other)
    whole = Warrant.from_bytes(warrant).checkpoint
    assert note == claimed_part(whole, log_origin(publisher.fingerprint)) != whole
    assert compare_log(site, note, warrant)[0] == Relation.SAME


def test_a_workspace_of_before_has_its_warrant_with_the_next_pull(publisher: LoggedPublisher, join: Join) -> None:
    site = join("st-anne", publisher)
    shutil.rmtree(site.root / LOG)
    assert require_shown(site).warrant == b""
    pull(site)
    assert require_shown(site).warrant
    seen = [one for one in ledger.entries(site) if one.event == ledger.Event.RELEASE_LOG_SEEN]
    assert len(seen) == 1
