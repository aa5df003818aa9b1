"""`site-client submit`: a share is verified once more and copied to where the provider fetches it, such as a stick."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from protocols.share import ShareExpectation, manifest_path, open_share
from protocols.storage import staged
from shared.files import storage_error
from site_client.errors import SiteError
from site_client.workspace import Workspace


def submit_to_folder(workspace: Workspace, path: Path, folder: Path) -> tuple[Path, Path]:
    """Copy payload and manifest into a folder under a name that says whose they are; the manifest comes last.

    Args:
        workspace: of the site.
        path: the payload, its manifest beside it.
        folder: on the stick.

    Returns:
        where both files lie now.

    Raises:
        ProtocolError: the share is damaged, not this site's, or of another release than the one in use.
        SiteError: there is something of that name already.
        StorageError: no room, no permission; nothing half-written stays.
    """
    expected = ShareExpectation(release=workspace.release().digest)
    manifest = open_share(path, public_keys={workspace.site: workspace.key().public_key}, expected=expected).manifest
    payload = folder / f"{manifest.site}-{manifest.sequence:04}{path.suffix}"
    if payload.exists():
        raise SiteError(
            f"{payload}: expected no share of this number there yet; it was submitted before, or choose another folder"
        )
    pair = ((path, payload), (manifest_path(path), manifest_path(payload)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source, target in pair:
            # Flushed before it is named: sticks are pulled out early.
            with staged(target) as temporary:
                shutil.copyfile(source, temporary)
    except BaseException as error:
        for _, target in pair:
            with suppress(OSError):
                target.unlink()
        if isinstance(error, OSError):
            raise storage_error(folder, error) from error
        raise
    return payload, manifest_path(payload)
