"""The pipeline that a hospital works with: that of its release, with the head that it has adapted where it has decided to use it.

A head belongs to one release. With another it is not used, and that is said; nor is one whose files have changed, and that is an error: what the
hospital has decided on is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from protocols.release.verification import VerifiedRelease
from shared.document import AnnotatedText
from shared.pipeline.adapted import adapted
from shared.pipeline.operating_points import load_points
from shared.pipeline.pipeline import Pipeline, load_pipeline
from shared.taggers.registry import load_head
from site_client.own_head.decided import read_decided
from site_client.own_head.record import OwnHead, read_own_head
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace


@dataclass(frozen=True)
class InUse:
    """What is used.

    Args:
        release: number of the release.
        own: the adapted head; None for that of the release.
        stale: number of the release of an adapted head that is not used, since the release is another; None where there is none.
    """

    release: int
    own: OwnHead | None = None
    stale: int | None = None

    @property
    def key(self) -> str:
        """What tells it from the same release with another head."""
        return "" if self.own is None else self.own.digest

    def lines(self) -> list[str]:
        """Which head is used, for people; nothing where a hospital never adapted any."""
        if self.own is not None:
            return [
                f"found by the head that this hospital adapted from release {self.release}, on {self.own.gain['notes']} notes of its own; `site-client adapt --undo` "
                "goes back"
            ]
        if self.stale is not None:
            return [
                f"found by the head of release {self.release}: the one that this hospital adapted is of release {self.stale}, and is not used; adapt again"
            ]
        return []

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {"adapted": self.own is not None, "adapted_from_stale_release": self.stale}


def in_use(workspace: Workspace, release: VerifiedRelease) -> InUse:
    """Which head is used with a release.

    Args:
        workspace: of the site.
        release: its pipeline.

    Raises:
        AdaptationError: the adapted head has changed since it was made.
        LedgerError: the ledger was changed.
    """
    number, digest = release.manifest.sequence, read_decided(workspace).in_use
    if not digest:
        return InUse(number)
    own = read_own_head(workspace, digest)
    return InUse(number, own) if own.release == release.digest else InUse(number, stale=own.sequence)


def load_in_use(workspace: Workspace, release: VerifiedRelease) -> tuple[Pipeline, InUse]:
    """The pipeline, and which head it has.

    Raises:
        AdaptationError, LedgerError: see `in_use`.
        EmbeddingError, ModelError: it does not load.
    """
    used, pipeline = in_use(workspace, release), load_pipeline(release.folder)
    if used.own is None:
        return pipeline, used
    folder = used.own.folder
    return adapted(pipeline, load_head(folder), load_points(folder), used.own.kept), used


def learned_from(workspace: Workspace, own: OwnHead | None, notes: Iterable[AnnotatedText]) -> frozenset[str] | None:
    """Ids of the notes that an adapted head has learned from, as they were, exported anew or edited.

    None where nobody knows: the key by which it knows them is lost, and there is another.

    Raises:
        WorkspaceError, StorageError: the key of the digests is lost, or can't be read.
        LedgerError: the ledger was changed.
    """
    if own is None or not own.learned.notes:
        return frozenset()
    key = DigestKey(workspace)
    if not key.has_made(own.notes_key):
        return None
    return frozenset(note.identifier for note in notes if own.learned.has(key, note.text))
