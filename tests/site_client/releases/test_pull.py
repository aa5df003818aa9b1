"""What a pull brings, what it does not fetch again, and what is left when it is interrupted."""

from __future__ import annotations

import datetime
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.errors import BoundsError, DigestError, ProtocolError, SchemaError, SignatureError
from protocols.release.manifest import FileEntry
from protocols.release.repository import LIFETIME, Reference
from protocols.release.verification import verify_release
from shared.errors import ConfigurationError, MissingExtraError, ModelError
from site_client import workspace
from site_client.errors import SiteError, WorkspaceError
from site_client.keys import expiry_lines
from site_client.policy import examining
from site_client.releases import pull as module
from site_client.releases.client import ReleaseClient
from site_client.releases.pull import pull
from site_client.releases.source import FolderSource, Network, ServerSource
from site_client.trust import Trust
from tests.facts import examined
from tests.loop import snapshot
from tests.protocols.payload.blocks import full_disk
from tests.release_repositories import RECORD, Publisher


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The releases here hold no models; notes what is loaded."""
    folders: list[Path] = []
    monkeypatch.setattr(module, "load_construction", folders.append)
    monkeypatch.setattr(module, "load_head", lambda folder: None)
    monkeypatch.setattr(module, "Pipeline", lambda *parts: None)
    monkeypatch.setattr(module, "examine", examined)
    monkeypatch.setattr(examining, "examine", examined)
    return folders


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Publisher:
    """With release 1; nobody may change it."""
    made = Publisher(tmp_path_factory.mktemp("published") / "provider")
    made.publish()
    return made


@pytest.fixture
def publisher(published: Publisher, tmp_path: Path) -> Publisher:
    return published.copy(tmp_path / "provider")


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
    assert sorted(path.name for path in site.root.iterdir()) == [
        "keys",
        "ledger.jsonl",
        "releases",
        "site.json",
        "trust.json",
    ]


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


def test_nothing_of_a_release_is_loaded_before_all_of_it_is_verified(
    publisher: Publisher, site: workspace.Workspace, loaded: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the release in use holds is copied, and a copy can go wrong."""
    publisher.publish()
    before, taken = all_but_metadata(site), list(loaded)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfile", lambda source, target: target.write_bytes(source.read_bytes()[::-1]))
        with pytest.raises(DigestError, match=r"scheme\.json"):
            pull(site)
    assert loaded == taken
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


