"""Whether a release brings hospitals anything: publishing the last one once more only makes them pull it again."""

from __future__ import annotations

from aggregator.errors import WorkspaceError
from protocols.release.manifest import FileEntry, ReleaseManifest

CARD, LICENCE = "MODEL_CARD.md", "LICENCE.md"


def check_changed(last: ReleaseManifest, release: ReleaseManifest) -> None:
    """Returns if a release is another than the last one in more than its number, its day and its model card.

    The same weights with another audit, licence or address of their word vectors, or other words to the reader, are another release.

    Raises:
        WorkspaceError: it is not.
    """
    if _content(last) == _content(release):
        raise WorkspaceError(
            f"expected something new to publish, got what release {last.sequence} holds already; train first, or run "
            "`aggregator renew` to sign the releases anew and `aggregator announce` to tell of a server"
        )


def _content(manifest: ReleaseManifest) -> tuple[str, str, dict[str, FileEntry]]:
    return manifest.kind, manifest.notes, {name: one for name, one in manifest.files.items() if name != CARD}
