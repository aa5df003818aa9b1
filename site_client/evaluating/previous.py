"""The pipeline that was in use before the one that is, where its files are still here.

Settings name the releases in use only. What was pulled before stands in the ledger, which the site signs: a folder that is not in it, or
not as it was then, is passed over.
"""

from __future__ import annotations

from foundation.reading import file_sha256
from protocols.release.repository import RELEASE_NAME, newest_pipeline, release_sequence
from protocols.release.verification import MANIFEST_NAME, VerifiedRelease, verify_release
from site_client.ledger import Event, entries
from site_client.workspace import Workspace


def find_previous(workspace: Workspace) -> VerifiedRelease | None:
    """The newest pipeline older than the one in use, verified anew; None where none is left.

    Raises:
        LedgerError: the ledger was changed.
        ProtocolError: its files have changed since it was pulled.
    """
    if workspace.pipeline is None or not workspace.releases.is_dir():
        return None
    older = [
        path.name
        for path in workspace.releases.iterdir()
        if RELEASE_NAME.fullmatch(path.name)
        and release_sequence(path.name) < workspace.pipeline.sequence
        and (path / MANIFEST_NAME).is_file()
    ]
    name = newest_pipeline(older)
    if name is None:
        return None
    folder = workspace.releases / name
    digest = file_sha256(folder / MANIFEST_NAME)
    pulled = {entry.details.get("release") for entry in entries(workspace) if entry.event == Event.RELEASE_EXAMINED}
    return verify_release(folder, digest) if digest in pulled else None
