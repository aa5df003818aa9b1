"""The site's secret for noise that is drawn once for each sentence (see `shared.models.noise_source.MemoisedNoise`).

32 bytes from the operating system in a file that its owner alone may read; they never leave the site. Who has them and
a share can take the noise off. Without it sentences that were shared before would get fresh noise when they are shared
again, and noise of several draws averages out: keep it in the backup of the workspace.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from shared.models.noise_source import SECRET_BYTES
from site_client.errors import WorkspaceError


def noise_secret(path: Path) -> bytes:
    """The secret in a file.

    Raises:
        WorkspaceError: there is none, it is damaged, or others than its owner may read it.
        StorageError: it can't be read.
    """
    if not path.exists():
        raise WorkspaceError(
            f"{path.name}: expected the secret of the noise of earlier shares, found no file; restore it from the backup of the "
            "workspace, or, if it is lost for good, give `encode --new-noise`: sentences that were shared before then get another "
            "draw, and who has both shares has less noise"
        )
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise WorkspaceError(
            f"{path.name}: expected a file that only its owner can read, found wider rights; run chmod 600 {path.name}"
        )
    secret = read_bounded(path, 2 * SECRET_BYTES)
    if len(secret) != SECRET_BYTES:
        raise WorkspaceError(
            f"{path.name}: expected {SECRET_BYTES} bytes, got {len(secret)}; restore the file from a backup"
        )
    return secret


def make_noise_secret(path: Path) -> None:
    """Makes the file, whole, where there is none; of two that make it at once the first wins, so that all use the same secret.

    Raises:
        StorageError: no room, no permission.
    """
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        write_bytes(draft, secrets.token_bytes(SECRET_BYTES))
        with map_os_errors(path), suppress(FileExistsError):
            os.link(draft, path)
    finally:
        with map_os_errors(draft):
            draft.unlink(missing_ok=True)
