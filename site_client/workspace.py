"""The hospital's folder: its key, the provider it trusts, the release it works with. It can be moved and copied.

site.json       format, name of the site, sequence number of the last share, the provider's public key once it is pinned,
                the release in use
keys/           Ed25519 key of the site; the private half is readable by its owner only. noise.key is the secret of
                the noise that is drawn once for each sentence; it is made on first use where it is missing
releases/       the releases that were pulled, verified
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from protocols.errors import SchemaError
from protocols.fields import SITE
from protocols.release import VerifiedRelease, verify_release
from protocols.signing import PrivateKey, PublicKey
from shared.errors import ConfigurationError
from shared.files import new_tree, read_text, write_text
from site_client.errors import WorkspaceError
from site_client.noise_secret import noise_secret

FORMAT = 1
_SETTINGS = "site.json"


@dataclass(frozen=True)
class Workspace:
    """An opened workspace.

    Args:
        root: its folder.
        site: name of the hospital.
        sequence: number of the last share that was encoded.
        provider: the provider's key; None until the first pull has pinned it.
        current: folder of the release in use, below releases/; None until the first pull.
    """

    root: Path
    site: str
    sequence: int
    provider: PublicKey | None
    current: str | None

    @property
    def releases(self) -> Path:
        return self.root / "releases"

    def release(self) -> VerifiedRelease:
        """The release in use, verified anew: nothing on the disk is trusted because it was once.

        Raises:
            WorkspaceError: none was pulled yet.
            ProtocolError: its files have changed.
        """
        if self.provider is None or self.current is None:
            raise WorkspaceError("no release is here yet; run `site-client pull RELEASE --fingerprint ...` first")
        return verify_release(self.releases / self.current, self.provider)

    @property
    def private_key(self) -> Path:
        return self.root / "keys" / "site.pem"

    def key(self) -> PrivateKey:
        """The site's signing key."""
        return PrivateKey.load(self.private_key)

    def noise_secret(self) -> bytes:
        """The site's secret for noise that is drawn once for each sentence.

        Raises:
            WorkspaceError, StorageError: the file is damaged, or others may read it.
        """
        return noise_secret(self.root / "keys" / "noise.key")

    def save(self) -> None:
        """Write the settings."""
        provider = None if self.provider is None else self.provider.hex
        settings = {
            "format": FORMAT,
            "site": self.site,
            "sequence": self.sequence,
            "provider": provider,
            "release": self.current,
        }
        write_text(self.root / _SETTINGS, json.dumps(settings, indent=1))

    def next_sequence(self) -> tuple[Workspace, int]:
        """The workspace with a sequence number that no share had before, saved ahead of its use."""
        workspace = replace(self, sequence=self.sequence + 1)
        workspace.save()
        return workspace, workspace.sequence


def create(root: Path, site: str) -> Workspace:
    """Make a workspace with a fresh key.

    Raises:
        WorkspaceError: there is one already.
        ConfigurationError: a share could not carry the name.
    """
    if (root / _SETTINGS).exists():
        raise WorkspaceError(f"{root}: expected a new folder, found a workspace; choose another folder")
    if not SITE.fullmatch(site):
        raise ConfigurationError(
            f"name of the site: expected up to 63 lower-case letters, digits and hyphens, got {site!r}; choose another"
        )
    workspace = Workspace(root, site, 0, None, None)
    with new_tree(root, ("keys", "releases")):
        (root / "keys").chmod(0o700)
        PrivateKey.generate().save(workspace.private_key)
        workspace.noise_secret()
        workspace.save()
    return workspace


def open_workspace(root: Path) -> Workspace:
    """The workspace in a folder.

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
        provider = None if settings["provider"] is None else PublicKey.from_hex(settings["provider"])
        current = None if settings["release"] is None else Path(settings["release"]).name
        return Workspace(root, str(settings["site"]), int(settings["sequence"]), provider, current)
    except (ValueError, KeyError, TypeError, SchemaError) as error:
        raise WorkspaceError(f"{path}: expected the settings of a workspace; restore the file") from error
