"""What a share must be made for to be taken in: the representer that is published, and the label scheme of the pool."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from aggregator.enrolled.overlap_key import overlap_key
from aggregator.ingestion.known_rows import find_known_rows
from aggregator.publishing.releases import compatible_releases
from aggregator.workspace import Workspace
from foundation.secret_files import SECRET_BYTES
from protocols.errors import BoundsError, OtherReleaseError
from protocols.payload.codes import CodeList
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import ShareExpectation
from shared.constructions.rows import ShareRows


@dataclass(frozen=True)
class ShareTerms:
    """The terms.

    Args:
        releases: digests of the releases of the representer that was published last.
        expected: recipient, label scheme, width and feature columns.
        rows: what the rows of a share must keep to, whatever bound of its own it states.
        codebook: file of the rows that these releases can show; None where noise makes any row possible.
        exact: as in `protocols.payload.codebook.Codebook`.
        codes: where the codes of these releases may stand; None where tokens are shown by rows.
        overlap_key: secret of the digests by which sentences are known again.
        earlier: ids of earlier keys of the provider, for which a share may still be.
    """

    releases: frozenset[str]
    expected: ShareExpectation
    rows: ShareRows
    codebook: Path | None = None
    exact: bool = True
    codes: CodeList | None = None
    overlap_key: bytes = bytes(SECRET_BYTES)
    earlier: frozenset[str] = frozenset()

    def expected_of(self, manifest: ShareManifest) -> ShareExpectation:
        """What is expected of a share that may be for an earlier key of the provider."""
        return (
            replace(self.expected, recipient=manifest.recipient)
            if manifest.recipient in self.earlier
            else self.expected
        )

    def check(self, manifest: ShareManifest) -> None:
        """Returns if a share was made for these releases, with noise that they allow.

        Raises:
            OtherReleaseError: made with another release.
            BoundsError: a larger bound.
        """
        place = f"share {manifest.sequence} of {manifest.site}"
        if manifest.release not in self.releases:
            raise OtherReleaseError(
                "a share made with a release of the representer published last",
                received=f"release {manifest.release[:12]}",
                advice="pull the release and encode the notes again",
                place=place,
            )
        if not self.rows.allows(manifest.value_bound):
            raise BoundsError(
                f"a value bound of {self.rows.value_bound:.4g} at most, that of the representer",
                received=f"{manifest.value_bound:.4g}",
                advice="encode the notes again",
                place=place,
            )


def share_terms(workspace: Workspace) -> ShareTerms:
    """The terms of today.

    Raises:
        WorkspaceError: no representer is published yet.
        ProtocolError: a release is damaged.
        StorageError: as `overlap_key`.
    """
    compatible = compatible_releases(workspace)
    newest, *earlier = (key.key_id for key in workspace.signing_keys())
    known = find_known_rows(workspace, next(iter(compatible.values())))
    expected = ShareExpectation(
        label_scheme=workspace.scheme.name,
        tags=len(workspace.scheme.tags),
        dim=known.rows.dim,
        features=known.rows.features,
        recipient=newest,
    )
    return ShareTerms(
        frozenset(compatible),
        expected,
        known.rows,
        known.codebook,
        known.exact,
        known.codes,
        overlap_key(workspace),
        frozenset(earlier),
    )
