"""The provider's folder: what it has trained, taken in and released. Every path in it is relative, so it can be moved.

aggregator.json    format, name of the provider, label scheme, where the registry and the objects are
keys/              provider.pem signs receipts, recipient.pem opens shares, and those that followed them (see
                   `aggregator.provider_keys`); online/ and offline/ sign releases (see `aggregator.repository.tuf_keys`);
                   readable by their owner only, and under a passphrase if the provider wants it; overlap.key is
                   the secret by which sentences are known again
embeddings/        public word vectors
language-model/    the language model of public texts that a tagger may read words in their context with
representer/       the frozen representer, the record of its training, the provider's own encoded notes
head/              the head that the pool trained
federated/         home and log of the link that carries a training over a connection
cache/             searches that a later training can use again; may be deleted
unfinished/        what trainings that were cut go on with, see `aggregator.training.unfinished`
releases/          the release repository, see `aggregator.repository.tuf_repository`
registry.sqlite    what is known of sites, shares, uploads and releases, and the audit log; unless a database has it
objects/           bundles and payloads by their digests; unless an S3-compatible store has them
uploads/           bundles on their way in
staging/           what is being opened at the moment
"""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.objects import ObjectStore, open_store
from aggregator.provider_keys import FIRST, ProviderKeys, Purpose, read_provider_keys
from aggregator.registry import Registry, audit_log, database_url, open_registry
from aggregator.repository.tuf_keys import KeyRing
from aggregator.repository.tuf_repository import Repository
from command_line.passphrase import ask_when_needed
from foundation.files import write_text
from foundation.folders import new_tree
from foundation.locks import lock_folder
from foundation.reading import read_text
from foundation.secret_files import read_secret
from protocols.fields import NAME
from protocols.keys.passphrase import Passphrase
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey, PublicKey
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import PROVIDER
from shared.errors import ConfigurationError
from shared.labels import LabelScheme, load_scheme

FORMAT = 2
DATABASE = "registry.sqlite"
OBJECTS = "objects"
_SETTINGS = "aggregator.json"
# Every publishing states it anew.
_KEYS_VALID = datetime.timedelta(days=730)


@dataclass(frozen=True)
class Workspace:
    """An opened workspace.

    Args:
        root: its folder.
        name: the provider's name, as releases state it.
        scheme: labels of every share and head.
        database: of the registry: a file below the root, or a postgresql:// URL.
        store: of the objects: a folder below the root, or an s3:// URL.
        passphrase: of the private keys, asked for when a key is under one.
    """

    root: Path
    name: str
    scheme: LabelScheme
    database: str = DATABASE
    store: str = OBJECTS
    passphrase: Passphrase = field(default_factory=ask_when_needed, compare=False, repr=False)

    def registry(self) -> Registry:
        """What is known of sites, shares, uploads and releases; opened once.

        Raises:
            DatabaseError: the database is gone or does not answer.
            WorkspaceError: it was made by a later version, or is empty.
        """
        return self._registry

    def objects(self) -> ObjectStore:
        """Bundles and payloads by their digests."""
        return self._objects

    @cached_property
    def _registry(self) -> Registry:
        return open_registry(database_url(self.database, self.root), create=False)

    @cached_property
    def _objects(self) -> ObjectStore:
        return open_store(self.store, self.root)

    @property
    def embeddings(self) -> Path:
        """Folder of the word vectors."""
        return self.root / "embeddings"

    @property
    def language_model(self) -> Path:
        """Folder of the language model."""
        return self.root / "language-model"

    @property
    def representer(self) -> Path:
        """Folder of the representer."""
        return self.root / "representer"

    @property
    def public_share(self) -> Path:
        """The provider's own notes, encoded."""
        return self.representer / "public.parquet"

    @property
    def head(self) -> Path:
        """Folder of the head."""
        return self.root / "head"

    @property
    def releases(self) -> Path:
        """Folder of the release repository."""
        return self.root / "releases"

    @property
    def uploads(self) -> Path:
        """Folder of the bundles on their way in."""
        return self.root / "uploads"

    @property
    def offline_keys(self) -> Path:
        """Where the offline keys of the release repository lie until they are moved to sticks."""
        return self.root / "keys" / "offline"

    def repository(self, offline: tuple[Path, ...] = ()) -> Repository:
        """The release repository.

        Args:
            offline: folders of the offline keys; none for that of the workspace.
        """
        ring = KeyRing(self.keys / "online", offline or (self.offline_keys,), self.passphrase)
        return Repository(self.releases, ring)

    @property
    def keys(self) -> Path:
        """Folder of the private keys."""
        return self.root / "keys"

    def provider_keys(self) -> ProviderKeys:
        """Which keys are in use, as the disk says now: a rotation counts for a server that runs, too."""
        return read_provider_keys(self.keys)

    @property
    def private_key(self) -> Path:
        """File of the key that signs today."""
        return self.provider_keys().signing_path(today())

    @property
    def overlap_secret(self) -> Path:
        """File of the secret by which sentences are known again; see `aggregator.enrolled.overlap_key`."""
        return self.keys / "overlap.key"

    def key(self) -> PrivateKey:
        """The key that signs today."""
        return PrivateKey.load(self.private_key, self.passphrase)

    def signing_keys(self) -> tuple[PublicKey, ...]:
        """The provider's signing keys that count today, the newest first: that one is the provider's name."""
        earlier = self.provider_keys().earlier_signing(today())
        return (self.newest_key().public_key, *(key for key, _ in earlier))

    def newest_key(self) -> PrivateKey:
        """The newest signing key, which may be announced and not sign receipts yet."""
        return PrivateKey.load(self.provider_keys().newest_path(Purpose.SIGNING), self.passphrase)

    def recipient(self, key_id: str | None = None) -> RecipientPrivateKey:
        """The key that shares are encrypted to.

        Args:
            key_id: of one that may be an earlier one; the newest is given for None, and for what opens nothing today.
        """
        loaded = [
            RecipientPrivateKey.load(path, self.passphrase) for path in self.provider_keys().opening_paths(today())
        ]
        return next((key for key in loaded if key.public_key.key_id == key_id), loaded[0])

    def unlock(self) -> None:
        """Opens the keys that a server needs, and asks for nothing afterwards.

        Raises:
            ProtocolError, StorageError: one is missing, damaged, or under another passphrase.
        """
        self.key()
        self.recipient()
        self.passphrase.ask_no_more()

    def remove_ended_keys(self) -> list[str]:
        """Removes earlier keys of the provider that have come to their end: nobody can steal what is not there.

        Returns:
            names of their files.

        Raises:
            StorageError: they can't be removed.
        """
        with lock_folder(self.keys):
            return self.provider_keys().remove_ended(today())

    def record(self, server: str = "") -> ProviderRecord:
        """What sites are told of the provider: its keys as they are now, and where its server is."""
        until = datetime.date.today() + _KEYS_VALID
        newest, recipient = self.signing_keys()[0], self.recipient().public_key
        return ProviderRecord(
            self.name, newest, recipient, server, until, self.provider_keys().earlier_signing(today())
        )


