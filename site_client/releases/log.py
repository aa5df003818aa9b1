"""The provider's log of releases, as a pull finds it: signed, of one past, and with the very releases that are pulled.

Release `n` is entry `n - 1` of the log and the newest release is its last one, so nobody is shown a second release of a
number, or an older one as the newest, that the log of another hospital would not show.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from protocols.log.checkpoint import CHECKPOINT, LOG, read_checkpoint
from protocols.log.entry import ReleaseEntry
from protocols.log.merkle import leaf_hash, prove_inclusion, root_by_inclusion
from protocols.log.note import MAX_NOTE_BYTES, own_part
from protocols.log.tiles import MAX_BUNDLE_BYTES, MAX_TILE_BYTES, TILE_WIDTH, TileTree, read_bundle, tile_path
from protocols.release.manifest import MAX_RELEASE_BYTES, ReleaseManifest
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import newest_pipeline, release_name, release_sequence
from protocols.release.verification import MANIFEST_NAME
from protocols.release.warrant import Warrant
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
        bundle: gives a file of entries by its name.
    """

    workspace: Workspace
    shown: ShownLog
    bundle: Callable[[str], bytes]

    def check_release(self, manifest: ReleaseManifest) -> None:
        """Returns if the log has a release, at its place.

        Raises:
            ForkError: it has another of that number, or none.
            DigestError: its tiles are not those of its checkpoint.
        """
        index, expected = manifest.sequence - 1, f"release {manifest.sequence} in it"
        if index >= self.shown.head.size:
            raise refuse(self.workspace, self.shown, None, expected)
        if not self._stands(index, self.shown.tree.subtree(index, index + 1)):
            raise damaged_tiles()
        entry = ReleaseEntry(manifest.sequence, manifest.kind, manifest.digest)
        if not self._stands(index, leaf_hash(entry.to_bytes())):
            raise refuse(self.workspace, self.shown, None, expected)

    def check_names(self, names: Collection[str]) -> None:
        """Returns if every release of the log after the newest pipeline is here: a pipeline that is left out would go unmissed.

        No log binds what the provider signs for, so it could keep one hospital on an old pipeline, by the same code as everybody's.

        Args:
            names: of all releases that the provider signs for; its own program never takes one away.

        Raises:
            ForkError: one is not.
            DigestError: the entries are not those of the checkpoint.
            StorageError: they are missing.
        """
        newest, used = newest_pipeline(names), self.workspace.pipeline
        known = max(0 if newest is None else release_sequence(newest), 0 if used is None else used.sequence)
        # The last one of the log is the newest release, which is looked at by itself.
        for index, data in enumerate(self._entries(known), known):
            entry = ReleaseEntry.from_bytes(data)
            if entry.sequence != index + 1 or release_name(index + 1, entry.kind) not in names:
                expected = f"{entry.kind} {index + 1}, which stands in it, to be here"
                raise refuse(self.workspace, self.shown, None, expected, received="none")

    def _entries(self, start: int) -> Iterator[bytes]:
        """Those from the one of index `start` to the last but one, from files that nobody has signed."""
        size, bundle, read = self.shown.head.size, -1, []
        for index in range(start, size - 1):
            if index // TILE_WIDTH != bundle:
                bundle = index // TILE_WIDTH
                read = read_bundle(
                    self.bundle(tile_path("entries", bundle, min(TILE_WIDTH, size - bundle * TILE_WIDTH)))
                )
            inside = index % TILE_WIDTH
            if inside >= len(read) or not self._stands(index, leaf_hash(read[inside])):
                raise damaged_tiles()
            yield read[inside]

    def _stands(self, index: int, leaf: bytes) -> bool:
        head = self.shown.head
        proof = prove_inclusion(self.shown.tree.subtree, index, head.size)
        return root_by_inclusion(leaf, index, head.size, proof).hex() == head.root

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
        ForkError: it has another past than was shown before, or is gone, has another newest release, or one that is not here.
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
    shown = ShownLog(own_part(note, origin, keys), head, manifest.digest, tree, _warrant(client, note))
    followed = FollowedLog(workspace, shown, lambda name: client.read_unsigned(f"{LOG}/{name}", MAX_BUNDLE_BYTES))
    check_past(workspace, followed.shown)
    if (line := stated_beyond(workspace, followed.shown)) is not None:
        tell(line)
    followed.check_release(manifest)
    if manifest.sequence != head.size:
        raise refuse(workspace, followed.shown, None, f"release {head.size} as the newest, not {manifest.sequence}")
    followed.check_names(client.release_names())
    return followed


def _warrant(client: ReleaseClient, note: bytes) -> bytes:
    """What shows another hospital that the provider has signed for a checkpoint, tried here: a provider must not make one that fails there."""
    roots, targets = client.roots_and_targets()
    warrant = Warrant(roots, targets, note)
    warrant.verify(roots)
    return warrant.to_bytes()
