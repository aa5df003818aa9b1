"""A share while it is encoded: a draft in a folder beside its place, so that one that is there already stays whole until the new one is.

    .share.parquet.draft/   payload, manifest and report of the new share, under the names that they will have

The three take their names one after the other, the manifest last. Where the program is killed before, the earlier share is untouched; where
it is killed between, the payload in the place is the one that the manifest in the draft states, and the next `encode` puts the rest beside it first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import flush
from foundation.locks import hold_scratch
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from protocols.share.manifest_envelope import verify_manifest
from protocols.share.sealing import manifest_path, read_envelope
from shared.errors import ConfigurationError
from site_client.errors import SiteError
from site_client.sharing.approval import signed_manifest
from site_client.workspace import Workspace

REPORT_SUFFIX = ".report.json"


def report_path(share: Path) -> Path:
    """Where the report of a share lies: beside it."""
    return share.with_name(share.name + REPORT_SUFFIX)


@contextmanager
def drafted_share(workspace: Workspace, out: Path) -> Iterator[Path]:
    """Where to write a share that will lie at `out`; what was not put in its place is gone afterwards.

    Args:
        workspace: of the site.
        out: the payload.

    Raises:
        StorageError: no room, no permission, no such folder, a name too long, or another command writes a share there.
    """
    draft = _draft_of(out)
    # What lies beside it has the longest name: that it is too long is told before a note is read.
    with map_os_errors(out), suppress(FileNotFoundError):
        manifest_path(out).lstat()
    with hold_scratch(draft.parent, lambda: _complete(workspace, out), lambda: _was_cut(workspace, out)):
        yield draft


def put_in_place(draft: Path, out: Path) -> None:
    """Gives payload, report and manifest of a draft their names; those that are there are replaced.

    Raises:
        StorageError: no permission.
    """
    with map_os_errors(out):
        for written, place in (
            (draft, out),
            (report_path(draft), report_path(out)),
            (manifest_path(draft), manifest_path(out)),
        ):
            os.replace(written, place)
        flush(out.parent)


def _complete(workspace: Workspace, out: Path) -> None:
    """Gives a share whose `encode` was killed between the rest of it: what comes may fail, and the earlier one is gone already."""
    if _was_cut(workspace, out):
        draft = _draft_of(out)
        with suppress(FileNotFoundError):
            os.replace(report_path(draft), report_path(out))
        os.replace(manifest_path(draft), manifest_path(out))
        flush(out.parent)


def require_replaceable(workspace: Workspace, out: Path) -> None:
    """A slip of the name must cost no note: returns if nothing is there, or a share of this site; `encode` itself refuses one that was submitted.

    Raises:
        ConfigurationError: another file.
    """
    if out.exists() and not _is_share(workspace, out) and not _was_cut(workspace, out):
        raise ConfigurationError(
            f"--out: expected a new file or a share of this workspace to replace, found another file at {out.name}; choose another name"
        )


def require_whole(workspace: Workspace, share: Path) -> None:
    """Returns if no `encode` was killed while it put this share in its place.

    Raises:
        SiteError: one was.
    """
    if _was_cut(workspace, share):
        raise SiteError(
            f"{share.name}: expected a whole share, found one whose `encode` was ended while it put it in its place; give the same `encode` again"
        )


def _is_share(workspace: Workspace, out: Path) -> bool:
    try:
        stated = signed_manifest(workspace, out).manifest
        # Notes may have been written over the share, its manifest still beside them.
        return file_sha256(out) == stated.payload_sha256
    except (ProtocolError, StorageError):
        return False


def _was_cut(workspace: Workspace, out: Path) -> bool:
    draft = _draft_of(out)
    if not manifest_path(draft).is_file() or not out.is_file():
        return False
    try:
        manifest, _ = verify_manifest(
            read_envelope(draft), {workspace.site: workspace.public_keys}, manifest_path(draft).name
        )
        return file_sha256(out) == manifest.payload_sha256
    except (ProtocolError, StorageError):
        return False


def _draft_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.draft") / out.name