def create(
    root: Path,
    name: str,
    scheme: str,
    *,
    database: str | None = None,
    objects: str | None = None,
    offline: tuple[Path, ...] = (),
    passphrase: Passphrase | None = None,
) -> Workspace:
    """Make a workspace with fresh keys, an empty registry and a release repository without a release.

    Args:
        root: its folder.
        name: the provider's name.
        scheme: name of a label scheme, or a file with one.
        database: of the registry (default: a file in the workspace); see `Workspace`.
        objects: where they lie (default: a folder in the workspace).
        offline: one folder for the offline keys of the release repository, or three (default: one in the workspace).
        passphrase: to put all private keys under; None for keys in clear.

    Raises:
        WorkspaceError: there is one already, or its registry is there already.
        ConfigurationError: the label scheme, the database or the store is of no known kind, or a release could not carry
            the name.
        DatabaseError: the database does not answer.
    """
    chosen = load_scheme(scheme)
    if root.exists() and not root.is_dir():
        raise WorkspaceError(f"{root}: expected a new folder, found a file; choose another name")
    if (root / _SETTINGS).exists():
        raise WorkspaceError(f"{root}: expected a new folder, found a workspace; choose another folder")
    for what, text in (("provider", name), ("label scheme", chosen.name)):
        if not NAME.fullmatch(text):
            raise ConfigurationError(
                f"name of the {what}: expected up to 64 letters, digits, '.', '_' and '-', got {text!r}; choose another"
            )
    workspace = Workspace(root, name, chosen, database or DATABASE, objects or OBJECTS, passphrase or ask_when_needed())
    settings = {
        "format": FORMAT,
        "name": name,
        "scheme": {"name": chosen.name, "categories": chosen.categories},
        "database": workspace.database,
        "objects": workspace.store,
    }
    workspace.objects()
    url = database_url(workspace.database, root)
    with new_tree(root, ("keys", "releases")):
        (root / "keys").chmod(0o700)
        key = PrivateKey.generate()
        key.save(workspace.private_key, passphrase)
        RecipientPrivateKey.generate().save(workspace.keys / FIRST[Purpose.ENCRYPTION], passphrase)
        # Now, not with the first share: whoever copies the keys of a new workspace has all of them.
        read_secret(workspace.overlap_secret)
        documents = {PROVIDER: workspace.record().to_bytes()}
        workspace.repository(offline).create(documents, protected=passphrase is not None)
        with closing(open_registry(url)) as registry:
            _begin(registry, name, key.public_key.key_id)
        # The last: with it, the workspace is there.
        write_text(root / _SETTINGS, json.dumps(settings, indent=1), private=False)
    return workspace


def _begin(registry: Registry, name: str, key: str) -> None:
    """The first event of the audit log."""
    with registry.transaction() as session:
        if audit_log.head(session) != audit_log.START:
            raise WorkspaceError(
                f"registry {registry.name}: expected an empty database, found a registry; choose another database"
            )
        audit_log.append(session, "operator", "workspace-made", {"name": name, "key": key})


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
            f"{root}: expected a workspace here, found none; run `aggregator init {root}` or give --workspace"
        )
    try:
        settings = json.loads(read_text(path))
        if settings["format"] != FORMAT:
            raise WorkspaceError(
                f"{path}: expected format {FORMAT}, got {settings['format']}; use the version that made it"
            )
        scheme = LabelScheme(str(settings["scheme"]["name"]), tuple(map(str, settings["scheme"]["categories"])))
        places = str(settings["database"]), str(settings["objects"])
        return Workspace(root, str(settings["name"]), scheme, *places, passphrase or ask_when_needed())
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise WorkspaceError(f"{path}: expected the settings of a workspace; restore the file") from error


def today() -> datetime.date:
    """The day in UTC, by which keys come and go."""
    return datetime.datetime.now(datetime.UTC).date()


def require(path: Path, command: str) -> Path:
    """The path, if an earlier command has made it.

    Raises:
        WorkspaceError: it has not.
    """
    if not path.exists():
        raise WorkspaceError(f"{path.name}: not there yet; run `{command}` first")
    return path
