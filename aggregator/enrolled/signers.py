"""Whether the key that signed a share counts: asked when it comes, when it is decided, and when a person lets it count after all."""

from __future__ import annotations

import datetime

from sqlalchemy.orm import Session

from aggregator.enrolled.sites import as_day, keys_in
from aggregator.registry.states import KeyState, SiteState
from aggregator.registry.tables import ShareRow, SiteKeyRow, SiteRow
from aggregator.registry.times import as_moment
from protocols.errors import UnknownSignerError
from protocols.keys.signing import PublicKey
from protocols.share.manifest_envelope import verify_manifest


def arrival_day(row: ShareRow) -> datetime.date:
    """The day on which a share came: the keys of that day count for it."""
    return as_moment(row.received_at).date()


def check_signer(session: Session, site: str, key: PublicKey | None, day: datetime.date) -> None:
    """Returns if a key counts, now that nobody can revoke it before the transaction ends."""
    if key is None or key not in keys_in(session, day, site).get(site, ()):
        raise UnknownSignerError(
            "a share signed with a key that counts for its site",
            received="one of a key or site that was revoked",
            advice="enrol the site again, or seal the share with its present key",
            place=site,
        )


def check_signed(session: Session, row: ShareRow) -> None:
    """The same of a share that was set aside, by its signed manifest. A key that is merely over counted when the share came.

    Args:
        session: of any kind.
        row: the share.

    Raises:
        UnknownSignerError: its key or site was revoked since, or nobody has signed it.
    """
    place = f"share {row.sequence} of {row.site}"
    try:
        if row.manifest is not None:
            verify_manifest(row.manifest, keys_in(session, arrival_day(row), row.site), place)
            return
    except UnknownSignerError:
        # It says what a hospital does, not the person who decides.
        pass
    raise UnknownSignerError(
        "a share signed with a key that counts for its site",
        received="one of a key or site that was revoked since it was set aside",
        advice="reject it, and let the site share those notes again with its present key",
        place=place,
    )


def explain_uncounted(
    session: Session, site: str, key_id: str, day: datetime.date, what: str, place: str
) -> UnknownSignerError | None:
    """Why a key of a site does not count on a day, and what to do; None of a site or key that nobody has enrolled.

    Args:
        session: of any kind.
        site: its name.
        key_id: of the key.
        day: by the provider's clock.
        what: the key has signed, such as "a share".
        place: name for messages.
    """
    row, key = session.get(SiteRow, site), session.get(SiteKeyRow, key_id)
    if row is None:
        return None
    if row.state == SiteState.REVOKED:
        received, advice = "one of a site that was revoked", "take nothing from it, unless it is enrolled again"
    elif key is None or key.site != site:
        return None
    elif key.state == KeyState.REVOKED:
        received, advice = "one by a key that was revoked", "refuse it, and let the site sign with its present key"
    elif day < (first := as_day(key.valid_from)):
        received, advice = f"one by a key that counts from {first} on", "set the provider's clock, then repeat"
    else:
        last = as_day(key.valid_until)
        received, advice = f"one by a key that counted until {last}", "let the site sign with its present key"
    return UnknownSignerError(
        f"{what} signed with a key that counts for its site", received=received, advice=advice, place=place
    )
