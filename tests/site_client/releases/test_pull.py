"""What a pull brings, what it does not fetch again, and what is left when it is interrupted."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.errors import BoundsError, DigestError, SchemaError, SignatureError
from protocols.release.manifest import FileEntry
from protocols.release.repository import LIFETIME, Reference
from protocols.release.verification import verify_release
from shared.errors import ModelError
from site_client import workspace
from site_client.errors import SiteError
from site_client.keys import expiry_lines
from site_client.releases import pull as module
from site_client.releases.client import ReleaseClient
from site_client.releases.pull import pull
from site_client.releases.source import Network
from site_client.trust import Trust
from tests.loop import snapshot
from tests.protocols.payload.blocks import full_disk
from tests.release_repositories import RECORD, Publisher


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The releases here hold no models; notes what is loaded."""
    folders: list[Path] = []
    monkeypatch.setattr(module, "load_construction", folders.append)
    return folders


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    made = Publisher(tmp_path / "provider")
    made.publish()
    return made


@pytest.fixture
def site(publisher: Publisher, tmp_path: Path) -> workspace.Workspace:
    """With release 1 in use."""
    made = workspace.create(tmp_path / "site", "north")
    return pull(made, str(publisher.folder), publisher.fingerprint)[0]


def all_but_metadata(site: workspace.Workspace) -> dict[str, str]:
    """The workspace without what was verified of the metadata, which a pull that fails may bring on."""
    found = snapshot(site.root)
    del found[str(site.trust)]
    return found


def test_the_first_pull_brings_release_keys_and_trust(publisher: Publisher, site: workspace.Workspace) -> None:
    opened = workspace.open_workspace(site.root)
    assert opened == site
    assert opened.provider == RECORD
    release = opened.release()
    assert release.folder == site.releases / "0001-representer"
    assert verify_release(release.folder, release.digest) == release
    trust = Trust.load(site.trust)
    assert trust is not None
    assert trust.fingerprint.key_id == publisher.fingerprint
    assert trust.source == str(publisher.folder)
    assert sorted(path.name for path in site.root.iterdir()) == ["keys", "releases", "site.json", "trust.json"]


