"""The provider's log of releases, as a pull finds it: signed, of one past, and with the very releases that are pulled.

Release `n` is entry `n - 1` of the log and the newest release is its last one, so nobody is shown a second release of a
number, or an older one as the newest, that the log of another hospital would not show.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from protocols.log.checkpoint import CHECKPOINT, LOG, read_checkpoint
from protocols.log.entry import ReleaseEntry
from protocols.log.merkle import leaf_hash, prove_inclusion, root_by_inclusion
from protocols.log.note import MAX_NOTE_BYTES, own_part
from protocols.log.tiles import MAX_TILE_BYTES, TileTree
from protocols.release.manifest import MAX_RELEASE_BYTES, ReleaseManifest
from protocols.release.provider_record import ProviderRecord
from protocols.release.verification import MANIFEST_NAME
from site_client.errors import ForkError
from site_client.release_log import (
    ShownLog,
    check_past,
    damaged_tiles,
    last_shown,
    record_shown,
    refuse,
    stated_beyond,
)
from site_client.releases.client import ReleaseClient
from site_client.workspace import Workspace


@dataclass(frozen=True)
class FollowedLog:
    """A log in which nothing is amiss with what this site has met before.

    Args:
        workspace: of the site.
        shown: the log.
    """

    workspace: Workspace
    shown: ShownLog

    def check_release(self, manifest: ReleaseManifest) -> None:
        """Returns if the log has a release, at its place.

        Raises:
            ForkError: it has another of that number, or none.
            DigestError: its tiles are not those of its checkpoint.
        """
        head, tree, index = self.shown.head, self.shown.tree, manifest.sequence - 1
        expected = f"release {manifest.sequence} in it"
        if index >= head.size:
            raise refuse(self.workspace, self.shown, None, expected)
        proof = prove_inclusion(tree.subtree, index, head.size)

        def stands(leaf: bytes) -> bool:
            return root_by_inclusion(leaf, index, head.size, proof).hex() == head.root

        if not stands(tree.subtree(index, index + 1)):
            raise damaged_tiles()
        entry = ReleaseEntry(manifest.sequence, manifest.kind, manifest.digest)
        if not stands(leaf_hash(entry.to_bytes())):
            raise refuse(self.workspace, self.shown, None, expected)

    def record(self) -> None:
        """Write the log down, once: from then on no other past is taken."""
        record_shown(self.workspace, self.shown)


def follow_log(
    workspace: Workspace,
    client: ReleaseClient,
    origin: str,
    provider: ProviderRecord,
    newest: str,
    tell: Callable[[str], object],
) -> FollowedLog | None:
    """The log of the releases that are being pulled.

    Args:
        workspace: of the site.
        client: after `refresh`.
        origin: name that the log must have.
        provider: whose keys sign it.
        newest: name of the newest release.
        tell: takes a line where there is no log, or a longer one was stated before.

    Returns:
        None where the provider has never shown one.

    Raises:
        ForkError: it has another past than was shown before, or is gone, or has another newest release.
        ProtocolError: it is not signed by the provider, or its tiles are not its own.
        StorageError: a tile is missing.
    """
    if not client.has(CHECKPOINT):
        if last_shown(workspace) is not None:
            raise ForkError(
                "log of the releases: expected the one that this provider has shown before, got none; take no release and "
                "telephone the provider and the other hospitals"
            )
        tell("these releases have no public log yet, so nobody can see whether other hospitals are shown the same")
        return None
    note = client.read(CHECKPOINT, MAX_NOTE_BYTES)
    day = datetime.datetime.now(datetime.UTC).date()
    # The metadata that name it are in date, and vouch for it also where the record of the keys has run out.
    keys = provider.signing_keys(min(day, provider.valid_until))
    head = read_checkpoint(note, origin, keys).head
    manifest = ReleaseManifest.from_bytes(client.read(f"{newest}/{MANIFEST_NAME}", MAX_RELEASE_BYTES))
    tree = TileTree(lambda name: client.read_unsigned(f"{LOG}/{name}", MAX_TILE_BYTES), head.size)
    followed = FollowedLog(workspace, ShownLog(own_part(note, origin, keys), head, manifest.digest, tree))
    check_past(workspace, followed.shown)
    if (line := stated_beyond(workspace, followed.shown)) is not None:
        tell(line)
    followed.check_release(manifest)
    if manifest.sequence != head.size:
        raise refuse(workspace, followed.shown, None, f"release {head.size} as the newest, not {manifest.sequence}")
    return followed
