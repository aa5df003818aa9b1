"""What the network, a thief of keys or a broken copy may do to the releases, one test an attack, from a stick and over HTTPS.

Every attack is made on a site that has release 1 in use. Afterwards its workspace is as it was, and it can still pull.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.signer import Signature
from tuf.api.metadata import Metadata, MetaFile, Root, TargetFile

from aggregator.repository.tuf_keys import KeyFile, tuf_key
from bench.exchange.certificates import make_certificates
from foundation.errors import StorageError
from protocols.errors import BoundsError, DigestError, ProtocolError, SchemaError, SignatureError, StaleError
from protocols.keys.signing import PrivateKey
from protocols.release.repository import LATEST, MAX_DOCUMENT_BYTES, RootFingerprint, latest_bytes
from site_client import workspace
from site_client.errors import SiteError
from site_client.exchange.transport import RetryPolicy
from site_client.releases import client as release_client
from site_client.releases import pull as module
from site_client.releases import source as release_source
from site_client.releases.pull import pull
from site_client.releases.source import Network
from site_client.trust import Trust
from tests.aggregator.server.service import AMPLE, Provider, listening
from tests.facts import examined
from tests.loop import snapshot
from tests.release_repositories import Publisher, described, later, sign

Offer = Callable[[Publisher], str]
STRANGER = [PrivateKey.from_seed(bytes([number]) * 32) for number in range(1, 4)]


@pytest.fixture(autouse=True)
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The releases here hold no models."""
    monkeypatch.setattr(module, "load_construction", lambda folder: None)
    monkeypatch.setattr(module, "examine", examined)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Network]]:
    """The provider's server: its address, the folder that it serves, and how to reach it."""
    folder = tmp_path_factory.mktemp("server")
    certificates = make_certificates(folder / "tls", "localhost")
    served = Provider(folder, AMPLE)
    with listening(lambda address: served.make_app(address=address), certificates) as address:
        yield address, folder / "releases", Network(certificates.authority, retry_policy=RetryPolicy(attempts=1))


@pytest.fixture(params=["files", "https"])
def offer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Puts a repository where the site pulls from."""
    if request.param == "files":
        return lambda publisher: str(publisher.folder)
    address, served, network = request.getfixturevalue("server")
    monkeypatch.setattr(pull, "__kwdefaults__", {**(pull.__kwdefaults__ or {}), "network": network})

    def put(publisher: Publisher) -> str:
        shutil.rmtree(served)
        shutil.copytree(publisher.folder, served)
        return f"{address}/releases"

    return put


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A provider with one release and a site that uses it, to be copied."""
    root = tmp_path_factory.mktemp("begun")
    publisher = Publisher(root / "provider")
    publisher.publish()
    site = workspace.create(root / "site", "north")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load_construction", lambda folder: None)
        patch.setattr(module, "examine", examined)
        pull(site, str(publisher.folder), publisher.fingerprint)
    return root


@pytest.fixture
def publisher(begun: Path, tmp_path: Path) -> Publisher:
    return Publisher(Path(shutil.copytree(begun / "provider", tmp_path / "provider")))


@pytest.fixture
def site(begun: Path, tmp_path: Path) -> workspace.Workspace:
    return workspace.open_workspace(Path(shutil.copytree(begun / "site", tmp_path / "site")))


def versions(site: workspace.Workspace) -> dict[str, int]:
    """Of all that the site trusts, by name."""
    trust = Trust.load(site.trust)
    return {} if trust is None else {name: json.loads(data)["signed"]["version"] for name, data in trust.files.items()}


def refused(
    site: workspace.Workspace, source: str, error: type[Exception] | tuple[type[Exception], ...], *words: str
) -> str:
    """The one line with which a pull is refused; the site is as it was, but for metadata that were verified before the refusal."""
    before, known = snapshot(site.root), versions(site)
    with pytest.raises(error) as caught:
        pull(site, source)
    assert {**snapshot(site.root), str(site.trust): ""} == {**before, str(site.trust): ""}
    after = versions(site)
    assert all(after[name] >= version for name, version in known.items())
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line
    return line


def taken(site: workspace.Workspace, source: str) -> int:
    """Number of the release that a pull brings."""
    updated, release = pull(site, source)
    assert workspace.open_workspace(site.root) == updated
    assert updated.release().digest == release.digest
    return release.manifest.sequence


