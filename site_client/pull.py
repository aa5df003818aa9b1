"""`site-client pull`: a release from a folder or a stick, verified before it is used.

The first pull pins the provider's key: the person at the hospital gives the fingerprint that the provider told them over
another channel. Later pulls accept that key only, and never an older release than the one in use.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from protocols.release import VerifiedRelease, copy_release, verify_release
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
    pinned = workspace.provider
    if pinned is not None:
        if fingerprint not in (None, pinned.key_id, pinned.spoken):
            raise SiteError(
                "expected the fingerprint of the provider that this workspace knows, got another one; "
                "leave it out, or make a new workspace for another provider"
            )
        return pinned
    key = PublicKey.from_hex(read_text(source.resolve().parent / KEY_NAME).strip())
    if fingerprint not in (key.key_id, key.spoken):
        raise SiteError(
            # Not telling the right one: whoever copied it from here would have compared nothing.
            "expected --fingerprint as the provider told you over a channel that you trust, "
            f"got {'another one than that of the key beside the release' if fingerprint else 'none'}; "
            "ask the provider for it, and pull only if both agree"
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
        SiteError: it is older than the release in use, or another one of the same number.
        ModelError, EmbeddingError: its models do not load; the release in use stays as it was.
    """
    offered = verify_release(source, provider)
    if workspace.current is not None:
        _check_not_older(offered, workspace.release())
    target = workspace.releases / source.resolve().name
    new = not target.exists()
    workspace.releases.mkdir(exist_ok=True)
    release = copy_release(source, target, provider)
    try:
        if release.digest != offered.digest:
            raise SiteError(f"{source.name}: the release changed while it was copied; pull it again")
        # Whatever does not load must not become the release in use.
        (load_pipeline if release.manifest.kind == "pipeline" else load_encoder)(release.folder)
        updated = replace(workspace, provider=provider, current=release.folder.name)
        updated.save()
    except BaseException:
        if new:
            shutil.rmtree(target, ignore_errors=True)
        raise
    return updated, release


def _check_not_older(offered: VerifiedRelease, used: VerifiedRelease) -> None:
    sequence = used.manifest.sequence
    if offered.manifest.sequence < sequence:
        raise SiteError(
            f"expected release {sequence} or a later one, got {offered.manifest.sequence}; ask the provider for the latest"
        )
    if offered.manifest.sequence == sequence and offered.digest != used.digest:
        raise SiteError(f"expected one release {sequence}, got a second one of that number; tell the provider")
