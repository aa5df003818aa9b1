"""The private keys of the release repository: who signs which role, and where the keys lie.

root, targets       offline, two of three must sign: in keys/offline/ of the workspace until they are moved to sticks that
                    different people hold
snapshot, timestamp online, one each, in keys/online/

A file is named by role and key, so that keys of before and after a rotation lie beside each other: which of them count,
the root metadata decide.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from securesystemslib.signer import Signature, SSlibKey
from tuf.api.metadata import Metadata, Role

from aggregator.errors import WorkspaceError
from foundation.errors import StorageError
from foundation.files import flush, write_bytes
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.errors import ProtocolError
from protocols.keys.key_files import choose_protection
from protocols.keys.passphrase import Passphrase
from protocols.keys.signing import PrivateKey, PublicKey

OFFLINE_ROLES = ("root", "targets")
ONLINE_ROLES = ("snapshot", "timestamp")
ROLES = OFFLINE_ROLES + ONLINE_ROLES
HOLDERS = 3
THRESHOLD = 2
_MAX_KEY_BYTES = 4096


@dataclass(frozen=True)
class KeyFile:
    """A private key on the disk.

    Args:
        role: what it signs.
        path: where it lies.
        key: itself.
        public: its public half as TUF spells it.
    """

    role: str
    path: Path
    key: PrivateKey
    public: SSlibKey


@dataclass(frozen=True)
class KeyRing:
    """The folders in which private keys are looked for.

    Args:
        online: folder of the online keys.
        offline: folders of the offline keys, such as the sticks of several people.
        passphrase: of the keys; those of a stick may be under one of their own.
    """

    online: Path
    offline: tuple[Path, ...]
    passphrase: Passphrase | None = None

    def make(self, role: str, *, protected: bool = False) -> list[SSlibKey]:
        """New keys for a role, one for each of three folders, or all for the only one; the public halves.

        Args:
            role: what they sign.
            protected: whether they go under the passphrase; where keys of the folder are under one they do in any case.

        Raises:
            WorkspaceError: there are two folders, so that one of them would hold keys enough to sign alone.
            StorageError: they can't be written.
        """
        folders = self._folders(role)
        if role in OFFLINE_ROLES and len(folders) not in (1, HOLDERS):
            raise WorkspaceError(
                f"expected {HOLDERS} folders for new offline keys, or one for all, got {len(folders)}; "
                f"give --offline-keys for {HOLDERS} sticks, so that no stick alone can sign"
            )
        made = []
        for number in range(1, 1 + (HOLDERS if role in OFFLINE_ROLES else 1)):
            key = PrivateKey.generate()
            public = tuf_key(key.public_key)
            folder = folders[(number - 1) % len(folders)]
            with map_os_errors(folder):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            chosen = (
                self.passphrase if protected or self.passphrase is None else choose_protection(folder, self.passphrase)
            )
            key.save(folder / f"{role}-{number}-{public.keyid[:8]}.pem", chosen)
            made.append(public)
        return made

    def find_keys(self, role: str) -> list[KeyFile]:
        """The keys of a role that lie in the folders, used or not.

        Raises:
            ProtocolError: a file is no key, or others may read it.
        """
        files = []
        for folder in self._folders(role):
            for path in sorted(folder.glob(f"{role}-*.pem")):
                key = PrivateKey.load(path, self.passphrase)
                files.append(KeyFile(role, path, key, tuf_key(key.public_key)))
        return files

    def hold(self, role: str, authority: Role) -> bool:
        """Whether enough private keys of an authority are here."""
        here = {one.public.keyid for one in self.find_keys(role)}
        return len(here.intersection(authority.keyids)) >= authority.threshold

    def require(self, role: str, authority: Role) -> None:
        """Returns if enough private keys of an authority are here.

        Raises:
            WorkspaceError: they are not.
        """
        if self.hold(role, authority):
            return
        here = {one.public.keyid for one in self.find_keys(role)}.intersection(authority.keyids)
        advice = f"restore the files {self.online.name}/{role}-*.pem, or run `aggregator keys rotate --role {role}`"
        if role in OFFLINE_ROLES:
            advice = "bring the sticks with the offline keys and give --offline-keys DIR for each"
        raise WorkspaceError(
            f"expected {authority.threshold} of {len(authority.keyids)} private keys of role {role}, found {len(here)}; {advice}"
        )

    def sign(self, metadata: Metadata[Any], name: str, authorities: Iterable[Role]) -> None:
        """Sign metadata as every authority asks: during a rotation, the keys before and the keys after.

        Args:
            metadata: signatures that it has are replaced.
            name: the role whose keys sign.
            authorities: key ids and threshold of each.

        Raises:
            WorkspaceError: too few of the keys are here.
        """
        here = {one.public.keyid: one.key for one in self.find_keys(name)}
        payload = metadata.signed_bytes
        metadata.signatures.clear()
        for authority in authorities:
            self.require(name, authority)
            for keyid in sorted(here.keys() & set(authority.keyids)):
                metadata.signatures[keyid] = Signature(keyid, here[keyid].sign_bytes(payload).hex())

    def drop_unused(self, used: Mapping[str, Role]) -> None:
        """Remove the private keys that a rotation has made worthless, as far as they lie in the folders.

        Args:
            used: the roles that have new keys, as the newest root metadata have them.
        """
        for role, authority in used.items():
            for one in self.find_keys(role):
                if one.public.keyid not in authority.keyids:
                    with map_os_errors(one.path):
                        one.path.unlink()

    def _folders(self, role: str) -> tuple[Path, ...]:
        return self.offline if role in OFFLINE_ROLES else (self.online,)


def export_offline(
    source: Path, target: Path, holder: int | None = None, passphrase: Passphrase | None = None
) -> list[Path]:
    """Move offline keys out of a workspace: written and read back there before they are removed here.

    Args:
        source: keys/offline of the workspace.
        target: the stick.
        holder: 1 to 3 for that person's keys only, None for all.
        passphrase: of the keys, which they stay under.

    Returns:
        the files that are there now.

    Raises:
        WorkspaceError: there is none to move.
        StorageError: the target can't be written or has other keys of the same name.
    """
    ring = KeyRing(source, (source,), passphrase)
    chosen = [
        one
        for role in OFFLINE_ROLES
        for one in ring.find_keys(role)
        if holder is None or one.path.name.startswith(f"{role}-{holder}-")
    ]
    if not chosen:
        raise WorkspaceError(f"{source.name}: expected offline keys here, found none; they were moved before")
    with map_os_errors(target):
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
    moved = [_copy_key(one, target / one.path.name, passphrase) for one in chosen]
    for one in chosen:
        with map_os_errors(one.path):
            one.path.unlink()
    with map_os_errors(source):
        flush(source)
        if not any(source.iterdir()):
            shutil.rmtree(source)
    return moved


def tuf_key(key: PublicKey) -> SSlibKey:
    """A public key as TUF spells it."""
    return SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(key.raw))


def _copy_key(source: KeyFile, target: Path, passphrase: Passphrase | None) -> Path:
    data = read_bounded(source.path, _MAX_KEY_BYTES)
    if target.exists() and read_bounded(target, _MAX_KEY_BYTES) != data:
        raise StorageError(
            "a new file", received="another key there", advice="choose another folder", place=target.name
        )
    write_bytes(target, data)
    # Whatever the stick does to rights or bytes shows now, while the key is still here.
    try:
        arrived = PrivateKey.load(target, passphrase).public_key
    except (ProtocolError, StorageError) as error:
        with map_os_errors(target):
            target.unlink()
        raise StorageError(
            "a place that keeps rights of files",
            received="one where others can read the key",
            advice="format the stick with a file system of Linux, such as ext4",
            place=target.name,
        ) from error
    if arrived != source.key.public_key:
        raise StorageError(
            "the key that was written", received="another", advice="use another stick", place=target.name
        )
    return target
