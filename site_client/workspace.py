"""The hospital's folder: its keys, the provider it trusts, the release it works with. It can be moved and copied.

site.json       format, name of the site, sequence number of the last share, the site's public keys, the provider's keys and address once they are pinned, the release in use, and the newest pipeline
keys/           Ed25519 keys of the site, each named by its id; the private half is readable by its owner only, and under a
                passphrase if the site wants it. noise.key is the secret of the noise that is drawn once for each sentence,
                notes.key that of the digests of notes, surrogates.key that of surrogates that come again, of hashes and of
                vaults; they are made on first use, and a lost one is not made anew unasked
known-notes/    digests of the notes and sentences of each share, so that nothing leaves twice, and of the notes of trainings; they never leave
trust.json      what was verified of the provider's release repository, from its pinned first root on
lists.json      names of the hospital's country, for its owner alone, see `site_client.checking.given_lists`; they never leave
releases/       the releases that were pulled, verified
log/            tiles of the provider's log of releases, and what shows that it was forked, see `site_client.release_log`
adapted/        heads that were adapted to the hospital's own notes, for their owner alone, see `site_client.own_head.record`
federated/      key and log of the node that takes part in trainings over a connection, and the word that it listens to
ledger.jsonl    what ever left, see `site_client.ledger`; empty at first
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from command_line.passphrase import ask_when_needed
from foundation.files import write_text
from foundation.folders import new_tree
from foundation.locks import lock_folder
from foundation.reading import read_text
from foundation.secret_files import read_secret
from protocols.errors import ProtocolError
from protocols.fields import SITE, check_text, read_date
from protocols.keys.key_files import choose_protection
from protocols.keys.passphrase import Passphrase
from protocols.keys.signing import PrivateKey, PublicKey
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import RELEASE_NAME, newest_pipeline, release_sequence
from protocols.release.verification import VerifiedRelease, verify_release
from shared.errors import ConfigurationError
from site_client.errors import WorkspaceError
from site_client.noise_secret import make_noise_secret, noise_secret
from site_client.surrogates_secret import surrogates_secret

FORMAT = 2
VALID_DAYS = 730
_SETTINGS, _LEDGER = "site.json", "ledger.jsonl"


class KeyState(StrEnum):
    """Of a key: it waits until the provider has accepted it, and is retired once the provider has accepted another."""

    WAITING = "waiting"
    IN_USE = "in use"
    RETIRED = "retired"


@dataclass(frozen=True)
class SiteKey:
    """A key of the site.

    Args:
        public_key: its public half.
        valid_until: its last day.
        state: one key signs; those before it are retired, one may wait.
    """

    public_key: PublicKey
    valid_until: datetime.date
    state: KeyState

    @property
    def key_id(self) -> str:
        """Of the public key."""
        return self.public_key.key_id


@dataclass(frozen=True)
class CurrentRelease:
    """A release that was pulled.

    Args:
        folder: its name below releases/.
        digest: as the release repository signed it.
    """

    folder: str
    digest: str

    @property
    def sequence(self) -> int:
        """Its number."""
        return release_sequence(self.folder)


@dataclass(frozen=True)
class Workspace:
    """An opened workspace.

    Args:
        root: its folder.
        site: name of the hospital.
        sequence: number of the last share that was encoded.
        keys: its signing keys, oldest first; exactly one is in use.
        provider: its keys and address, as the last pull found them signed; None until the first pull.
        current: the release in use: notes are encoded with it; None until the first pull.
        pipeline: the newest release that finds PHI, which is older than the one in use where the provider has published a
            representer since; None until one was pulled.
        surrogates_made: whether there ever was a secret of surrogates that come again.
        passphrase: of the private keys, asked for when a key is under one.
    """

    root: Path
    site: str
    sequence: int
    keys: tuple[SiteKey, ...]
    provider: ProviderRecord | None = None
    current: CurrentRelease | None = None
    pipeline: CurrentRelease | None = None
    surrogates_made: bool = False
    passphrase: Passphrase = field(default_factory=ask_when_needed, compare=False, repr=False)

    @property
    def releases(self) -> Path:
        """Folder of the pulled releases."""
        return self.root / "releases"

    @property
    def trust(self) -> Path:
        """What was ever verified of the release repository, see `site_client.trust`."""
        return self.root / "trust.json"

    def release(self) -> VerifiedRelease:
        """The release in use, verified anew: nothing on the disk is trusted because it was once.

        Raises:
            WorkspaceError: none was pulled yet.
            ProtocolError: its files have changed.
        """
        if self.current is None:
            raise WorkspaceError("no release is here yet; run `site-client pull RELEASES --fingerprint ...` first")
        return verify_release(self.releases / self.current.folder, self.current.digest)

    def pipeline_release(self) -> VerifiedRelease:
        """The newest pipeline, verified anew.

        Raises:
            WorkspaceError: none was pulled yet, or none that can run here.
            ProtocolError: its files have changed.
        """
        if self.pipeline is None:
            manifest = self.release().manifest
            what = "holds a representer only, and no pipeline was pulled before it; pull a pipeline release first"
            if manifest.kind == "pipeline":
                what = "is a pipeline whose libraries were missing here when it was pulled; `site-client pull` names what to install, then pull again"
            raise WorkspaceError(f"release {manifest.sequence} {what}")
        return verify_release(self.releases / self.pipeline.folder, self.pipeline.digest)

    def pinned_provider(self) -> ProviderRecord:
        """The provider's keys and address.

        Raises:
            WorkspaceError: none was pulled yet.
        """
        if self.provider is None:
            raise WorkspaceError("no provider is known yet; run `site-client pull RELEASES --fingerprint ...` first")
        return self.provider

    @property
    def key_in_use(self) -> SiteKey:
        """The key that signs today."""
        return next(key for key in self.keys if key.state == KeyState.IN_USE)

    @property
    def public_keys(self) -> tuple[PublicKey, ...]:
        """Every key that the site ever had, for what was signed in its time."""
        return tuple(key.public_key for key in self.keys)

    def private_key(self, key_id: str) -> Path:
        """Where the private half of a key lies."""
        return self.keys_folder / f"{key_id}.pem"

    @property
    def keys_folder(self) -> Path:
        """Where the private keys lie."""
        return self.root / "keys"

    def key(self) -> PrivateKey:
        """The site's signing key.

        Raises:
            WorkspaceError: the file holds another key than the settings say.
            StorageError: there is no such file, others may read it, or it lies under a passphrase that is not given.
        """
        path = self.private_key(self.key_in_use.key_id)
        key = self.load_key(self.key_in_use.key_id)
        if key.public_key != self.key_in_use.public_key:
            raise WorkspaceError(f"{path.name}: expected the key in use, found another; restore the file from a backup")
        return key

    def load_key(self, key_id: str) -> PrivateKey:
        """A private key of the site, whether it is in use or not.

        Raises:
            ProtocolError, StorageError: as `PrivateKey.load`.
        """
        return PrivateKey.load(self.private_key(key_id), self.passphrase)

    def store_key(self, key: PrivateKey) -> None:
        """Keep a new private key, under the passphrase of those that are here if they have one.

        Raises:
            StorageError: it can't be written, or the passphrase is another one.
        """
        path = self.private_key(key.public_key.key_id)
        key.save(path, choose_protection(path.parent, self.passphrase))

    @property
    def noise_key(self) -> Path:
        """The file with the secret of the noise."""
        return self.root / "keys" / "noise.key"

    @property
    def notes_key(self) -> Path:
        """The file with the secret of the digests of notes."""
        return self.root / "keys" / "notes.key"

    def surrogates_secret(self) -> bytes:
        """The site's secret for surrogates that come again, for hashes and for vaults; made on first use.

        Raises:
            WorkspaceError, StorageError: it is lost, it is damaged, others may read it, or it can be neither read nor made.
        """
        secret = surrogates_secret(self.surrogates_key, made_before=self.surrogates_made)
        if not self.surrogates_made:
            self.update_settings(lambda now: replace(now, surrogates_made=True))
        return secret

    @property
    def surrogates_key(self) -> Path:
        """The file with the secret of surrogates that come again."""
        return self.root / "keys" / "surrogates.key"

    def noise_secret(self) -> bytes:
        """The site's secret for noise that is drawn once for each sentence.

        Raises:
            WorkspaceError, StorageError: it is lost though a share was made with it, damaged, or others may read it.
        """
        if not self.sequence:
            make_noise_secret(self.noise_key)
        return noise_secret(self.noise_key)

    def save(self) -> None:
        """Write the settings."""
        settings = {
            "format": FORMAT,
            "site": self.site,
            "sequence": self.sequence,
            # Programs of before the policy said so ask for it; nothing else reads it.
            "approval": "required",
            "keys": [
                {"public_key": key.public_key.hex, "valid_until": key.valid_until.isoformat(), "state": key.state}
                for key in self.keys
            ],
            "provider": None if self.provider is None else self.provider.to_json(),
            "release": None if self.current is None else vars(self.current),
            "pipeline": None if self.pipeline is None else vars(self.pipeline),
            "surrogates_made": self.surrogates_made,
        }
        write_text(self.root / _SETTINGS, json.dumps(settings, indent=1), private=False)

    def update_settings(self, change: Callable[[Workspace], Workspace]) -> Workspace:
        """Changes the settings as they are on the disk now: another command may have changed them since this one began.

        Args:
            change: from the workspace as it is; whatever it does besides, no other change comes between.

        Returns:
            the workspace as it was saved.

        Raises:
            StorageError: the disk is full; nothing has changed.
        """
        with lock_folder(self.root):
            workspace = change(open_workspace(self.root, self.passphrase))
            workspace.save()
        return workspace

    def next_sequence(self, after: int = 0) -> tuple[Workspace, int]:
        """The workspace with a sequence number that no share had before, saved ahead of its use.

        Args:
            after: a number that some share has, whatever the settings say: they may have been restored.
        """
        workspace = self.update_settings(lambda now: replace(now, sequence=max(now.sequence, after) + 1))
        return workspace, workspace.sequence


def create(root: Path, site: str, *, passphrase: Passphrase | None = None) -> Workspace:
    """Make a workspace with a fresh key.

    Args:
        root: its folder.
        site: name of the hospital.
        passphrase: to put the key under; None for a key in clear.

    Raises:
        WorkspaceError: there is one already.
        ConfigurationError: a share could not carry the name.
    """
    if root.exists() and not root.is_dir():
        raise WorkspaceError(f"{root}: expected a new folder, found a file; choose another name")
    if (root / _SETTINGS).exists():
        raise WorkspaceError(f"{root}: expected a new folder, found a workspace; choose another folder")
    if not SITE.fullmatch(site):
        raise ConfigurationError(
            f"name of the site: expected up to 63 lower-case letters, digits and hyphens, got {site!r}; choose another"
        )
    key = PrivateKey.generate()
    until = datetime.date.today() + datetime.timedelta(days=VALID_DAYS)
    workspace = Workspace(
        root,
        site,
        0,
        (SiteKey(key.public_key, until, KeyState.IN_USE),),
        passphrase=passphrase or ask_when_needed(),
    )
    # Under its lock, so that where there are no locks there is no workspace either.
    with new_tree(root, ("keys", "releases")), lock_folder(root):
        (root / "keys").chmod(0o700)
        key.save(workspace.private_key(key.public_key.key_id), passphrase)
        workspace.noise_secret()
        read_secret(workspace.notes_key)
        (root / _LEDGER).touch(mode=0o600)
        workspace.save()
    return workspace


def open_workspace(root: Path, passphrase: Passphrase | None = None) -> Workspace:
    """The workspace in a folder.

    Args:
        root: the folder.
        passphrase: of its keys; None to ask for it when a key needs it.

    Raises:
        WorkspaceError: there is none, or one of another format.
    """
    path = root / _SETTINGS
    if not path.is_file():
        raise WorkspaceError(
            f"{root}: expected a workspace here, found none; run `site-client init {root}` or give --workspace"
        )
    try:
        settings = json.loads(read_text(path))
        if settings["format"] != FORMAT:
            raise WorkspaceError(
                f"{path}: expected format {FORMAT}, got {settings['format']}; use the version that made it"
            )
        current = None if settings["release"] is None else _current(settings["release"])
        return Workspace(
            root,
            site=str(settings["site"]),
            sequence=int(settings["sequence"]),
            keys=_keys(settings["keys"]),
            provider=None
            if settings["provider"] is None
            else ProviderRecord.from_json(settings["provider"], path.name),
            current=current,
            pipeline=_pipeline(settings, current),
            surrogates_made=settings.get("surrogates_made") is True,
            passphrase=passphrase or ask_when_needed(),
        )
    except (ValueError, KeyError, TypeError, ProtocolError) as error:
        raise WorkspaceError(f"{path}: expected the settings of a workspace; restore the file") from error


def _current(stated: dict[str, str]) -> CurrentRelease:
    check_text(stated["folder"], RELEASE_NAME, _SETTINGS)
    return CurrentRelease(stated["folder"], str(stated["digest"]))


def _pipeline(settings: dict[str, Any], current: CurrentRelease | None) -> CurrentRelease | None:
    """The newest pipeline; workspaces of before knew the release in use alone."""
    if "pipeline" in settings:
        return None if settings["pipeline"] is None else _current(settings["pipeline"])
    return current if current is not None and newest_pipeline([current.folder]) else None


def _keys(stated: list[dict[str, str]]) -> tuple[SiteKey, ...]:
    keys = tuple(
        SiteKey(PublicKey.from_hex(one["public_key"]), read_date(one["valid_until"], _SETTINGS), KeyState(one["state"]))
        for one in stated
    )
    if [key.state for key in keys].count(KeyState.IN_USE) != 1:
        raise ValueError("exactly one key is in use")
    return keys
