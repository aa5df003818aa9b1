"""What a share must be made for to be taken in: the representer that is published, and the label scheme of the pool."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from aggregator.publishing.releases import compatible_releases
from aggregator.workspace import Workspace
from foundation.files import write_bytes
from protocols.errors import BoundsError, OtherReleaseError
from protocols.share.manifest import ShareManifest
from protocols.share.sealing import ShareExpectation
from shared.models.representer import Representer
from shared.models.storage import load_representer
from shared.models.token_local import TokenLocal
from shared.privacy.enforcement import MAX_FACTOR, raised_value_bound

_ROUNDING = 1e-6
_FILES = ("representer.json", "representer.safetensors")
_MAX_FILE_BYTES = 1 << 30


@dataclass(frozen=True)
class ShareTerms:
    """The terms.

    Args:
        releases: digests of the releases of the representer that was published last.
        expected: recipient, label scheme and width.
        value_bound: the largest bound on the norm of a representation that a share may state.
    """

    releases: frozenset[str]
    expected: ShareExpectation
    value_bound: float

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
        if manifest.value_bound > self.value_bound * (1 + _ROUNDING):
            raise BoundsError(
                f"a value bound of {self.value_bound:.4g} at most, that of the representer",
                received=f"{manifest.value_bound:.4g}",
                advice="encode the notes again",
                place=place,
            )


def share_terms(workspace: Workspace) -> ShareTerms:
    """The terms of today.

    Raises:
        WorkspaceError: no representer is published yet.
        ProtocolError: a release is damaged.
    """
    compatible = compatible_releases(workspace)
    representer = _representer(workspace, next(iter(compatible.values())).name)
    expected = ShareExpectation(
        label_scheme=workspace.scheme.name,
        tags=len(workspace.scheme.tags),
        dim=representer.config.dim,
        recipient=workspace.key().public_key.key_id,
    )
    # A site may raise the noise of its sentences.
    return ShareTerms(frozenset(compatible), expected, raised_value_bound(representer, MAX_FACTOR))


def _representer(workspace: Workspace, release: str) -> Representer | TokenLocal:
    """The representer that was published: that of the workspace may be a later one."""
    repository = workspace.repository()
    with tempfile.TemporaryDirectory() as folder:
        for name in _FILES:
            write_bytes(Path(folder) / name, repository.read(f"{release}/{name}", _MAX_FILE_BYTES))
        return load_representer(Path(folder))