def test_nothing_is_wrong(publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
    publisher.publish()
    assert taken(site, offer(publisher)) == 2
    before = snapshot(site.root)
    assert taken(workspace.open_workspace(site.root), offer(publisher)) == 2
    assert snapshot(site.root) == before


class TestRollback:
    def test_timestamp_rollback(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        old = publisher.copy(tmp_path / "old")
        publisher.publish()
        assert taken(site, offer(publisher)) == 2
        refused(workspace.open_workspace(site.root), offer(old), StaleError, "older")

    def test_snapshot_rollback(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        old = publisher.metadata("snapshot")
        publisher.publish()
        assert taken(site, offer(publisher)) == 2
        # The thief has the key of the timestamp only.
        publisher.forge("timestamp", lambda signed: setattr(signed, "snapshot_meta", described(old)))
        refused(workspace.open_workspace(site.root), offer(publisher), StaleError, "older")

    def test_targets_rollback(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        old = publisher.metadata("targets")
        publisher.publish()
        assert taken(site, offer(publisher)) == 2
        # The thief has both online keys.
        publisher.forge_upwards(old)
        refused(workspace.open_workspace(site.root), offer(publisher), StaleError, "older")

    def test_root_rollback(self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path) -> None:
        old = publisher.copy(tmp_path / "old")
        publisher.repository.rotate(["root", "timestamp"])
        assert taken(site, offer(publisher)) == 1
        # Signed with the keys from before the rotation, which count no more.
        old.publish()
        refused(workspace.open_workspace(site.root), offer(old), SignatureError, "keys")

    def test_an_older_release_named_as_the_latest(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.publish()
        assert taken(site, offer(publisher)) == 2
        publisher.repository.publish({LATEST: latest_bytes("0001-representer")})
        refused(workspace.open_workspace(site.root), offer(publisher), SiteError, "later")

    def test_a_second_release_of_a_number_that_is_taken(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        assert publisher.publish_as(1, "pipeline", {"scheme.json": "{}"}) == "0001-pipeline"
        refused(site, offer(publisher), SiteError, "one release 1", "a second one")


class TestFreeze:
    def test_expired_timestamp(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.at(later(days=-46)).repository.refresh(with_offline=False)
        refused(site, offer(publisher), StaleError, "clock", "timestamp")

    def test_expired_targets(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.at(later(days=-46)).publish()
        # Whoever holds the online keys alone can't keep old targets alive.
        publisher.repository.refresh(with_offline=False)
        refused(site, offer(publisher), StaleError, "targets")

    def test_expired_root(self, begun: Path, site: workspace.Workspace, tmp_path: Path, offer: Offer) -> None:
        old = Publisher(tmp_path / "old", later(days=-366))
        old.at(later()).publish()
        site = workspace.create(tmp_path / "other", "south")
        before = snapshot(site.root)
        with pytest.raises(StaleError, match=r"root\.json"):
            pull(site, offer(old), old.fingerprint)
        assert snapshot(site.root) == before

    def test_a_refresh_thaws(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.at(later(days=-46)).publish()
        publisher.repository.refresh(with_offline=True, renewed=["0002-representer"])
        assert taken(site, offer(publisher)) == 2

    @pytest.mark.parametrize("ahead", [5 / 60, 24 * 44])
    def test_a_clock_that_is_a_little_ahead(
        self, ahead: float, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.at(later(hours=-ahead)).publish()
        assert taken(site, offer(publisher)) == 2

    @pytest.mark.parametrize("behind", [5 / 60, 12])
    def test_a_clock_that_is_a_little_behind(
        self, behind: float, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.at(later(hours=behind)).publish()
        assert taken(site, offer(publisher)) == 2

    @pytest.mark.parametrize("days", [46, 365])
    def test_a_clock_that_is_ahead(
        self, days: int, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.at(later(days=-days)).publish()
        refused(site, offer(publisher), StaleError, "check the clock", "time of this machine")

    @pytest.mark.parametrize("days", [2, 365])
    def test_a_clock_that_is_behind(
        self, days: int, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.at(later(days=days)).publish()
        refused(site, offer(publisher), StaleError, "set the clock", "time of this machine")


class TestMixAndMatch:
    @pytest.mark.parametrize("role", ["snapshot", "targets"])
    def test_metadata_of_two_states(
        self, role: str, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        old = publisher.metadata(role).read_bytes()
        publisher.publish()
        publisher.metadata(role).write_bytes(old)
        refused(site, offer(publisher), DigestError)

    def test_metadata_of_two_repositories(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        other = Publisher(tmp_path / "other")
        other.publish()
        publisher.publish()
        for role in ("snapshot", "targets", "0001-representer"):
            publisher.metadata(role).write_bytes(other.metadata(role).read_bytes())
        refused(site, offer(publisher), DigestError)

    def test_a_release_that_the_snapshot_does_not_know(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.publish()
        left_out = publisher.forge("snapshot", lambda signed: signed.meta.pop("0002-representer.json"))
        publisher.forge("timestamp", lambda signed: setattr(signed, "snapshot_meta", described(left_out)))
        refused(site, offer(publisher), SignatureError, "belong together")


class TestSingleKeyCompromise:
    @pytest.mark.parametrize("stolen", [0, 1])
    def test_one_root_key(self, stolen: int, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        def take_over(root: Root) -> None:
            for role in root.roles:
                root.roles[role].keyids.clear()
                root.roles[role].threshold = 1
                root.add_key(tuf_key(STRANGER[0].public_key), role)

        publisher.forge("root", take_over, stolen)
        refused(site, offer(publisher), SignatureError, f"{stolen}/2")

    @pytest.mark.parametrize("stolen", [0, 1])
    def test_one_targets_key_and_both_online_keys(
        self, stolen: int, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.publish()
        forged = publisher.forge("targets", lambda signed: None, stolen)
        publisher.forge_upwards(forged)
        refused(site, offer(publisher), SignatureError, f"{stolen}/2")

    def test_one_targets_key_signs_a_release(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.publish()
        forged = publisher.forge("0002-representer", lambda signed: None, 1, keys="targets")
        publisher.forge_upwards(forged)
        refused(site, offer(publisher), SignatureError, "1/2")

    def test_a_signature_of_one_key_counted_twice(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        forged = publisher.forge("targets", lambda signed: None, 1)
        metadata: Metadata[Any] = Metadata.from_bytes(forged.read_bytes())
        (own,) = metadata.signatures
        for keyid in Metadata.from_bytes(publisher.metadata("root").read_bytes()).signed.roles["targets"].keyids:
            metadata.signatures[keyid] = Signature(keyid, metadata.signatures[own].signature)
        forged.write_bytes(metadata.to_bytes())
        publisher.forge_upwards(forged)
        refused(site, offer(publisher), SignatureError, "1/2")

    def test_a_stranger_signs_the_timestamp(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        other = Publisher(tmp_path / "other")
        other.publish()
        (publisher.folder / "metadata" / "timestamp.json").write_bytes(other.metadata("timestamp").read_bytes())
        refused(site, offer(publisher), SignatureError, "0/1")


class TestEndlessFile:
    @pytest.mark.parametrize("name", ["timestamp", "snapshot", "targets", "0002-representer"])
    def test_endless_metadata(self, name: str, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish()
        with publisher.metadata(name).open("ab") as file:
            file.write(b" " * (2 << 20))
        refused(site, offer(publisher), BoundsError)

    def test_endless_root(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        (publisher.folder / "metadata" / "2.root.json").write_bytes(b" " * (2 << 20))
        refused(site, offer(publisher), BoundsError)

    def test_endless_first_root(self, publisher: Publisher, tmp_path: Path, offer: Offer) -> None:
        (publisher.folder / "metadata" / "1.root.json").write_bytes(b" " * (2 << 20))
        refused(workspace.create(tmp_path / "other", "south"), offer(publisher), BoundsError)

    @pytest.mark.parametrize("name", ["latest.json", "provider.json", "0002-representer/scheme.json"])
    def test_endless_target(self, name: str, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish('{"name": "another"}')
        with publisher.target(name).open("ab") as file:
            file.write(b" " * (2 << 20))
        refused(site, offer(publisher), BoundsError)

    def test_what_was_signed_too_large_is_not_even_fetched(
        self, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.repository.publish({LATEST: latest_bytes("0001-representer") + b" " * MAX_DOCUMENT_BYTES})
        asked: list[str] = []
        chunks = release_source.FolderSource.chunks

        def noted(source: Any, name: str, most: int) -> Iterator[bytes]:
            asked.append(name)
            return chunks(source, name, most)

        monkeypatch.setattr(release_source.FolderSource, "chunks", noted)
        refused(site, str(publisher.folder), BoundsError, f"at most {MAX_DOCUMENT_BYTES} bytes")
        assert any(name.endswith("provider.json") for name in asked)
        assert not any(name.endswith("latest.json") for name in asked)

    @pytest.mark.parametrize("name", ["metadata/timestamp.json", "scheme.json"])
    def test_a_stream_without_end(
        self, name: str, publisher: Publisher, site: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publisher.publish('{"name": "another"}')
        chunks = release_source.FolderSource.chunks

        def endless(source: Any, asked: str, most: int) -> Iterator[bytes]:
            while asked.endswith(name):
                yield bytes(1 << 16)
            yield from chunks(source, asked, most)

        monkeypatch.setattr(release_source.FolderSource, "chunks", endless)
        refused(site, str(publisher.folder), BoundsError)

    def test_too_many_roots(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(release_client._CONFIG, "max_root_rotations", 2)
        for _ in range(3):
            publisher.repository.rotate(["root", "timestamp", "snapshot"])
        publisher.repository.refresh(with_offline=False)
        refused(site, offer(publisher), SignatureError)


class TestDelegation:
    def test_a_release_signs_outside_its_paths(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        # Even with all keys: what release 1 says of release 2 or of the provider is not looked at.
        evil = b'{"evil":true}'

        def add(signed: Any) -> None:
            for path in ("0002-representer/release.json", "provider.json"):
                signed.targets[path] = TargetFile.from_data(path, evil)
                info = publisher.folder / "targets" / signed.targets[path].get_prefixed_paths()[0]
                info.parent.mkdir(exist_ok=True)
                info.write_bytes(evil)

        publisher.repository.publish({LATEST: latest_bytes("0002-representer")})
        publisher.forge_upwards(publisher.forge("0001-representer", add, keys="targets"))
        refused(site, offer(publisher), SchemaError, "none of this name")

    def test_the_provider_is_never_what_a_release_says(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        def add(signed: Any) -> None:
            signed.targets["provider.json"] = TargetFile.from_data("provider.json", b"{}")

        publisher.forge_upwards(publisher.forge("0001-representer", add, keys="targets"))
        assert taken(site, offer(publisher)) == 1
        assert workspace.open_workspace(site.root).provider == site.provider


class TestRoot:
    def test_root_signed_by_new_keys_only(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        metadata: Metadata[Root] = Metadata.from_bytes(publisher.metadata("root").read_bytes())
        metadata.signed.version += 1
        keys = [KeyFile("root", Path(), key, tuf_key(key.public_key)) for key in STRANGER]
        metadata.signed.roles["root"].keyids.clear()
        for one in keys:
            metadata.signed.add_key(one.public, "root")
        sign(metadata, keys)
        (publisher.folder / "metadata" / "2.root.json").write_bytes(metadata.to_bytes())
        refused(site, offer(publisher), SignatureError, "0/2")

    def test_root_signed_by_old_keys_only(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        def replace(root: Root) -> None:
            root.roles["root"].keyids.clear()
            for key in STRANGER:
                root.add_key(tuf_key(key.public_key), "root")

        publisher.forge("root", replace)
        refused(site, offer(publisher), SignatureError, "0/2")

    def test_wrong_first_root(self, publisher: Publisher, tmp_path: Path, offer: Offer) -> None:
        other = Publisher(tmp_path / "other")
        other.publish()
        site = workspace.create(tmp_path / "south", "south")
        before = snapshot(site.root)
        for fingerprint in (publisher.fingerprint, None, "", other.fingerprint.upper(), other.fingerprint[:-1]):
            with pytest.raises(SiteError, match="fingerprint") as caught:
                pull(site, offer(other), fingerprint)
            # Whoever copied it from here would have compared nothing.
            assert other.fingerprint not in str(caught.value)
            assert other.repository.fingerprint.spoken not in str(caught.value)
        assert snapshot(site.root) == before
        assert pull(site, offer(other), other.repository.fingerprint.spoken)[1].manifest.sequence == 1

    def test_the_first_root_of_another_provider_later(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        other = Publisher(tmp_path / "other")
        other.publish()
        refused(site, offer(other), SignatureError)
        with pytest.raises(SiteError, match="knows"):
            pull(site, offer(other), other.fingerprint)

    def test_rotated_root_keys_are_accepted(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.repository.rotate(["root"])
        publisher.publish()
        assert taken(site, offer(publisher)) == 2

    def test_a_site_that_missed_three_roots_catches_up(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        for roles in (["root"], ["root", "targets"], ["root", "targets", "snapshot", "timestamp"]):
            publisher.repository.rotate(roles)
        publisher.publish()
        assert taken(site, offer(publisher)) == 2
        # A new site begins with the first root too.
        fresh = workspace.create(tmp_path / "south", "south")
        assert pull(fresh, offer(publisher), publisher.fingerprint)[1].manifest.sequence == 2

    def test_a_root_that_is_left_out(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        for _ in range(2):
            publisher.repository.rotate(["root", "timestamp"])
        (publisher.folder / "metadata" / "2.root.json").unlink()
        publisher.publish()
        refused(site, offer(publisher), SignatureError)

    def test_fast_forward_is_recovered_by_a_rotation(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer, tmp_path: Path
    ) -> None:
        stolen = publisher.copy(tmp_path / "stolen")

        def far(signed: Any) -> None:
            signed.version = 2**31

        def far_targets(signed: Any) -> None:
            signed.version = 2**31
            signed.meta["targets.json"] = MetaFile(signed.meta["targets.json"].version)

        snapshot_file = stolen.forge("snapshot", far_targets)

        def far_snapshot(signed: Any) -> None:
            far(signed)
            signed.snapshot_meta = described(snapshot_file)

        stolen.forge("timestamp", far_snapshot)
        assert taken(site, offer(stolen)) == 1
        site = workspace.open_workspace(site.root)
        publisher.publish()
        refused(site, offer(publisher), StaleError, "older")
        publisher.repository.rotate(["snapshot", "timestamp"])
        assert taken(site, offer(publisher)) == 2


class TestTargets:
    @pytest.mark.parametrize(
        "name", ["provider.json", "latest.json", "0002-representer/release.json", "0002-representer/scheme.json"]
    )
    def test_tampered_target(self, name: str, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish('{"name": "another"}')
        path = publisher.target(name)
        data = path.read_bytes()
        for changed in (data[:-1] + bytes([data[-1] ^ 1]), data[:-1], b""):
            path.write_bytes(changed)
            refused(site, offer(publisher), DigestError)

    @pytest.mark.parametrize("name", ["provider.json", "0002-representer/release.json", "0002-representer/scheme.json"])
    def test_missing_file(self, name: str, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish('{"name": "another"}')
        publisher.target(name).unlink()
        refused(site, offer(publisher), StorageError, "copy or pull")

    def test_missing_target(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish('{"name": "another"}')
        forged = publisher.forge(
            "0002-representer", lambda signed: signed.targets.pop("0002-representer/scheme.json"), keys="targets"
        )
        publisher.forge_upwards(forged)
        refused(site, offer(publisher), SchemaError, "none of this name")

    @pytest.mark.parametrize("role", ["snapshot", "targets", "0002-representer", "timestamp"])
    def test_missing_metadata(self, role: str, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish()
        publisher.metadata(role).unlink()
        refused(site, offer(publisher), StorageError)

    def test_another_target_than_the_release_lists(
        self, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        publisher.publish('{"name": "another"}')
        name = "0002-representer/scheme.json"

        def exchange(signed: Any) -> None:
            signed.targets[name] = TargetFile.from_data(name, b"{}")

        publisher.forge_upwards(publisher.forge("0002-representer", exchange, keys="targets"))
        refused(site, offer(publisher), DigestError, "lists")

    def test_a_release_under_another_name(self, publisher: Publisher, site: workspace.Workspace, offer: Offer) -> None:
        publisher.publish()
        first, second = (f"000{number}-representer/release.json" for number in (1, 2))
        data = publisher.target(first).read_bytes()

        def exchange(signed: Any) -> None:
            signed.targets[second] = TargetFile.from_data(second, data)

        forged = publisher.forge("0002-representer", exchange, keys="targets")
        (publisher.folder / "targets" / TargetFile.from_data(second, data).get_prefixed_paths()[0]).write_bytes(data)
        publisher.forge_upwards(forged)
        refused(site, offer(publisher), SchemaError, "own name")

    def test_links_and_devices_on_a_stick(
        self, publisher: Publisher, site: workspace.Workspace, tmp_path: Path
    ) -> None:
        publisher.publish('{"name": "another"}')
        path = publisher.target("0002-representer/scheme.json")
        elsewhere = tmp_path / "elsewhere"
        path.rename(elsewhere)
        for target in (elsewhere, Path("/dev/zero")):
            path.symlink_to(target)
            refused(site, str(publisher.folder), StorageError)
            path.unlink()
        os.mkfifo(path)
        refused(site, str(publisher.folder), StorageError, "regular file")

    @pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"signed":{"_type":"timestamp"}}'])
    def test_junk_for_metadata(
        self, data: bytes, publisher: Publisher, site: workspace.Workspace, offer: Offer
    ) -> None:
        for name in ("timestamp", "2.root"):
            junk = publisher.folder / "metadata" / f"{name}.json"
            before = junk.read_bytes() if junk.exists() else None
            junk.write_bytes(data)
            refused(site, offer(publisher), ProtocolError)
            junk.unlink()
            if before is not None:
                junk.write_bytes(before)

    def test_junk_for_the_first_root(self, publisher: Publisher, tmp_path: Path, offer: Offer) -> None:
        (publisher.folder / "metadata" / "1.root.json").write_bytes(b"{}")
        site = workspace.create(tmp_path / "south", "south")
        with pytest.raises(SchemaError):
            pull(site, offer(publisher), RootFingerprint.of(b"{}").key_id)
