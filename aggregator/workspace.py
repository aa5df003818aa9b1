"""The provider's folder: what it has trained, taken in and released. Every path in it is relative, so it can be moved.

aggregator.json    format, name of the provider, label scheme
keys/              Ed25519 key of the provider; the private half is readable by its owner only
embeddings/        public word vectors
representer/       the frozen representer, the record of its training, the provider's own encoded notes
sites/             one file for each enrolled hospital
shares/            one folder for each accepted share, named by the digest of its payload
head/              the head that the pool trained
cache/             searches that a later training can use again; may be deleted
releases/          one signed folder for each release, numbered
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import WorkspaceError
from protocols.fields import NAME
from protocols.signing import PrivateKey
from shared.errors import ConfigurationError
from shared.files import new_tree, read_text, write_text
from shared.labels import LabelScheme, load_scheme

FORMAT = 1
_SETTINGS = "aggregator.json"


@dataclass(frozen=True)
class Workspace:
    """An opened workspace.

    Args:
        root: its folder.
        name: the provider's name, as releases state it.
        scheme: labels of every share and head.
    """

    root: Path
    name: str
    scheme: LabelScheme

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings"

    @property
    def representer(self) -> Path:
        return self.root / "representer"

    @property
    def public_share(self) -> Path:
        return self.representer / "public.parquet"

    @property
    def sites(self) -> Path:
        return self.root / "sites"

    @property
    def shares(self) -> Path:
        return self.root / "shares"

    @property
    def head(self) -> Path:
        return self.root / "head"

    @property
    def releases(self) -> Path:
        return self.root / "releases"

    @property
    def private_key(self) -> Path:
        return self.root / "keys" / "provider.pem"

    @property
    def public_key(self) -> Path:
        """The provider's public key, beside the releases, where sites find it at their first pull."""
        return self.releases / "provider.key"

    def key(self) -> PrivateKey:
        """The provider's signing key."""
        return PrivateKey.load(self.private_key)


def create(root: Path, name: str, scheme: str) -> Workspace:
    """Make a workspace with a fresh key.

    Raises:
        WorkspaceError: there is one already.
        ConfigurationError: the label scheme is unknown, or a release could not carry the name.
    """
    chosen = load_scheme(scheme)
    if (root / _SETTINGS).exists():
        raise WorkspaceError(f"{root}: expected a new folder, found a workspace; choose another folder")
    for what, text in (("provider", name), ("label scheme", chosen.name)):
        if not NAME.fullmatch(text):
            raise ConfigurationError(
                f"name of the {what}: expected up to 64 letters, digits, '.', '_' and '-', got {text!r}; choose another"
            )
    workspace = Workspace(root, name, chosen)
    settings = {"format": FORMAT, "name": name, "scheme": {"name": chosen.name, "categories": chosen.categories}}
    with new_tree(root, ("keys", "sites", "shares", "releases")):
        (root / "keys").chmod(0o700)
        key = PrivateKey.generate()
        key.save(workspace.private_key)
        write_text(workspace.public_key, key.public_key.hex + "\n")
        write_text(root / _SETTINGS, json.dumps(settings, indent=1))
    return workspace


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
        return Workspace(root, str(settings["name"]), scheme)
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
