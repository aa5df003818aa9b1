"""The enrolled hospitals: one signed request each, approved after its fingerprint was compared out of band."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import RegistryError, WorkspaceError
from aggregator.workspace import Workspace
from protocols.enrolment import MAX_REQUEST_BYTES, SiteRequest, read_request
from protocols.signing import PublicKey
from protocols.storage import read_bounded, staged
from shared.files import read_text, write_bytes, write_text

_REVOKED = "revoked.json"


@dataclass(frozen=True)
class Site:
    """An enrolled hospital.

    Args:
        request: what it signed.
        revoked: the reason, if the provider takes no shares from it any more.
    """

    request: SiteRequest
    revoked: str | None

    @property
    def name(self) -> str:
        return self.request.site


def enrolled(workspace: Workspace) -> list[Site]:
    """All sites, by name."""
    revoked = _revoked(workspace)
    requests = [read_request(path) for path in sorted(workspace.sites.glob("*.request.json"))]
    return [Site(request, revoked.get(request.site)) for request in requests]


def site_keys(workspace: Workspace) -> dict[str, PublicKey]:
    """Key of every site whose shares are taken."""
    return {site.name: site.request.public_key for site in enrolled(workspace) if site.revoked is None}


def enrol(workspace: Workspace, path: Path, fingerprint: str) -> SiteRequest:
    """Take in a site's request.

    Args:
        workspace: where to.
        path: the request file.
        fingerprint: as the site said it over another channel, in digits or spoken.

    Raises:
        RegistryError: another fingerprint, or a site of that name is there already.
        ProtocolError: the request is damaged or not signed by its own key.
    """
    request = read_request(path)
    if fingerprint not in (request.fingerprint, request.spoken):
        raise RegistryError(
            # Not telling the right one: whoever copied it from here would have compared nothing.
            f"{request.site}: expected the fingerprint of the key in the request, got another; "
            "ask the site over a channel that you trust, and do not enrol it before both agree"
        )
    target = workspace.sites / f"{request.site}.request.json"
    if target.exists():
        raise RegistryError(f"{request.site}: there is a site of that name already; choose another name or revoke it")
    # What is kept is what was compared, whole or not at all, even if the file changes meanwhile.
    with staged(target) as temporary:
        write_bytes(temporary, read_bounded(path, MAX_REQUEST_BYTES))
        if read_request(temporary) != request:
            raise RegistryError(
                f"{path.name}: expected the request that was compared, got another; enrol the site again"
            )
    return request


def revoke(workspace: Workspace, name: str, reason: str) -> None:
    """Take no shares from a site any more; those accepted stay.

    Raises:
        RegistryError: no such site.
    """
    if name not in {site.name for site in enrolled(workspace)}:
        raise RegistryError(f"{name}: expected an enrolled site; see `aggregator site list`")
    write_text(workspace.sites / _REVOKED, json.dumps(_revoked(workspace) | {name: reason}, indent=1, sort_keys=True))


def _revoked(workspace: Workspace) -> dict[str, str]:
    path = workspace.sites / _REVOKED
    if not path.exists():
        return {}
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise WorkspaceError(f"{path.name}: expected the list of revoked sites; restore the file") from error
    if not isinstance(found, dict):
        raise WorkspaceError(f"{path.name}: expected the list of revoked sites; restore the file")
    return {str(name): str(reason) for name, reason in found.items()}
