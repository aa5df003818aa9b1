"""What `encode --out` may write over: a slip of the name must cost no note."""

from __future__ import annotations

from pathlib import Path

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from shared.errors import ConfigurationError
from site_client.sharing.approval import signed_manifest
from site_client.workspace import Workspace


def require_replaceable(workspace: Workspace, out: Path) -> None:
    """Returns if nothing is there, or a whole share of this site; `encode` itself refuses one that was submitted.

    Raises:
        ConfigurationError: another file.
    """
    if out.exists() and not _is_share(workspace, out):
        raise ConfigurationError(
            f"--out: expected a new file or a share of this workspace to replace, found another file at {out.name}; choose another name"
        )


def _is_share(workspace: Workspace, out: Path) -> bool:
    try:
        stated = signed_manifest(workspace, out).manifest
        # Notes may have been written over the share, its manifest still beside them.
        return file_sha256(out) == stated.payload_sha256
    except (ProtocolError, StorageError):
        return False