def test_a_pull_that_takes_long_keeps_others_out_until_it_has_ended(
    publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish()
    save = Trust.save

    def meanwhile(trust: Trust, path: Path) -> None:
        save(trust, path)
        monkeypatch.setattr(Trust, "save", save)
        publisher.publish()
        with pytest.raises(StorageError, match="no other command is filling"):
            pull(workspace.open_workspace(site.root))

    monkeypatch.setattr(Trust, "save", meanwhile)
    assert pull(site)[1].manifest.sequence == 2
    assert pull(workspace.open_workspace(site.root))[1].manifest.sequence == 3


def test_a_pull_that_takes_long_does_not_undo_a_later_one(
    publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish()
    save = Trust.save

    @contextmanager
    def unlocked(path: Path) -> Iterator[Path]:
        """Where the file system knows no locks."""
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".incoming") as folder:
            yield Path(folder)

    monkeypatch.setattr(module, "hold_scratch", unlocked)

    def meanwhile(trust: Trust, path: Path) -> None:
        save(trust, path)
        monkeypatch.setattr(Trust, "save", save)
        publisher.publish()
        assert pull(workspace.open_workspace(site.root))[1].manifest.sequence == 3

    monkeypatch.setattr(Trust, "save", meanwhile)
    with pytest.raises(SiteError, match="expected release 3 or a later one, got 2"):
        pull(site)
    assert workspace.open_workspace(site.root).release().manifest.sequence == 3


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
    more: dict[str, Any] = {"reference.json": Reference("scheme.json", URL, entry).to_bytes().decode()}
    publisher.publish(given.read_text(), **more)
    publisher.target("0002-representer/scheme.json").unlink()
    return given


@pytest.fixture
def address(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a server that serves the publisher's folder."""

    def chunks(source: ServerSource, name: str, most: int) -> Iterator[bytes]:
        return FolderSource(publisher.folder, publisher.folder).chunks(name, most)

    monkeypatch.setattr(ServerSource, "chunks", chunks)
    return "https://deid.example.org/releases"


def test_attack_a_stick_makes_the_machine_go_to_an_address(
    site: workspace.Workspace, referring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Network, "fetch", lambda *arguments: pytest.fail("a stick sent it out"))
    before = all_but_metadata(site)
    expected = rf"--embeddings FILE.* at files\.example\.org .*15 bytes, SHA-256 {file_sha256(referring)}"
    with pytest.raises(ConfigurationError, match=expected):
        pull(site)
    assert all_but_metadata(site) == before


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

    def test_a_file_is_downloaded_once_it_is_said_from_whom(
        self, site: workspace.Workspace, referring: Path, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[object] = []

        def fetch(network: Network, url: str, most: int) -> Iterator[bytes]:
            asked.append((url, most))
            yield referring.read_bytes()

        monkeypatch.setattr(Network, "fetch", fetch)
        updated, release = pull(site, address, network=Network(tell=asked.append))
        said = "scheme.json (15 bytes) is fetched from files.example.org, where the release says it is"
        assert asked == [said, (URL, referring.stat().st_size)]
        assert release.read("scheme.json") == referring.read_bytes()
        # The next release with the same file needs neither.
        monkeypatch.setattr(Network, "fetch", lambda *arguments: pytest.fail("it is here already"))
        assert pull(updated)[1].digest == release.digest

    @pytest.mark.parametrize("answer", [b"", b'{"large": nope}', b'{"large": true', b'{"large": true}.'])
    def test_another_download_is_refused(
        self, answer: bytes, site: workspace.Workspace, referring: Path, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = all_but_metadata(site)
        monkeypatch.setattr(Network, "fetch", lambda network, url, most: iter([answer]))
        with pytest.raises((DigestError, BoundsError)):
            pull(site, address)
        assert all_but_metadata(site) == before

    def test_a_reference_to_what_the_release_does_not_list_is_refused(
        self, publisher: Publisher, site: workspace.Workspace
    ) -> None:
        for file, digest in (("other.json", "ab" * 32), ("scheme.json", "ab" * 32)):
            more: dict[str, Any] = {"reference.json": Reference(file, URL, FileEntry(2, digest)).to_bytes().decode()}
            publisher.publish("{}", **more)
            with pytest.raises(SchemaError, match=r"reference\.json"):
                pull(site)


def test_a_release_that_was_not_confirmed_for_long_is_named(site: workspace.Workspace) -> None:
    today = datetime.date.today()
    assert expiry_lines(site, today) == []
    [line] = expiry_lines(site, today + LIFETIME)
    assert "site-client pull" in line


def pulled(site: workspace.Workspace, **options: Any) -> tuple[int, int | None]:
    """Numbers of the release in use and of the pipeline after a pull, which the settings hold too."""
    updated, release = pull(workspace.open_workspace(site.root), **options)
    assert workspace.open_workspace(site.root) == updated
    assert updated.release() == release
    if updated.pipeline is None:
        return release.manifest.sequence, None
    found = updated.pipeline_release()
    assert found.manifest.kind == "pipeline"
    return release.manifest.sequence, found.manifest.sequence


def folders(site: workspace.Workspace) -> list[str]:
    return sorted(path.name for path in site.releases.iterdir())


def without_the_extra(folder: Path) -> None:
    raise MissingExtraError("a transformer needs the package transformers, found none; in the checkout run pip")


class TestPipeline:
    """What finds PHI in the house stays, whatever the provider publishes after it."""

    @pytest.mark.parametrize(
        ("kinds", "expected"),
        [
            ("p", [(2, 2)]),
            ("pr", [(2, 2), (3, 2)]),
            ("rp", [(2, None), (3, 3)]),
            ("prr", [(2, 2), (3, 2), (4, 2)]),
            ("prp", [(2, 2), (3, 2), (4, 4)]),
            ("pprpr", [(2, 2), (3, 3), (4, 3), (5, 5), (6, 5)]),
        ],
    )
    def test_every_order(
        self, kinds: str, expected: list[tuple[int, int | None]], publisher: Publisher, site: workspace.Workspace
    ) -> None:
        assert pulled(site) == (1, None)
        for kind, numbers in zip(kinds, expected, strict=True):
            publisher.publish(f"[{numbers[0]}]", kind={"p": "pipeline", "r": "representer"}[kind])
            assert pulled(site) == numbers
            assert pulled(site) == numbers

    def test_a_site_that_saw_none_of_it_gets_both(self, publisher: Publisher, site: workspace.Workspace) -> None:
        for kind in ("pipeline", "pipeline", "representer", "representer"):
            publisher.publish(kind=kind)
        assert pulled(site) == (5, 3)
        assert folders(site) == ["0001-representer", "0003-pipeline", "0005-representer"]

    def test_one_whose_extra_is_missing_is_taken_to_share_with_until_that_is_there(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch, loaded: list[Path]
    ) -> None:
        """Verified and judged as any other; whoever asks it for PHI is refused."""
        publisher.publish(kind="pipeline")
        told: list[str] = []
        with monkeypatch.context() as machine:
            machine.setattr(module, "load_head", without_the_extra)
            for _ in range(2):
                assert pulled(site, tell=told.append) == (2, None)
            assert [folder.name for folder in loaded] == ["0001-representer", "0002-pipeline"]
            with pytest.raises(
                WorkspaceError, match=r"release 2 is a pipeline whose libraries were missing here.*`site-client pull`"
            ):
                workspace.open_workspace(site.root).pipeline_release()
            publisher.publish()
            assert pulled(site, tell=told.append) == (3, None)
            publisher.publish(kind="pipeline")
            assert pulled(site, tell=told.append) == (4, None)
        kept = [line for line in told if "in the checkout run pip, and pull again" in line]
        assert [line.partition(":")[0] for line in kept] == [
            *["notes can be encoded and shared with this release, and not de-identified here"] * 2,
            "pipeline 2 could not be brought",
            "notes can be encoded and shared with this release, and not de-identified here",
        ]
        assert pulled(site) == (4, 4)

    def test_it_takes_the_place_of_none_that_runs(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.publish(kind="pipeline")
        assert pulled(site) == (2, 2)
        publisher.publish(kind="pipeline")
        with monkeypatch.context() as machine:
            machine.setattr(module, "load_head", without_the_extra)
            with pytest.raises(
                ConfigurationError, match=r"^release 3: .* run pip, and pull again; until then .* pipeline 2 "
            ):
                pull(workspace.open_workspace(site.root))
            with pytest.raises(SiteError, match="another pull has brought one that does without"):
                pull(site)
        assert workspace.open_workspace(site.root).current == workspace.open_workspace(site.root).pipeline
        assert workspace.open_workspace(site.root).pipeline_release().manifest.sequence == 2
        assert pulled(site) == (3, 3)

    def test_one_that_is_damaged_is_not_taken_where_the_extra_is_missing_either(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.publish("[2]", kind="pipeline")
        monkeypatch.setattr(module, "load_head", without_the_extra)
        publisher.target("0002-pipeline/scheme.json").write_text("[other]")
        with pytest.raises(ProtocolError):
            pull(site)
        left = workspace.open_workspace(site.root)
        assert left.current == site.current
        assert left.pipeline is None

    def test_before_the_first_pipeline_it_says_so(self, site: workspace.Workspace) -> None:
        with pytest.raises(WorkspaceError, match=r"release 1 holds a representer only.*pull a pipeline"):
            site.pipeline_release()
        with pytest.raises(WorkspaceError, match="no release"):
            replace(site, current=None).pipeline_release()

    def test_one_that_can_not_be_brought_is_told_and_the_release_is_in_use(
        self, publisher: Publisher, site: workspace.Workspace
    ) -> None:
        publisher.publish("[2]", kind="pipeline")
        publisher.publish("[3]")
        missing = publisher.target("0002-pipeline/scheme.json")
        data = missing.read_bytes()
        missing.unlink()
        told: list[str] = []
        assert pulled(site, tell=told.append) == (3, None)
        _, line = told
        assert line.startswith("pipeline 2 could not be brought: expected all files")
        missing.write_bytes(data)
        assert pulled(site) == (3, 2)

    def test_a_damaged_one_is_pulled_again(self, publisher: Publisher, site: workspace.Workspace) -> None:
        publisher.publish("[2]", kind="pipeline")
        publisher.publish("[3]")
        assert pulled(site) == (3, 2)
        (site.releases / "0002-pipeline" / "scheme.json").write_text("[4]")
        with pytest.raises(DigestError):
            workspace.open_workspace(site.root).pipeline_release()
        assert pulled(site) == (3, 2)

    def test_what_it_shares_with_the_release_is_not_fetched_twice(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.publish("[2]", kind="pipeline")
        publisher.publish("[2]")
        fetched = []
        download = ReleaseClient.download

        def noted(client: ReleaseClient, target: str, entry: FileEntry, path: Path) -> None:
            fetched.append(target)
            download(client, target, entry, path)

        monkeypatch.setattr(ReleaseClient, "download", noted)
        assert pulled(site) == (3, 2)
        assert fetched == [
            "0003-representer/MODEL_CARD.md",
            "0003-representer/scheme.json",
            "0002-pipeline/MODEL_CARD.md",
        ]

    def test_a_workspace_of_before_goes_on_with_its_pipeline(
        self, publisher: Publisher, site: workspace.Workspace
    ) -> None:
        publisher.publish(kind="pipeline")
        assert pulled(site) == (2, 2)
        path = site.root / "site.json"
        settings = json.loads(path.read_text())
        del settings["pipeline"]
        path.write_text(json.dumps(settings))
        assert workspace.open_workspace(site.root).pipeline_release().manifest.sequence == 2
        publisher.publish()
        assert pulled(site) == (3, 2)

    def test_one_of_before_without_a_pipeline_has_none(self, site: workspace.Workspace) -> None:
        path = site.root / "site.json"
        settings = json.loads(path.read_text())
        del settings["pipeline"]
        path.write_text(json.dumps(settings))
        assert workspace.open_workspace(site.root).pipeline is None


def test_releases_that_nothing_uses_go_and_what_was_in_use_until_now_stays(
    publisher: Publisher, site: workspace.Workspace
) -> None:
    (site.releases / "kept-by-hand").mkdir()
    for kind in ("pipeline", "representer", "representer"):
        publisher.publish(kind=kind)
        pulled(site)
    assert folders(site) == ["0002-pipeline", "0003-representer", "0004-representer", "kept-by-hand"]


def test_release_10000_follows_9999(publisher: Publisher, site: workspace.Workspace) -> None:
    publisher.skipped = 9996
    for kind in ("pipeline", "representer", "pipeline", "representer"):
        publisher.publish(kind=kind)
    assert publisher.repository.release_names()[-2:] == ["10000-pipeline", "10001-representer"]
    assert pulled(site) == (10001, 10000)


class TestSize:
    def test_a_release_that_is_too_large_is_refused_before_anything_is_fetched(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.publish("x" * 3000)
        monkeypatch.setattr(ReleaseClient, "download", lambda *arguments: pytest.fail("it is too large"))
        before = all_but_metadata(site)
        with pytest.raises(BoundsError, match="at most 3000 bytes"):
            pull(site, max_bytes=3000)
        assert all_but_metadata(site) == before

    def test_one_that_is_not_is_taken(self, publisher: Publisher, site: workspace.Workspace) -> None:
        publisher.publish("x" * 3000)
        assert pull(site, max_bytes=3003)[1].manifest.sequence == 2

    def test_so_is_a_pipeline_that_is_too_large(self, publisher: Publisher, site: workspace.Workspace) -> None:
        publisher.publish("x" * 3000, kind="pipeline")
        publisher.publish()
        told: list[str] = []
        assert pulled(site, max_bytes=3000, tell=told.append) == (3, None)
        assert "at most 3000 bytes" in told[1]


def test_two_pulls_at_once_do_not_mix(
    publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.publish("[2]")
    tried: list[str] = []
    download = ReleaseClient.download

    def meanwhile(client: ReleaseClient, target: str, entry: FileEntry, path: Path) -> None:
        if not tried:
            with pytest.raises(StorageError, match=r"incoming.*process [0-9]+ is filling; wait") as caught:
                pull(site)
            tried.append(str(caught.value))
        download(client, target, entry, path)

    monkeypatch.setattr(ReleaseClient, "download", meanwhile)
    assert pull(site)[1].manifest.sequence == 2
    assert tried
