"""The provider's end of the release repository: what a crash leaves, who has to sign, how keys change."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tuf.api.metadata import Metadata, Root
from tuf.ngclient import Updater

from aggregator.errors import WorkspaceError
from aggregator.repository import tuf_keys
from aggregator.repository.tuf_keys import KeyRing, export_offline
from aggregator.repository.tuf_repository import Repository
from foundation.errors import StorageError
from foundation.files import write_bytes
from protocols.errors import BoundsError, DigestError
from protocols.release.repository import LATEST, PROVIDER, RootFingerprint
from tests.protocols.payload.blocks import full_disk
from tests.release_repositories import RECORD, Publisher, later


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    publisher = Publisher(tmp_path_factory.mktemp("begun") / "provider")
    publisher.publish()
    return publisher.root


@pytest.fixture
def publisher(begun: Path, tmp_path: Path) -> Publisher:
    return Publisher(Path(shutil.copytree(begun, tmp_path / "provider")))


class Reader:
    """A site as `tuf` itself would make one, that lives through the changes of a repository."""

    def __init__(self, publisher: Publisher, folder: Path) -> None:
        self.publisher, self.folder = publisher, folder
        (folder / "files").mkdir(parents=True)
        self.root = (publisher.folder / "metadata" / "1.root.json").read_bytes()

    def latest(self) -> str:
        """What `latest.json` says, everything verified; every file of that release is read too."""
        place = f"file://{self.publisher.folder}"
        updater = Updater(
            str(self.folder),
            f"{place}/metadata",
            str(self.folder / "files"),
            f"{place}/targets",
            _Files(),  # type: ignore[arg-type]
            bootstrap=self.root,
        )
        name = Path(updater.download_target(_known(updater, LATEST))).read_text().split('"')[-2]
        updater.download_target(_known(updater, PROVIDER))
        for file in ("release.json", "scheme.json", "MODEL_CARD.md"):
            updater.download_target(_known(updater, f"{name}/{file}"))
        return name


class _Files:
    """The interface of a fetcher, over files."""

    def download_bytes(self, url: str, most: int) -> bytes:
        from tuf.api.exceptions import DownloadHTTPError

        path = Path(url.removeprefix("file://"))
        if not path.exists():
            raise DownloadHTTPError("none", 404)
        return path.read_bytes()[: most + 1]

    def download_file(self, url: str, most: int) -> Any:
        return Path(url.removeprefix("file://")).open("rb")


def _known(updater: Updater, name: str) -> Any:
    info = updater.get_targetinfo(name)
    assert info is not None
    return info


class Crash(BaseException):
    """The power goes."""


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the n-th file from now on not appear under its name."""
    replace = os.replace

    def arm(number: int) -> None:
        left = [number]

        def counted(source: Any, target: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise Crash
            replace(source, target)

        monkeypatch.setattr(os, "replace", counted)

    return arm


def crashes(work: Callable[[], object], arm: Callable[[int], None], undo: Callable[[], None]) -> Iterator[int]:
    """Yields after a crash at the first step, the second and so on, until the work is done without one."""
    for number in range(1, 100):
        arm(number)
        try:
            work()
        except Crash:
            undo()
            yield number
        else:
            undo()
            assert number > 4
            return
    pytest.fail("it never ended")


def test_an_interrupted_publishing_leaves_the_old_repository(
    publisher: Publisher, tmp_path: Path, crashing: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(publisher, tmp_path / "reader")
    steps = []
    for step in crashes(lambda: publisher.publish("[2]"), crashing, lambda: _restore(monkeypatch)):
        steps.append(step)
        assert reader.latest() == "0001-representer"
        assert Reader(publisher, tmp_path / f"fresh{step}").latest() == "0001-representer"
    # release, scheme, card, provider, latest, the role, targets, snapshot, timestamp; and the list of the release.
    assert len(steps) >= 9
    assert reader.latest() == "0002-representer"
    assert publisher.repository.release_names() == ["0001-representer", "0002-representer"]
    assert len(list((publisher.folder / "targets" / "0002-representer").iterdir())) == 3


@pytest.mark.parametrize("roles", [["root"], ["timestamp"], ["targets"], ["root", "targets", "snapshot", "timestamp"]])
def test_an_interrupted_rotation_leaves_a_sound_repository(
    roles: list[str],
    publisher: Publisher,
    tmp_path: Path,
    crashing: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = Reader(publisher, tmp_path / "reader")
    for step in crashes(lambda: publisher.repository.rotate(roles), crashing, lambda: _restore(monkeypatch)):
        assert reader.latest() == "0001-representer"
        assert Reader(publisher, tmp_path / f"fresh{step}").latest() == "0001-representer"
    assert publisher.repository.root().version == 2
    publisher.publish()
    assert reader.latest() == "0002-representer"
    for role in roles:
        keys = publisher.repository.root().roles[role].keyids
        assert sorted(one.public.keyid for one in publisher.repository.keys.find_keys(role)) == sorted(keys)


def test_an_interrupted_rotation_may_be_left_at_that(
    publisher: Publisher, tmp_path: Path, crashing: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[Publisher] = []

    def rotate() -> None:
        copies.append(publisher.copy(tmp_path / "copies" / str(len(copies))))
        copies[-1].repository.rotate(["targets"])

    for _ in crashes(rotate, crashing, lambda: _restore(monkeypatch)):
        pass
    for number, one in enumerate(copies):
        reader = Reader(one, tmp_path / "readers" / str(number))
        one.publish("[2]")
        one.repository.refresh(with_offline=True, renewed=["0002-representer"])
        one.repository.rotate(["root"])
        one.publish("[3]")
        assert reader.latest() == "0003-representer"
        assert one.repository.read("0001-representer/scheme.json") == b"{}"


def _restore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()


def test_an_interrupted_refresh_leaves_a_sound_repository(
    publisher: Publisher, tmp_path: Path, crashing: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(publisher, tmp_path / "reader")
    work = lambda: publisher.repository.refresh(with_offline=True, renewed=["0001-representer"])  # noqa: E731
    for _ in crashes(work, crashing, lambda: _restore(monkeypatch)):
        assert reader.latest() == "0001-representer"
    assert reader.latest() == "0001-representer"


def test_a_full_disk_leaves_the_old_repository(publisher: Publisher, tmp_path: Path) -> None:
    with full_disk(100), pytest.raises(StorageError, match="full disk"):
        publisher.repository.publish({PROVIDER: RECORD.to_bytes()})
    assert Reader(publisher, tmp_path / "reader").latest() == "0001-representer"
    assert not [path for path in publisher.folder.rglob("*") if "partial" in path.name]


def test_nothing_that_was_published_is_changed(publisher: Publisher) -> None:
    before = {path: path.read_bytes() for path in publisher.folder.rglob("*") if path.is_file()}
    publisher.publish("[2]")
    publisher.repository.refresh(with_offline=True, renewed=["0002-representer"])
    publisher.repository.rotate(["root", "targets", "snapshot", "timestamp"])
    changed = [path.name for path, content in before.items() if path.read_bytes() != content]
    assert changed == ["timestamp.json"]


def test_lifetimes_and_thresholds(publisher: Publisher) -> None:
    root = publisher.repository.root()
    assert {role: (len(one.keyids), one.threshold) for role, one in root.roles.items()} == {
        "root": (3, 2),
        "targets": (3, 2),
        "snapshot": (1, 1),
        "timestamp": (1, 1),
    }
    assert len({keyid for one in root.roles.values() for keyid in one.keyids}) == 8
    left = {
        role: moment - datetime.datetime.now(datetime.UTC) for role, moment in publisher.repository.expiries().items()
    }
    assert {role: round(time / datetime.timedelta(days=1)) for role, time in left.items()} == {
        "root": 365,
        "targets": 45,
        "snapshot": 45,
        "timestamp": 45,
    }


def test_a_refresh_without_offline_keys_renews_what_is_online(publisher: Publisher) -> None:
    aged = publisher.at(later(days=10))
    shutil.rmtree(publisher.root / "keys" / "offline")
    before = aged.repository.expiries()
    aged.repository.refresh(with_offline=False)
    after = aged.repository.expiries()
    assert {role for role in after if after[role] > before[role]} == {"snapshot", "timestamp"}
    assert not aged.repository.has_offline_keys()
    with pytest.raises(WorkspaceError, match="--offline-keys"):
        aged.repository.refresh(with_offline=True)


def test_a_root_is_renewed_when_half_of_its_life_is_over(publisher: Publisher, tmp_path: Path) -> None:
    reader = Reader(publisher, tmp_path / "reader")
    publisher.at(later(days=100)).repository.refresh(with_offline=True, renewed=["0001-representer"])
    assert publisher.repository.root().version == 1
    publisher.at(later(days=200)).repository.refresh(with_offline=True, renewed=["0001-representer"])
    assert publisher.repository.root().version == 2
    assert reader.latest() == "0001-representer"


def test_two_of_three_sticks_are_enough_and_one_is_not(publisher: Publisher, tmp_path: Path) -> None:
    keys = publisher.root / "keys"
    sticks = [tmp_path / f"stick{number}" for number in (1, 2, 3)]
    for number, stick in enumerate(sticks, start=1):
        moved = export_offline(keys / "offline", stick, number)
        assert [path.name.split("-")[:2] for path in moved] == [["root", str(number)], ["targets", str(number)]]
        assert all(path.stat().st_mode & 0o077 == 0 for path in moved)
    assert not (keys / "offline").exists()
    documents = {PROVIDER: RECORD.to_bytes()}

    def repository(*given: Path) -> Repository:
        return Repository(publisher.folder, KeyRing(keys / "online", given))

    for few in ((), (keys / "offline",), sticks[:1]):
        with pytest.raises(WorkspaceError, match="of 3 private keys of role targets"):
            repository(*few).publish(documents)
    repository(*sticks[1:]).publish(documents)
    # Of three new keys on two sticks, one stick would sign alone.
    with pytest.raises(WorkspaceError, match="3 sticks"):
        repository(*sticks[:2]).rotate(["root"])
    repository(*sticks).rotate(["root"])
    assert [len(list(stick.glob("root-*"))) for stick in sticks] == [1, 1, 1]
    shutil.rmtree(sticks[2])
    repository(*sticks[:2]).refresh(with_offline=True, renewed=["0001-representer"])
    with pytest.raises(WorkspaceError, match="moved before"):
        export_offline(keys / "offline", sticks[0])


def test_exporting_overwrites_no_other_key_and_loses_none(publisher: Publisher, tmp_path: Path) -> None:
    source = publisher.root / "keys" / "offline"
    name = sorted(path.name for path in source.iterdir())[0]
    (tmp_path / name).write_bytes(b"another")
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    with pytest.raises(StorageError, match="another key"):
        export_offline(source, tmp_path)
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before


def test_a_stick_that_gives_back_another_key_than_it_was_given_loses_none(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = publisher.root / "keys" / "offline"
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    first, *_, last = before.values()
    monkeypatch.setattr(tuf_keys, "write_bytes", lambda path, data: write_bytes(path, last if data == first else data))
    with pytest.raises(StorageError, match="use another stick"):
        export_offline(source, tmp_path / "stick")
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before


def test_attack_a_stick_on_which_others_can_read_gets_no_key(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = publisher.root / "keys" / "offline"
    before = {path.name: path.read_bytes() for path in source.iterdir()}

    def without_rights(path: Path, data: bytes) -> None:
        path.write_bytes(data)
        path.chmod(0o777)

    monkeypatch.setattr(tuf_keys, "write_bytes", without_rights)
    with pytest.raises(StorageError, match="file system of Linux"):
        export_offline(source, tmp_path / "stick")
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before
    assert list((tmp_path / "stick").iterdir()) == []


def test_a_lost_online_key_is_replaced(publisher: Publisher, tmp_path: Path) -> None:
    for path in (publisher.root / "keys" / "online").iterdir():
        path.unlink()
    with pytest.raises(WorkspaceError, match="keys rotate"):
        publisher.repository.refresh(with_offline=False)
    publisher.repository.rotate(["snapshot", "timestamp"])
    assert Reader(publisher, tmp_path / "reader").latest() == "0001-representer"


def test_without_two_root_keys_there_is_no_rotation(publisher: Publisher) -> None:
    for path in sorted((publisher.root / "keys" / "offline").glob("root-*"))[:2]:
        path.unlink()
    with pytest.raises(WorkspaceError, match="2 of 3 private keys of role root, found 1"):
        publisher.repository.rotate(["root"])
    assert publisher.repository.root().version == 1


@pytest.mark.parametrize("role", ["timestamp", "snapshot", "targets", "root"])
def test_a_damaged_repository_publishes_nothing(role: str, publisher: Publisher) -> None:
    path = publisher.metadata(role)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"2027", b"2028").replace(b"2026", b"2028"))
    with pytest.raises(WorkspaceError, match="backup"):
        publisher.publish()
    path.write_bytes(data[:-10])
    with pytest.raises(WorkspaceError, match="backup"):
        publisher.repository.release_names()


def test_a_file_is_read_whole_however_long_it_was_signed_and_no_longer(publisher: Publisher) -> None:
    # Longer than a manifest or a record may be, as heads are.
    weights = "0" * (3 << 20)
    name = publisher.publish(weights)
    assert publisher.repository.read(f"{name}/scheme.json") == weights.encode()
    with publisher.target(f"{name}/scheme.json").open("a") as file:
        file.write("0")
    with pytest.raises(BoundsError):
        publisher.repository.read(f"{name}/scheme.json")


def test_a_damaged_target_is_not_read(publisher: Publisher) -> None:
    path = publisher.target("0001-representer/scheme.json")
    assert publisher.repository.read("0001-representer/scheme.json") == b"{}"
    path.write_bytes(b"[]")
    with pytest.raises(DigestError):
        publisher.repository.read("0001-representer/scheme.json")
    with pytest.raises(WorkspaceError, match="publish"):
        publisher.repository.read("0002-representer/scheme.json")


def test_a_release_is_not_published_twice(publisher: Publisher) -> None:
    from aggregator.repository.tuf_repository import NewRelease

    with pytest.raises(WorkspaceError, match="new release"):
        publisher.repository.publish({}, NewRelease("0001-representer", publisher.root / "content", ("scheme.json",)))
    with pytest.raises(WorkspaceError, match="new release"):
        publisher.repository.publish(
            {}, NewRelease("../0002-representer", publisher.root / "content", ("scheme.json",))
        )


def test_the_fingerprint_stays_that_of_the_first_root(publisher: Publisher) -> None:
    before = publisher.repository.fingerprint
    publisher.repository.rotate(["root"])
    first = (publisher.folder / "metadata" / "1.root.json").read_bytes()
    assert publisher.repository.fingerprint == before == RootFingerprint.of(first)


def test_every_release_signs_for_its_own_folder_only(publisher: Publisher) -> None:
    publisher.publish("[2]")
    targets = Metadata[Root].from_bytes(publisher.metadata("targets").read_bytes()).signed
    for name, role in targets.delegations.roles.items():  # type: ignore[attr-defined]
        assert role.threshold == 2
        assert all(pattern.startswith(f"{name}/") for pattern in role.paths)
        assert role.is_delegated_path(f"{name}/a/b/c.json")
        assert not role.is_delegated_path(PROVIDER)


def test_whoever_carries_the_stick_can_read_it(publisher: Publisher) -> None:
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in publisher.folder.rglob("*.json"))
