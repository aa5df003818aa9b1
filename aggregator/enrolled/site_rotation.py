"""A site changes its key: its old one has signed the new one, so nobody has to compare a fingerprint again.

Every key that counts is read with every share of everybody. So a site that asks by itself gets one key a day, and no more of
them count at once than MOST_KEYS; what the provider's own people bring is limited by nothing but them.
"""

from __future__ import annotations

import datetime

from aggregator.enrolled.sites import (
    OPERATOR,
    RESERVED,
    add_key,
    as_day,
    keys_in,
    last_second,
    record_event,
    today,
    vouching_key,
)
from aggregator.errors import RegistryError
from aggregator.registry.states import KeyState
from aggregator.registry.tables import SiteKeyRow
from aggregator.workspace import Workspace
from protocols.keys.rotation import Acceptance, Rotation, parse_rotation
from protocols.keys.signing import PublicKey

MOST_KEYS = 3


def rotate(workspace: Workspace, data: bytes, *, by_site: bool = False) -> bytes:
    """Take in a site's new key; the old one counts for the days of overlap. Asked again, the answer is the same.

    Args:
        workspace: where to.
        data: a rotation, as the site signed it.
        by_site: whether the site asks by itself, and no person of the provider has brought it.

    Returns:
        the acceptance for the site, signed.

    Raises:
        ProtocolError: it is damaged, or not signed by both of its keys.
        RegistryError: its old key is not the key that the site signs with now, its new key was there before, or the site asks
            for more keys than it may, or has a name that the log has for the provider.
    """
    rotation = parse_rotation(data)
    if rotation.site in RESERVED:
        raise RegistryError(
            f"{rotation.site}: expected a rotation of a hospital, got one under a name that the log has for the provider itself; revoke that "
            "site, and let it enrol under another name"
        )
    day = today()
    with workspace.registry().transaction() as session:
        old, new = (session.get(SiteKeyRow, key.key_id) for key in (rotation.old_key, rotation.new_key))
        counting = {key.hex for key in keys_in(session, day, rotation.site).get(rotation.site, ())}
        if old is not None and new is not None and new.public_key in counting and vouching_key(new) == old.key_id:
            return _acceptance(workspace, new, old)
        if old is None or old.state != KeyState.ACTIVE or old.public_key not in counting:
            raise RegistryError(
                f"{rotation.site}: expected a rotation signed by the key that the site signs with now, got another, "
                "expired or revoked; let it run `site-client enrol --new-key`, and compare the fingerprint of its request"
            )
        if by_site:
            _check_pace(rotation.site, old, len(counting), day)
        new = add_key(session, rotation.site, rotation.new_key, data, (day, rotation.valid_until))
        until = _overlap_end(rotation, old, day)
        old.state, old.valid_until = KeyState.RETIRED, last_second(until)
        record_event(
            session,
            "key-rotated",
            rotation.site,
            actor=rotation.site if by_site else OPERATOR,
            old=old.key_id,
            key=new.key_id,
            old_until=until.isoformat(),
            until=rotation.valid_until.isoformat(),
        )
        return _acceptance(workspace, new, old)


def _check_pace(site: str, old: SiteKeyRow, counting: int, day: datetime.date) -> None:
    """Returns if a site may have one more key; the one that it signs with is the one that it rotated to last."""
    if as_day(old.valid_from) >= day and vouching_key(old) is not None:
        raise RegistryError(
            f"{site}: expected one rotation a day, got another; rotate tomorrow, or ask the provider to take it in"
        )
    if counting >= MOST_KEYS:
        raise RegistryError(
            f"{site}: expected at most {MOST_KEYS} keys that count at once, got another; "
            "wait until one ends, or ask the provider to take it in"
        )


def _overlap_end(rotation: Rotation, old: SiteKeyRow, day: datetime.date) -> datetime.date:
    return min(as_day(old.valid_until), day + datetime.timedelta(days=rotation.overlap_days))


def _acceptance(workspace: Workspace, new: SiteKeyRow, old: SiteKeyRow) -> bytes:
    """Ed25519 is deterministic: the same rows give the same bytes."""
    key = PublicKey.from_hex(new.public_key)
    answer = Acceptance(new.site, key, as_day(new.valid_from), as_day(new.valid_until), as_day(old.valid_until))
    return answer.to_bytes(workspace.key())
