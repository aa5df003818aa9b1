"""The release repository: metadata of The Update Framework (TUF) over the files of the releases.

metadata/   N.root.json, N.targets.json, N.NNNN-kind.json, N.snapshot.json, timestamp.json
targets/    provider.json, latest.json, log/checkpoint and NNNN-kind/..., each file name led by the SHA-256 of its content
log/        the public list of releases, see `aggregator.repository.release_log`

Whatever is published stays as it is; a change adds files and ends with one rename of `timestamp.json`, so that a crash
at any point leaves the repository as it was. A rotation of keys ends with a new root instead: what it signs beforehand
carries the signatures of the keys before and of the keys after, and is sound under either root.

The repository is verified as it is read: a damaged one publishes nothing.
"""

from __future__ import annotations

import copy
import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Role,
    Root,
    Signed,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)

from aggregator.errors import WorkspaceError
from aggregator.repository.files import drop_leftovers, store_bytes, store_file, write_public
from aggregator.repository.tuf_keys import OFFLINE_ROLES, ROLES, THRESHOLD, KeyRing
from aggregator.repository.verified_state import (
    AnySigned,
    State,
    delegated_roles,
    metadata_path,
    read_release,
    read_state,
)
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.errors import DigestError
from protocols.log.checkpoint import CHECKPOINT
from protocols.release.repository import (
    LIFETIME,
    MAX_METADATA_BYTES,
    METADATA,
    RELEASE_NAME,
    ROOT_LIFETIME,
    TARGETS,
    RootFingerprint,
    release_sequence,
)

Clock = Callable[[], datetime.datetime]

# Files of a release lie at most so many folders deep, see `protocols.release.files`.
_DEPTHS = 4


def utc_now() -> datetime.datetime:
    """The time of this machine."""
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True)
class NewRelease:
    """A release to publish.

    Args:
        name: NNNN-kind.
        folder: its files.
        files: those to carry, by relative name.
    """

    name: str
    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True)
