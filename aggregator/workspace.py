"""The provider's folder: what it has trained, taken in and released. Every path in it is relative, so it can be moved.

aggregator.json    format, name of the provider, label scheme, where the registry and the objects are
keys/              provider.pem signs receipts, recipient.pem opens shares, online/ and offline/ sign releases (see
                   `aggregator.repository.tuf_keys`); readable by their owner only
embeddings/        public word vectors
representer/       the frozen representer, the record of its training, the provider's own encoded notes
head/              the head that the pool trained
cache/             searches that a later training can use again; may be deleted
releases/          the release repository, see `aggregator.repository.tuf_repository`
registry.sqlite    what is known of sites, shares, uploads and releases, and the audit log; unless a database has it
objects/           bundles and payloads by their digests; unless an S3-compatible store has them
staging/           what is being opened at the moment
"""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.objects import ObjectStore, open_store
from aggregator.registry import Registry, audit_log, database_url, open_registry
from aggregator.repository.tuf_keys import KeyRing
from aggregator.repository.tuf_repository import Repository
from foundation.files import write_text
from foundation.folders import new_tree
from foundation.reading import read_text
from protocols.fields import NAME
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
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
    """

    root: Path
    name: str
    scheme: LabelScheme
    database: str = DATABASE
    store: str = OBJECTS

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
    def offline_keys(self) -> Path:
        """Where the offline keys of the release repository lie until they are moved to sticks."""
        return self.root / "keys" / "offline"

    def repository(self, offline: tuple[Path, ...] = ()) -> Repository:
        """The release repository.

        Args:
            offline: folders of the offline keys; none for that of the workspace.
        """
        return Repository(self.releases, KeyRing(self.root / "keys" / "online", offline or (self.offline_keys,)))

    @property
    def private_key(self) -> Path:
        """File of the signing key."""
        return self.root / "keys" / "provider.pem"

    @property
    def overlap_secret(self) -> Path:
        """File of the secret by which sentences are known again, made on first use."""
        return self.root / "keys" / "overlap.key"

    def recipient(self) -> RecipientPrivateKey:
        """The key that shares are encrypted to."""
        return RecipientPrivateKey.load(self._recipient_key)

    @property
    def _recipient_key(self) -> Path:
        return self.root / "keys" / "recipient.pem"

    def key(self) -> PrivateKey:
        """The provider's signing key."""
        return PrivateKey.load(self.private_key)

    def record(self, server: str = "") -> ProviderRecord:
        """What sites are told of the provider: its keys as they are now, and where its server is."""
        until = datetime.date.today() + _KEYS_VALID
        return ProviderRecord(self.name, self.key().public_key, self.recipient().public_key, server, until)


def create(
    root: Path,
    name: str,
    scheme: str,
    *,
    database: str | None = None,
    objects: str | None = None,
    offline: tuple[Path, ...] = (),
) -> Workspace:
    """Make a workspace with fresh keys, an empty registry and a release repository without a release.

    Args:
        root: its folder.
        name: the provider's name.
        scheme: name of a label scheme, or a file with one.
        database: of the registry (default: a file in the workspace); see `Workspace`.
        objects: where they lie (default: a folder in the workspace).
        offline: one folder for the offline keys of the release repository, or three (default: one in the workspace).

    Raises:
        WorkspaceError: there is one already, or its registry is there already.
        ConfigurationError: the label scheme, the database or the store is of no known kind, or a release could not carry
            the name.
        DatabaseError: the database does not answer.
    """
    chosen = load_scheme(scheme)
    if (root / _SETTINGS).exists():
        raise WorkspaceError(f"{root}: expected a new folder, found a workspace; choose another folder")
    for what, text in (("provider", name), ("label scheme", chosen.name)):
        if not NAME.fullmatch(text):
            raise ConfigurationError(
                f"name of the {what}: expected up to 64 letters, digits, '.', '_' and '-', got {text!r}; choose another"
            )
    workspace = Workspace(root, name, chosen, database or DATABASE, objects or OBJECTS)
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
        key.save(workspace.private_key)
        RecipientPrivateKey.generate().save(workspace._recipient_key)
        workspace.repository(offline).create({PROVIDER: workspace.record().to_bytes()})
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


def open_workspace(root: Path) -> Workspace:
    """The workspace in a folder.

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
        return Workspace(root, str(settings["name"]), scheme, str(settings["database"]), str(settings["objects"]))
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise WorkspaceError(f"{path}: expected the settings of a workspace; restore the file") from error


def require(path: Path, command: str) -> Path:
    """The path, if an earlier command has made it.

    Raises:
        WorkspaceError: it has not.
    """
    if not path.exists():
        raise WorkspaceError(f"{path.name}: not there yet; run `{command}` first")
    return path
