"""The public list of all releases: a Merkle tree log beside the release repository, which follows it and never leads.

log/checkpoint    how many releases there are and the root over them, signed; also a target, so that a publishing brings
                  release and checkpoint at once, with the same rename
log/tile/...      hashes and entries, see `protocols.log.tiles`

Its content follows from the releases of the repository alone. So a publishing that was interrupted needs no repair: what it
has left is laid down anew by the next, and a checkpoint that no metadata name is removed, since it was never out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.repository.files import write_public
from aggregator.repository.tuf_repository import Repository
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.bounded_reading import read_bounded
from protocols.errors import ProtocolError
from protocols.keys.signing import PrivateKey
from protocols.log.checkpoint import CHECKPOINT, LOG, Checkpoint, LogHead, log_origin, parse_checkpoint
from protocols.log.entry import ReleaseEntry
from protocols.log.merkle import leaf_hash, prove_inclusion, root_by_inclusion, tree_root
from protocols.log.note import MAX_NOTE_BYTES
from protocols.log.tiles import MAX_BUNDLE_BYTES, MAX_TILE_BYTES, TILE_WIDTH, TileTree, lay_out, read_bundle, tile_path
from protocols.release.repository import TARGETS


@dataclass(frozen=True)
class PublishedLog:
    """What is published.

    Args:
        release: digest of the newest release.
        head: of the log.
    """

    release: str
    head: LogHead


def lay_down_log(repository: Repository, entries: Sequence[ReleaseEntry], key: PrivateKey) -> bytes:
    """Write the tiles of a log, and sign its checkpoint, which the caller publishes.

    Args:
        repository: whose releases they are.
        entries: all releases, those before the one that is to come too.
        key: that sites will find in `provider.json`.

    Raises:
        WorkspaceError: they are not what is published and one or more after it: nothing is signed that shows a second past.
        StorageError: the disk is full.
    """
    if [entry.sequence for entry in entries] != list(range(1, len(entries) + 1)):
        raise _broken("releases 1, 2, 3 and so on", "others")
    published = _published(repository)
    files = lay_out([entry.to_bytes() for entry in entries])
    tree = TileTree(files.__getitem__, len(entries))
    if published is not None and (
        published.size > len(entries) or tree_root(tree.subtree, published.size).hex() != published.root
    ):
        raise _broken(f"the {published.size} releases of the published checkpoint", "others")
    _drop_unpublished(repository.folder, 0 if published is None else published.size)
    for name, content in files.items():
        _write_changed(repository.folder / LOG / name, content)
    head = LogHead(len(entries), tree_root(tree.subtree, len(entries)).hex())
    return Checkpoint(log_origin(repository.fingerprint.key_id), head).sign(key)


def read_published_log(repository: Repository) -> PublishedLog | None:
    """The log as sites find it; None where no release was published since there are logs.

    Raises:
        WorkspaceError, ProtocolError: the repository is damaged.
    """
    head = _published(repository)
    if head is None:
        return None
    # By the checkpoint alone, and not by `latest.json`: a publishing may come between the two.
    folder, index = repository.folder / LOG, head.size - 1
    tree = TileTree(lambda name: read_bounded(folder / name, MAX_TILE_BYTES), head.size)
    bundle = tile_path("entries", index // TILE_WIDTH, index % TILE_WIDTH + 1)
    entry = read_bundle(read_bounded(folder / bundle, MAX_BUNDLE_BYTES))[-1]
    proof = prove_inclusion(tree.subtree, index, head.size)
    if root_by_inclusion(leaf_hash(entry), index, head.size, proof).hex() != head.root:
        raise WorkspaceError(
            "log of the releases: expected the files of the published checkpoint, found others; run `aggregator announce`"
        )
    return PublishedLog(ReleaseEntry.from_bytes(entry).digest, head)


def _published(repository: Repository) -> LogHead | None:
    """The head of the checkpoint that the metadata name; their signatures vouch for it, whichever key signed it then."""
    if not repository.has(CHECKPOINT):
        return None
    return _head(repository.read(CHECKPOINT))


def _head(note: bytes) -> LogHead:
    return parse_checkpoint(note.decode("utf-8", "replace").partition("\n\n")[0]).head


def _drop_unpublished(folder: Path, size: int) -> None:
    """Remove checkpoints of a publishing that was interrupted: signed, never out, and of a future that may not come."""
    for path in sorted((folder / TARGETS / LOG).glob("*.checkpoint")):
        try:
            later = _head(read_bounded(path, MAX_NOTE_BYTES)).size > size
        except ProtocolError:
            later = True
        if later:
            with map_os_errors(path):
                path.unlink()


def _write_changed(path: Path, content: bytes) -> None:
    if path.exists() and regular_size(path) == len(content) and read_bounded(path, len(content)) == content:
        return
    write_public(path, content)


def _broken(expected: str, received: str) -> WorkspaceError:
    return WorkspaceError(
        f"log of the releases: expected {expected}, found {received}; sites would take that for a second past: "
        "restore the folder releases/ from the newest backup before you publish"
    )
