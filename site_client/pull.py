"""`site-client pull`: a release from a folder or a stick, verified before it is used.

The first pull pins the provider's key: the person at the hospital gives the fingerprint that the provider told them over
another channel. Later pulls accept that key only, and never an older release than the one in use.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from protocols.release import VerifiedRelease, copy_release
from protocols.signing import PublicKey
from shared.files import read_text
from shared.pipeline import load_encoder, load_pipeline
from site_client.errors import SiteError
from site_client.workspace import Workspace

KEY_NAME = "provider.key"


def provider_key(workspace: Workspace, source: Path, fingerprint: str | None) -> PublicKey:
    """The key that a release must be signed with.

    Args:
        workspace: a pinned key in it decides alone.
        source: folder of the release; on the first pull the provider's public key lies beside it.
        fingerprint: as the provider said it over another channel, in digits or spoken.

    Raises:
        SiteError: no key is pinned and the fingerprint is missing or another one.
    """
    if workspace.provider is not None:
        return workspace.provider
    key = PublicKey.from_hex(read_text(source.resolve().parent / KEY_NAME).strip())
    if fingerprint not in (key.key_id, key.spoken):
        raise SiteError(
            f"expected --fingerprint {key.key_id} as the provider told you over a channel that you trust, "
            f"got {'another one' if fingerprint else 'none'}; ask for it, and pull only if both agree"
        )
    return key


def pull(workspace: Workspace, source: Path, provider: PublicKey) -> tuple[Workspace, VerifiedRelease]:
    """Copy a release into the workspace and work with it from now on.

    Args:
        workspace: of the site.
        source: folder of the release.
        provider: the key that must have signed it.

    Raises:
        ProtocolError: the release is damaged, or not signed by the provider.
        SiteError: it is older than the release in use.
        ModelError, EmbeddingError: its models do not load; the release in use stays as it was.
    """
    release = copy_release(source, workspace.releases / source.resolve().name, provider)
    if workspace.current is not None:
        used = workspace.release().manifest.sequence
        if release.manifest.sequence < used:
            raise SiteError(
                f"expected release {used} or a later one, got {release.manifest.sequence}; ask the provider for the latest"
            )
    # Whatever does not load must not become the release in use.
    (load_pipeline if release.manifest.kind == "pipeline" else load_encoder)(release.folder)
    updated = replace(workspace, provider=provider, current=release.folder.name)
    updated.save()
    return updated, release
