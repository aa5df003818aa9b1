"""A provider's release repository with small releases, and the tools of who attacks it: stolen keys and forged metadata."""

from __future__ import annotations

import datetime
import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from securesystemslib.signer import Signature
from tuf.api.metadata import Metadata, MetaFile

from aggregator.repository.release_log import lay_down_log
from aggregator.repository.tuf_keys import KeyRing
from aggregator.repository.tuf_repository import Clock, NewRelease, Repository, utc_now
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.log.checkpoint import CHECKPOINT, LOG, Checkpoint, LogHead, log_origin
from protocols.log.entry import ReleaseEntry
from protocols.log.merkle import tree_root
from protocols.log.tiles import TileTree, lay_out
from protocols.release.manifest import ReleaseManifest
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import LATEST, PROVIDER, latest_bytes, release_name
from protocols.release.verification import MANIFEST_NAME, ReleaseFields, list_release

KEY = PrivateKey.from_seed(bytes(range(32)))
RECORD = ProviderRecord(
    "north", KEY.public_key, RecipientPrivateKey.from_seed(bytes(range(32))).public_key, "", datetime.date(2099, 1, 31)
)


def later(**by: float) -> Clock:
    """A clock that is ahead of this machine's."""
    return lambda: utc_now() + datetime.timedelta(**by)


class Publisher:
    """A provider's repository.

    Args:
        root: holds releases/ and keys/; made where it is missing.
        now: the provider's clock.

    Attributes:
        skipped: numbers that no release has.
    """

    def __init__(self, root: Path, now: Clock = utc_now) -> None:
        self.root = root
        self.skipped = 0
        ring = KeyRing(root / "keys" / "online", (root / "keys" / "offline",))
        self.repository = Repository(root / "releases", ring, now)
        if not root.exists():
            root.mkdir()
            self.repository.create({PROVIDER: RECORD.to_bytes()})

    @property
    def folder(self) -> Path:
        return self.repository.folder

    @property
    def fingerprint(self) -> str:
        return self.repository.fingerprint.key_id

    def at(self, now: Clock) -> Publisher:
        """The same by another clock."""
        return Publisher(self.root, now)

    def copy(self, root: Path) -> Self:
        """The same elsewhere, keys and all."""
        return type(self)(Path(shutil.copytree(self.root, root)), self.repository.now)

    def publish(self, text: str = "{}", *, kind: str = "representer", **more: str) -> str:
        """Publishes the next release, of a few small files; its name."""
        sequence = len(self.repository.release_names()) + 1 + self.skipped
        return self.publish_as(sequence, kind, {"scheme.json": text, "MODEL_CARD.md": f"# {sequence}", **more})

    def publish_as(self, sequence: int, kind: str, files: Mapping[str, str]) -> str:
        """Publishes a release under any number, also one that is taken; its name."""
        name = release_name(sequence, kind)
        folder = self.root / "content"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, content in files.items():
            (folder / file).write_text(content)
        fields = ReleaseFields(kind, "north", sequence, datetime.date(2026, 1, 31), "i2b2_2014", {})
        manifest = list_release(folder, fields, KEY.public_key.key_id).manifest
        documents = {PROVIDER: RECORD.to_bytes(), LATEST: latest_bytes(name), **self.further(manifest)}
        self.repository.publish(documents, NewRelease(name, folder, (*manifest.files, MANIFEST_NAME)))
        return name

    def further(self, following: ReleaseManifest) -> dict[str, bytes]:
        """Documents besides; a provider of version 0.1 has none."""
        return {}

    def metadata(self, name: str) -> Path:
        """Such as `timestamp`, `2.root`; without a number, the newest of `snapshot`, `targets`, `root` and releases."""
        folder = self.folder / "metadata"
        if (folder / f"{name}.json").exists():
            return folder / f"{name}.json"
        return max(folder.glob(f"*.{name}.json"), key=lambda path: int(path.name.split(".")[0]))

    def target(self, name: str) -> Path:
        """The newest file of a target."""
        folder, _, file = name.rpartition("/")
        return max((self.folder / "targets" / folder).glob(f"*.{file}"), key=lambda path: path.stat().st_mtime_ns)

    def forge(self, name: str, change: Callable[[Any], None], stolen: int = 9, keys: str = "") -> Path:
        """Changes metadata, raises their version by one and signs them with some of the keys.

        Args:
            name: as in `metadata`.
            change: what is done to them before they are signed.
            stolen: how many of the role's keys are used.
            keys: whose keys; those of the role itself, if it is empty.
        """
        metadata: Metadata[Any] = Metadata.from_bytes(self.metadata(name).read_bytes())
        signed = metadata.signed
        signed.version += 1
        change(signed)
        found = self.repository.keys.find_keys(keys or name.rpartition(".")[2])
        sign(metadata, found[:stolen])
        file = "timestamp.json" if name == "timestamp" else f"{signed.version}.{name}.json"
        path = self.folder / "metadata" / file
        path.write_bytes(metadata.to_bytes())
        return path

    def forge_upwards(self, *changed: Path) -> None:
        """With stolen online keys: a snapshot that names forged metadata, and a timestamp that names the snapshot."""

        def add(snapshot: Any) -> None:
            for path in changed:
                version, _, name = path.name.partition(".")
                snapshot.meta[name] = described(path, int(version))

        snapshot = self.forge("snapshot", add)
        self.forge("timestamp", lambda timestamp: setattr(timestamp, "snapshot_meta", described(snapshot)))


class LoggedPublisher(Publisher):
    """A provider's repository with a log of its releases."""

    def entry(self, name: str) -> ReleaseEntry:
        """What the log should say of a release."""
        manifest = ReleaseManifest.from_bytes(self.repository.read(f"{name}/{MANIFEST_NAME}"))
        return ReleaseEntry(manifest.sequence, manifest.kind, manifest.digest)

    def further(self, following: ReleaseManifest) -> dict[str, bytes]:
        """The checkpoint, as an honest provider makes it."""
        entries = [self.entry(name) for name in self.repository.release_names()]
        entries.append(ReleaseEntry(following.sequence, following.kind, following.digest))
        return {CHECKPOINT: lay_down_log(self.repository, entries, KEY)}

    def state(
        self,
        entries: Sequence[bytes],
        *,
        key: PrivateKey = KEY,
        origin: str = "",
        latest: str = "",
        witnesses: bytes = b"",
    ) -> None:
        """What a lying provider publishes: any log that it likes, signed; `witnesses` are the signatures of others."""
        files = lay_out(entries)
        for name, content in files.items():
            path = self.folder / LOG / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        root = tree_root(TileTree(files.__getitem__, len(entries)).subtree, len(entries))
        stated = Checkpoint(origin or log_origin(self.fingerprint), LogHead(len(entries), root.hex()))
        documents = {LATEST: latest_bytes(latest)} if latest else {}
        self.repository.publish({**documents, CHECKPOINT: stated.sign(key) + witnesses})


def described(path: Path, version: int | None = None) -> MetaFile:
    """What metadata say of other metadata."""
    data = path.read_bytes()
    number = int(path.name.split(".")[0]) if version is None else version
    return MetaFile(number, len(data), {"sha256": hashlib.sha256(data).hexdigest()})


def sign(metadata: Metadata[Any], keys: Iterable[Any]) -> None:
    """Signs with just these keys."""
    payload = metadata.signed_bytes
    metadata.signatures.clear()
    for one in keys:
        metadata.signatures[one.public.keyid] = Signature(one.public.keyid, one.key.sign_bytes(payload).hex())
