"""The site's signing keys over time: the request that enrols the first, rotations to the next, warnings ahead of the end.

A new key waits until the provider's acceptance is here, signed by the provider; until then the old one signs. Who takes a new
key into use earlier would sign what nobody accepts. A key that has ended, was lost or was stolen vouches for none: the next one
is enrolled as the first was, in the same workspace, which alone knows what has left.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

from foundation.errors import StorageError
from protocols.fields import LINE, check_text
from protocols.keys.enrolment import SiteRequest, write_request
from protocols.keys.rotation import Acceptance, Rotation, read_acceptance
from protocols.keys.signed_message import claimed_sender
from protocols.keys.signing import PrivateKey
from site_client import ledger
from site_client.errors import SiteError
from site_client.ledger import Event
from site_client.trust import Trust
from site_client.workspace import VALID_DAYS, KeyState, SiteKey, Workspace

OVERLAP_DAYS = 30
WARNING_DAYS = 30
# A release is confirmed anew every month or so.
RELEASE_WARNING_DAYS = 7


def request_enrolment(
    workspace: Workspace, out: Path, contact: str, day: datetime.date, *, new_key: bool = False
) -> SiteRequest:
    """Write the request with which the site joins, or joins again.

    Args:
        workspace: of the site.
        out: where to.
        contact: whom the provider may ask.
        day: today.
        new_key: whether the key in use is retired for a new one. No provider takes it as long as the old one counts there.

    Raises:
        SiteError: the key in use has ended.
        StorageError: there is no folder for it.
        ProtocolError: see `write_request`.
    """
    check_text(contact, LINE, "contact")
    if not out.parent.is_dir():
        # Before the ledger tells of a request that nobody gets.
        raise StorageError(
            "a folder that it lies in",
            received="none",
            advice="check the path, and make the folder where it is missing",
            place=out.name,
        )
    if new_key:
        workspace = workspace.update_settings(lambda now: _with_new_key(now, day))
    elif workspace.key_in_use.valid_until <= day:
        raise _ended(workspace)
    key = workspace.key_in_use
    ledger.record(workspace, Event.ENROLMENT_REQUESTED, {"contact": contact, "key": key.key_id})
    return write_request(
        out, workspace.key(), site=workspace.site, contact=contact, created=day, valid_until=key.valid_until
    )


def _with_new_key(workspace: Workspace, day: datetime.date) -> Workspace:
    old, made = workspace.key_in_use, PrivateKey.generate()
    workspace.store_key(made)
    # What it has signed and is not sent yet nobody takes any more.
    ended = replace(old, state=KeyState.RETIRED, valid_until=min(old.valid_until, day - datetime.timedelta(days=1)))
    kept = (key for key in workspace.keys if key.state == KeyState.RETIRED)
    new = SiteKey(made.public_key, day + datetime.timedelta(days=VALID_DAYS), KeyState.IN_USE)
    changed = replace(workspace, keys=(*kept, ended, new))
    # Recorded by the new key: the old one may be lost, and says nothing for whoever has stolen it. So it is known first.
    changed.save()
    ledger.record(changed, Event.KEY_REPLACED, {"key": new.key_id, "old": old.key_id})
    return changed


def _ended(workspace: Workspace) -> SiteError:
    return SiteError(
        f"expected a key that is still valid, found one until {workspace.key_in_use.valid_until}, which vouches for nothing; run "
        "`site-client enrol --new-key` in this workspace, and tell the provider the new fingerprint"
    )


def rotation(workspace: Workspace, day: datetime.date, overlap_days: int = OVERLAP_DAYS) -> tuple[Workspace, bytes]:
    """A new key that waits, and the rotation that asks the provider for it; a key that waits already is asked for again.

    Args:
        workspace: of the site.
        day: today.
        overlap_days: how long the old key stays valid.

    Returns:
        the workspace with the key, saved; the bytes to send.

    Raises:
        SiteError: the key in use has ended.
    """
    if workspace.key_in_use.valid_until < day:
        raise _ended(workspace)
    workspace = workspace.update_settings(lambda now: _with_waiting_key(now, day))
    waiting = next(key for key in workspace.keys if key.state == KeyState.WAITING)
    old, new = workspace.key(), workspace.load_key(waiting.key_id)
    asked = Rotation(workspace.site, old.public_key, new.public_key, day, waiting.valid_until, overlap_days)
    data = asked.to_bytes(old, new)
    ledger.record(workspace, Event.ROTATION_REQUESTED, {"key": waiting.key_id, "old": old.public_key.key_id})
    return workspace, data


def _with_waiting_key(workspace: Workspace, day: datetime.date) -> Workspace:
    if any(key.state == KeyState.WAITING and key.valid_until > day for key in workspace.keys):
        return workspace
    made = PrivateKey.generate()
    workspace.store_key(made)
    waiting = SiteKey(made.public_key, day + datetime.timedelta(days=VALID_DAYS), KeyState.WAITING)
    return replace(workspace, keys=(*(key for key in workspace.keys if key.state != KeyState.WAITING), waiting))


def take_into_use(workspace: Workspace, acceptance: bytes) -> tuple[Workspace, Acceptance]:
    """Sign with the new key from now on, if the provider has accepted it. The same acceptance again changes nothing.

    Raises:
        SignatureError: not signed by the provider.
        SiteError: for another site, or for a key that does not wait here.
    """
    day = datetime.datetime.now(datetime.UTC).date()
    _, key_id = claimed_sender(acceptance, "acceptance")
    accepted = read_acceptance(acceptance, workspace.pinned_provider().signer(key_id, day))
    return workspace.update_settings(lambda now: _with_key_in_use(now, accepted)), accepted


def _with_key_in_use(workspace: Workspace, accepted: Acceptance) -> Workspace:
    found = {key.key_id: key for key in workspace.keys}.get(accepted.new_key.key_id)
    if accepted.site != workspace.site or found is None or found.state == KeyState.RETIRED:
        raise SiteError("expected the acceptance of a key that waits here, got another; run `site-client keys show`")
    if found.state == KeyState.IN_USE:
        return workspace
    # Recorded by the old key: it vouches for the new one in the ledger too.
    ledger.record(workspace, Event.ROTATION_ACCEPTED, {"key": found.key_id, "old": workspace.key_in_use.key_id})
    return replace(workspace, keys=tuple(_after(key, accepted) for key in workspace.keys))


def _after(key: SiteKey, accepted: Acceptance) -> SiteKey:
    if key.public_key == accepted.new_key:
        return replace(key, state=KeyState.IN_USE, valid_until=accepted.valid_until)
    if key.state == KeyState.IN_USE:
        return replace(key, state=KeyState.RETIRED, valid_until=accepted.old_key_until)
    return key


def expiry_lines(workspace: Workspace, day: datetime.date) -> list[str]:
    """What ends soon, or has ended, and what to do."""
    lines = []
    left = (workspace.key_in_use.valid_until - day).days
    if left <= WARNING_DAYS:
        ends, command = ("was", "enrol --new-key") if left < 0 else ("is", "keys rotate")
        lines.append(
            f"the key of this site {ends} valid until {workspace.key_in_use.valid_until}: run `site-client {command}`"
        )
    provider = workspace.provider
    if provider is not None and (provider.valid_until - day).days <= WARNING_DAYS:
        lines.append(f"the provider's keys are valid until {provider.valid_until}: run `site-client pull`")
    trust = Trust.load(workspace.trust)
    if trust is not None and (trust.valid_until - day).days <= RELEASE_WARNING_DAYS:
        lines.append(
            f"the release in use was good until {trust.valid_until} by what the provider last signed: run `site-client pull`"
        )
    return lines
