"""What the metadata of a release repository say today: read from the disk, every signature verified.

Expiry is not looked at: it does not matter to whoever renews the metadata.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import DelegatedRole, Metadata, Root, Snapshot, Targets, Timestamp

from aggregator.errors import WorkspaceError
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.release.repository import MAX_METADATA_BYTES, METADATA

AnySigned = TypeVar("AnySigned", Root, Timestamp, Snapshot, Targets)

_ROOT_FILE = re.compile(r"([0-9]+)\.root\.json")


@dataclass
class State:
    """What the newest timestamp leads to, and what a change makes of it."""

    root: Root
    timestamp: Timestamp
    snapshot: Snapshot
    targets: Targets
    # Changed delegated roles by name.
    releases: dict[str, Targets] = field(default_factory=dict)


def metadata_path(folder: Path, name: str) -> Path:
    """Where a piece of metadata lies, such as `1.root`."""
    return folder / METADATA / f"{name}.json"


def delegated_roles(targets: Targets) -> dict[str, DelegatedRole]:
    """The releases that the targets delegate to, by name."""
    return {} if targets.delegations is None else targets.delegations.roles or {}


def read_state(folder: Path) -> State:
    """The repository as it stands.

    Args:
        folder: holds metadata/ and targets/.

    Raises:
        WorkspaceError: metadata are missing or damaged.
    """
    try:
        root = _newest_root(folder)
        timestamp = _load(folder, Timestamp, "timestamp", root, "timestamp")
        snapshot = _load(folder, Snapshot, f"{timestamp.snapshot_meta.version}.snapshot", root, "snapshot")
        targets = _load(folder, Targets, f"{snapshot.meta['targets.json'].version}.targets", root, "targets")
    except (RepositoryError, KeyError, ValueError) as error:
        raise _damaged() from error
    return State(root, timestamp, snapshot, targets)


def read_release(folder: Path, state: State, name: str) -> Targets:
    """A release's own metadata, the next version of which a change may write.

    Raises:
        WorkspaceError: they are damaged.
    """
    version = state.snapshot.meta[f"{name}.json"].version
    try:
        found = _load(folder, Targets, f"{version}.{name}", state.targets, name)
    except (RepositoryError, ValueError) as error:
        raise _damaged() from error
    return found


def _newest_root(folder: Path) -> Root:
    with map_os_errors(folder):
        versions = [
            int(match.group(1)) for path in (folder / METADATA).iterdir() if (match := _ROOT_FILE.fullmatch(path.name))
        ]
    if not versions:
        raise WorkspaceError(f"{folder.name}: expected a release repository, found none; restore it from a backup")
    data = read_bounded(metadata_path(folder, f"{max(versions)}.root"), MAX_METADATA_BYTES)
    metadata = Metadata[Root].from_bytes(data)
    metadata.signed.verify_delegate("root", metadata.signed_bytes, metadata.signatures)
    return metadata.signed


def _load(folder: Path, kind: type[AnySigned], file: str, delegator: Root | Targets, role: str) -> AnySigned:
    metadata = Metadata[AnySigned].from_bytes(read_bounded(metadata_path(folder, file), MAX_METADATA_BYTES))
    delegator.verify_delegate(role, metadata.signed_bytes, metadata.signatures)
    if not isinstance(metadata.signed, kind):
        raise RepositoryError(f"{file} is of another kind")
    return metadata.signed


def _damaged() -> WorkspaceError:
    return WorkspaceError(
        "releases: expected the metadata of a release repository, found damaged ones; restore the folder from a backup"
    )