def test_the_source_is_remembered_and_may_change(
    publisher: Publisher, site: workspace.Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish()
    assert pull(site)[1].manifest.sequence == 2
    publisher.publish()
    shutil.copytree(publisher.folder, tmp_path / "stick" / "releases")
    shutil.rmtree(publisher.folder)
    monkeypatch.chdir(tmp_path)
    assert pull(workspace.open_workspace(site.root), "stick/releases")[1].manifest.sequence == 3
    monkeypatch.chdir("/")
    assert pull(workspace.open_workspace(site.root))[1].manifest.sequence == 3


@pytest.mark.parametrize("source", ["http://deid.example.org", "ftp://deid.example.org", "file:///tmp", ""])
def test_other_sources_are_refused(source: str, site: workspace.Workspace, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="expected a"):
        pull(site, source)
    with pytest.raises(SiteError, match="metadata"):
        pull(site, str(tmp_path / "nothing"))


def test_a_source_that_can_not_be_remembered_is_refused_before_anything_is_fetched(
    publisher: Publisher, tmp_path: Path, loaded: list[Path]
) -> None:
    source = shutil.copytree(publisher.folder, tmp_path / "u\u0308ber")
    with pytest.raises(SchemaError, match="normal form C"):
        pull(workspace.create(tmp_path / "new", "north"), str(source), publisher.fingerprint)
    assert loaded == []


def test_without_a_source_it_asks_for_one(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="give it once"):
        pull(workspace.create(tmp_path / "south", "south"))


def test_a_repository_without_a_release_says_so(tmp_path: Path) -> None:
    empty = Publisher(tmp_path / "provider")
    site = workspace.create(tmp_path / "site", "north")
    before = snapshot(site.root)
    with pytest.raises(SchemaError, match=r"latest\.json"):
        pull(site, str(empty.folder), empty.fingerprint)
    assert snapshot(site.root) == before


def test_a_model_is_loaded_once_before_it_is_used(
    publisher: Publisher, site: workspace.Workspace, loaded: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(loaded) == 1
    pull(site)
    assert len(loaded) == 1
    publisher.publish()

    def broken(folder: Path) -> None:
        raise ModelError("weights that do not fit")

    monkeypatch.setattr(module, "load_construction", broken)
    before = all_but_metadata(site)
    with pytest.raises(ModelError):
        pull(site)
    assert all_but_metadata(site) == before


def test_what_the_release_in_use_holds_is_not_fetched_again(
    publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish()
    fetched = []
    download = ReleaseClient.download

    def noted(client: ReleaseClient, target: str, entry: FileEntry, path: Path) -> None:
        fetched.append(target)
        download(client, target, entry, path)

    monkeypatch.setattr(ReleaseClient, "download", noted)
    pull(site)
    # The scheme is the same, the card is not.
    assert fetched == ["0002-representer/MODEL_CARD.md"]


def test_a_damaged_release_is_pulled_again(site: workspace.Workspace) -> None:
    path = site.releases / "0001-representer" / "scheme.json"
    path.write_text("[]")
    with pytest.raises(DigestError):
        site.release()
    updated, _ = pull(site)
    assert updated.release().read("scheme.json") == b"{}"


@pytest.fixture
def unreadable(site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the release in use lies on a bad part of the disk."""
    bad = b"[]"
    (site.releases / "0001-representer" / "scheme.json").write_bytes(bad)

    def read(path: Path) -> str:
        if path.read_bytes() == bad:
            raise StorageError("a file", received="Input/output error")
        return file_sha256(path)

    monkeypatch.setattr("protocols.release.verification.file_sha256", read)
    with pytest.raises(StorageError):
        site.release()


@pytest.mark.usefixtures("unreadable")
def test_so_is_one_that_can_not_be_read(site: workspace.Workspace) -> None:
    updated, _ = pull(site)
    assert updated.release().read("scheme.json") == b"{}"


@pytest.mark.usefixtures("unreadable")
def test_one_that_can_not_be_read_does_not_keep_the_next_away(publisher: Publisher, site: workspace.Workspace) -> None:
    publisher.publish()
    assert pull(site)[1].manifest.sequence == 2


def test_what_a_pull_that_fails_has_verified_stays(
    publisher: Publisher, site: workspace.Workspace, tmp_path: Path
) -> None:
    """A key that was taken back must not count again, nor older metadata: not even where the pull that says so ends before its end."""
    old = publisher.copy(tmp_path / "old")
    publisher.repository.rotate(["timestamp", "snapshot"])
    publisher.publish()
    publisher.target("0002-representer/MODEL_CARD.md").unlink()
    with pytest.raises(StorageError):
        pull(site)
    kept = Trust.load(site.trust)
    assert kept is not None
    assert "root_history/2.root.json" in kept.files
    assert kept.files["timestamp.json"] == publisher.metadata("timestamp").read_bytes()
    # The release in use is as it was.
    assert workspace.open_workspace(site.root) == site
    assert site.release()
    # Who holds the old online keys, and leaves the new root out, is refused.
    old.publish()
    with pytest.raises(SignatureError):
        pull(site, str(old.folder))
    # Another place that failed is not remembered.
    assert Trust.load(site.trust) == kept


def test_a_first_pull_that_fails_pins_nothing(publisher: Publisher, tmp_path: Path) -> None:
    new = workspace.create(tmp_path / "new", "south")
    publisher.repository.rotate(["root"])
    publisher.target("0001-representer/MODEL_CARD.md").unlink()
    with pytest.raises(StorageError):
        pull(new, str(publisher.folder), publisher.fingerprint)
    assert not new.trust.exists()


def test_a_lost_trust_asks_for_the_fingerprint_again(publisher: Publisher, site: workspace.Workspace) -> None:
    site.trust.unlink()
    with pytest.raises(SiteError, match="fingerprint"):
        pull(site, str(publisher.folder))
    assert pull(site, str(publisher.folder), publisher.fingerprint)[1].manifest.sequence == 1


class Interrupted(BaseException):
    """Ctrl-C, or the power."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ReleaseClient, "refresh"),
        (ReleaseClient, "read"),
        (ReleaseClient, "download"),
        (module, "write_bytes"),
        (module, "verify_release"),
        (module, "load_construction"),
        (module, "flush"),
        (Path, "rename"),
        (Trust, "save"),
        (workspace.Workspace, "save"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupted_pull_leaves_the_old_release_in_use(
    owner: Any, name: str, after: bool, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish("[2]")
    real = getattr(owner, name)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        raise Interrupted

    before = workspace.open_workspace(site.root)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with pytest.raises(Interrupted):
            pull(site)
    opened = workspace.open_workspace(site.root)
    if (owner, name, after) == (workspace.Workspace, "save", True):
        assert opened.release().manifest.sequence == 2
    else:
        assert opened == before
        assert opened.release().manifest.sequence == 1
    assert not (site.root / ".incoming").exists()
    updated, release = pull(opened)
    assert release.manifest.sequence == 2
    assert updated.release().read("scheme.json") == b"[2]"


def test_what_a_killed_pull_left_is_removed(publisher: Publisher, site: workspace.Workspace) -> None:
    left = site.root / ".incoming" / "0002-representer"
    left.mkdir(parents=True)
    (left / "evil.json").write_text("{}")
    publisher.publish()
    _, release = pull(site)
    assert not (release.folder / "evil.json").exists()
    assert not left.exists()


def test_a_full_disk_leaves_the_old_release_in_use(publisher: Publisher, site: workspace.Workspace) -> None:
    publisher.publish("[2]")
    before = snapshot(site.root)
    with full_disk(50), pytest.raises(StorageError, match="full disk"):
        pull(site)
    assert snapshot(site.root) == before


URL = "https://files.example.org/scheme.json"


@pytest.fixture
def referring(publisher: Publisher, site: workspace.Workspace, tmp_path: Path) -> Path:
    """Release 2 refers to its scheme, which the repository does not carry; the file itself."""
    given = tmp_path / "given.json"
    given.write_text('{"large": true}')
    entry = FileEntry(given.stat().st_size, file_sha256(given))
    publisher.publish(given.read_text(), **{"reference.json": Reference("scheme.json", URL, entry).to_bytes().decode()})
    publisher.target("0002-representer/scheme.json").unlink()
    return given


class TestReference:
    def test_a_file_is_given(self, site: workspace.Workspace, referring: Path) -> None:
        _, release = pull(site, embeddings=referring)
        assert release.read("scheme.json") == referring.read_bytes()

    def test_another_file_is_refused(self, site: workspace.Workspace, referring: Path) -> None:
        before = all_but_metadata(site)
        referring.write_text('{"large": nope}')
        with pytest.raises(DigestError, match=r"given\.json"):
            pull(site, embeddings=referring)
        assert all_but_metadata(site) == before

    def test_a_file_is_downloaded(
        self, site: workspace.Workspace, referring: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []

        def fetch(network: Network, url: str, most: int) -> Iterator[bytes]:
            asked.append((url, most))
            yield referring.read_bytes()

        monkeypatch.setattr(Network, "fetch", fetch)
        updated, release = pull(site)
        assert asked == [(URL, referring.stat().st_size)]
        assert release.read("scheme.json") == referring.read_bytes()
        # The next release with the same file needs neither.
        monkeypatch.setattr(Network, "fetch", lambda *arguments: pytest.fail("it is here already"))
        assert pull(updated)[1].digest == release.digest

    @pytest.mark.parametrize("answer", [b"", b'{"large": nope}', b'{"large": true', b'{"large": true}.'])
    def test_another_download_is_refused(
        self, answer: bytes, site: workspace.Workspace, referring: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = all_but_metadata(site)
        monkeypatch.setattr(Network, "fetch", lambda network, url, most: iter([answer]))
        with pytest.raises((DigestError, BoundsError)):
            pull(site)
        assert all_but_metadata(site) == before

    def test_a_reference_to_what_the_release_does_not_list_is_refused(
        self, publisher: Publisher, site: workspace.Workspace
    ) -> None:
        for file, digest in (("other.json", "ab" * 32), ("scheme.json", "ab" * 32)):
            reference = Reference(file, URL, FileEntry(2, digest)).to_bytes().decode()
            publisher.publish("{}", **{"reference.json": reference})
            with pytest.raises(SchemaError, match=r"reference\.json"):
                pull(site)


def test_a_release_that_was_not_confirmed_for_long_is_named(site: workspace.Workspace) -> None:
    today = datetime.date.today()
    assert expiry_lines(site, today) == []
    [line] = expiry_lines(site, today + LIFETIME)
    assert "site-client pull" in line