class Repository:
    """A release repository on the disk.

    Args:
        folder: holds metadata/ and targets/.
        keys: where private keys lie; reading needs none.
        now: the clock that expiry counts from.
    """

    folder: Path
    keys: KeyRing
    now: Clock = utc_now

    def create(self, documents: Mapping[str, bytes], *, protected: bool = False) -> None:
        """Make keys and the first metadata.

        Args:
            documents: the first small targets by name.
            protected: whether the keys go under the passphrase.

        Raises:
            StorageError: they can't be written.
        """
        root = Root(expires=self.now() + ROOT_LIFETIME)
        for role in ROLES:
            for key in self.keys.make(role, protected=protected):
                root.add_key(key, role)
            root.roles[role].threshold = THRESHOLD if role in OFFLINE_ROLES else 1
        with map_os_errors(self.folder):
            for name in (METADATA, TARGETS):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        files = {name: store_bytes(self.folder, name, content) for name, content in documents.items()}
        targets = Targets(targets=files, delegations=Delegations({}, {}))
        self._commit(
            State(root, _unwritten(Timestamp()), _unwritten(Snapshot()), _unwritten(targets)), [root], targets=True
        )
        self._write_root(root, [root])

    @property
    def fingerprint(self) -> RootFingerprint:
        """What sites compare before their first pull."""
        return RootFingerprint.of(read_bounded(metadata_path(self.folder, "1.root"), MAX_METADATA_BYTES))

    def release_names(self) -> list[str]:
        """Names of all releases, oldest first.

        Raises:
            WorkspaceError: the repository is damaged.
        """
        return sorted(delegated_roles(read_state(self.folder).targets), key=release_sequence)

    def has(self, target: str) -> bool:
        """Whether a small target beside the releases is published, such as `provider.json`.

        Raises:
            WorkspaceError: the metadata are damaged.
        """
        return target in read_state(self.folder).targets.targets

    def read(self, target: str) -> bytes:
        """A file of the repository, as it was signed: no more is read than was signed for.

        Args:
            target: such as `provider.json`, or `0001-representer/release.json`.

        Raises:
            WorkspaceError: there is no such file, or the metadata are damaged.
            BoundsError: it is longer than what was signed.
            DigestError: its bytes are not those that were signed.
        """
        return self.read_each([target])[0]

    def read_each(self, targets: Sequence[str]) -> list[bytes]:
        """Several files, of one state of the repository, whose metadata are verified once; errors as of `read`."""
        state = read_state(self.folder)
        return [self._read(state, target) for target in targets]

    def path_of(self, target: str) -> Path:
        """Where a file lies, for people and for what they type; errors as of `read` where there is none."""
        return self._path(self._entry(read_state(self.folder), target))

    def _path(self, info: TargetFile) -> Path:
        return self.folder / TARGETS / info.get_prefixed_paths()[0]

    def _entry(self, state: State, target: str) -> TargetFile:
        folder = target.split("/", maxsplit=1)[0]
        role = read_release(self.folder, state, folder) if folder in delegated_roles(state.targets) else state.targets
        info = role.targets.get(target)
        if info is None:
            raise WorkspaceError(
                f"{target}: expected it in the release repository, found none; publish a release first"
            )
        return info

    def _read(self, state: State, target: str) -> bytes:
        info = self._entry(state, target)
        data = read_bounded(self._path(info), info.length)
        if len(data) != info.length or hashlib.sha256(data).hexdigest() != info.hashes["sha256"]:
            raise DigestError(
                "the bytes that were signed for", received="other bytes", advice="restore the file", place=target
            )
        return data

    def publish(
        self, documents: Mapping[str, bytes], release: NewRelease | None = None, renewed: Sequence[str] = ()
    ) -> None:
        """Add or replace small targets and add a release, all at once.

        Args:
            documents: content by name, `provider.json` and `latest.json`.
            release: to add.
            renewed: earlier releases to sign anew, since sites still pull them.

        Raises:
            WorkspaceError: too few keys are here, or the repository is damaged.
            StorageError: the disk is full.
        """
        state = read_state(self.folder)
        self.require_keys(state.root)
        drop_leftovers(self.folder, delegated_roles(state.targets))
        for name, content in documents.items():
            state.targets.targets[name] = store_bytes(self.folder, name, content)
        self._renew(state, renewed)
        if release is not None:
            state.releases[release.name] = self._add_release(state, release)
        self._commit(state, [state.root], targets=True)
        self._show_checkpoint()

    def require_keys(self, root: Root | None = None) -> None:
        """Returns if enough keys are here to publish something.

        Args:
            root: of the repository; None for the one that is there.

        Raises:
            WorkspaceError: they are not.
        """
        self.keys.require("targets", (root or self.root()).roles["targets"])

    def refresh(self, *, with_offline: bool, renewed: Sequence[str] = ()) -> None:
        """New timestamp and snapshot; with the offline keys also targets, some releases, and a root that is half worn.

        Args:
            with_offline: whether the offline keys are here.
            renewed: the releases that sites still pull.

        Raises:
            WorkspaceError: too few keys are here, or the repository is damaged.
        """
        state = read_state(self.folder)
        if with_offline:
            self._renew(state, renewed)
        self._commit(state, [state.root], targets=with_offline)
        if with_offline and state.root.expires - self.now() < ROOT_LIFETIME / 2:
            self._write_root(self._next_root(state.root), [state.root])
        self._show_checkpoint()

    def has_offline_keys(self) -> bool:
        """Whether enough keys are here to sign targets and a root."""
        root = self.root()
        return all(self.keys.hold(role, root.roles[role]) for role in OFFLINE_ROLES)

    def rotate(self, roles: Sequence[str]) -> None:
        """New keys for some roles, signed for by the old ones. The old private keys are removed where they are found.

        Raises:
            WorkspaceError: too few of the old keys are here.
        """
        state = read_state(self.folder)
        before, after = state.root, self._next_root(state.root)
        self.keys.require("root", before.roles["root"])
        for role in roles:
            for keyid in list(after.roles[role].keyids):
                after.revoke_key(keyid, role)
            for key in self.keys.make(role):
                after.add_key(key, role)
        if after.roles["targets"].keyids != before.roles["targets"].keyids:
            for name in delegated_roles(state.targets):
                state.releases[name] = read_release(self.folder, state, name)
            self._delegate(state.targets, after, delegated_roles(state.targets))
        with_targets = bool(state.releases) or "targets" in roles
        self._commit(state, [before, after], targets=with_targets)
        self._write_root(after, [before, after])
        self.keys.drop_unused({role: after.roles[role] for role in roles})

    def expiries(self) -> dict[str, datetime.datetime]:
        """When each role's metadata expire."""
        state = read_state(self.folder)
        roles: dict[str, Signed] = {
            "root": state.root,
            "targets": state.targets,
            "snapshot": state.snapshot,
            "timestamp": state.timestamp,
        }
        return {name: signed.expires for name, signed in roles.items()}

    def root(self) -> Root:
        """The newest root metadata."""
        return read_state(self.folder).root

    def _show_checkpoint(self) -> None:
        """Where other programs for such logs look for it, too; sites go by the target."""
        if self.has(CHECKPOINT):
            write_public(self.folder / CHECKPOINT, self.read(CHECKPOINT))

    def _add_release(self, state: State, release: NewRelease) -> Targets:
        if not RELEASE_NAME.fullmatch(release.name) or release.name in delegated_roles(state.targets):
            raise WorkspaceError(
                f"{release.name}: expected the name of a new release, got one that is there or malformed"
            )
        files = {}
        for name in release.files:
            path = f"{release.name}/{name}"
            files[path] = store_file(self.folder, path, release.folder / name)
        self._delegate(state.targets, state.root, [release.name])
        return _unwritten(Targets(targets=files))

    def _renew(self, state: State, names: Sequence[str]) -> None:
        for name in names:
            state.releases[name] = read_release(self.folder, state, name)
        self._delegate(state.targets, state.root, names)

    def _delegate(self, targets: Targets, root: Root, names: Iterable[str]) -> None:
        """Let the targets keys of `root` sign for some releases, each for its own folder only."""
        trusted = root.roles["targets"]
        delegations = targets.delegations or Delegations({}, {})
        assert delegations.roles is not None
        for name in names:
            paths = ["/".join([name, *["*"] * depth]) for depth in range(1, _DEPTHS + 1)]
            delegations.roles[name] = DelegatedRole(
                name, list(trusted.keyids), trusted.threshold, terminating=True, paths=paths
            )
        # A release keeps the keys that signed it until it is signed anew.
        known = {**delegations.keys, **{keyid: root.keys[keyid] for keyid in trusted.keyids}}
        used = {keyid for role in delegations.roles.values() for keyid in role.keyids}
        delegations.keys = {keyid: key for keyid, key in known.items() if keyid in used}
        targets.delegations = delegations

    def _commit(self, state: State, roots: list[Root], *, targets: bool) -> None:
        """Sign and write all that changed; the rename of the timestamp is what publishes it."""
        expires = self.now() + LIFETIME
        for name, signed in {**state.releases, "targets": state.targets}.items() if targets else ():
            authorities: Sequence[Role] = [delegated_roles(state.targets)[name]] if name in state.releases else []
            authorities = authorities or self._authorities(roots, "targets")
            data = self._renewed(signed, "targets", authorities, expires)
            write_public(metadata_path(self.folder, f"{signed.version}.{name}"), data)
            state.snapshot.meta[f"{name}.json"] = _described(signed, data)
        data = self._renewed(state.snapshot, "snapshot", self._authorities(roots, "snapshot"), expires)
        write_public(metadata_path(self.folder, f"{state.snapshot.version}.snapshot"), data)
        state.timestamp.snapshot_meta = _described(state.snapshot, data)
        data = self._renewed(state.timestamp, "timestamp", self._authorities(roots, "timestamp"), expires)
        write_public(metadata_path(self.folder, "timestamp"), data)

    def _authorities(self, roots: list[Root], role: str) -> list[Role]:
        """Who has to sign: the newest root always, the one before as far as its keys are not lost."""
        *before, newest = (root.roles[role] for root in roots)
        return [*(authority for authority in before if self.keys.hold(role, authority)), newest]

    def _renewed(
        self, signed: Timestamp | Snapshot | Targets, keys: str, authorities: Sequence[Role], expires: datetime.datetime
    ) -> bytes:
        """The bytes of the next version."""
        signed.version += 1
        signed.expires = expires
        return self._signed(signed, keys, authorities)

    def _next_root(self, root: Root) -> Root:
        following = copy.deepcopy(root)
        following.version += 1
        following.expires = self.now() + ROOT_LIFETIME
        return following

    def _write_root(self, root: Root, authorities: list[Root]) -> None:
        write_public(
            metadata_path(self.folder, f"{root.version}.root"),
            self._signed(root, "root", [one.roles["root"] for one in authorities]),
        )

    def _signed(self, signed: Root | Timestamp | Snapshot | Targets, keys: str, authorities: Sequence[Role]) -> bytes:
        metadata: Metadata[Any] = Metadata(signed)
        self.keys.sign(metadata, keys, authorities)
        return metadata.to_bytes()


def _unwritten(signed: AnySigned) -> AnySigned:
    """Metadata whose first version is yet to be written."""
    signed.version = 0
    return signed


def _described(signed: Signed, data: bytes) -> MetaFile:
    return MetaFile(signed.version, len(data), {"sha256": hashlib.sha256(data).hexdigest()})
