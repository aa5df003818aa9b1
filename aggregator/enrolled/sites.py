"""The enrolled hospitals and their keys: one request compared out of band, then keys that vouch for the next ones.

A key counts on the days from `valid_from` to `valid_until` of the provider's clock, in UTC, unless it or its site was revoked.
Every change and its event in the audit log are one transaction.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import KeyState, SiteState
from aggregator.registry.tables import SiteKeyRow, SiteRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, parse_canonical
from protocols.keys.enrolment import MAX_REQUEST_BYTES, MAX_VALID_DAYS, SiteRequest, parse_request
from protocols.keys.rotation import MAX_ROTATION_BYTES, parse_rotation
from protocols.keys.signing import PublicKey

WARNING_DAYS = 30
OPERATOR = "operator"
RESERVED = frozenset({OPERATOR, "server"})
"""By these the audit log calls who acts for the provider; a site of such a name would act as the provider there."""


@dataclass(frozen=True)
class SiteKey:
    """A key of a site.

    Args:
        public_key: checks its signatures.
        valid_from: first day.
        valid_until: last day.
        state: whether it signs now, another has followed it, or it is revoked.
    """

    public_key: PublicKey
    valid_from: datetime.date
    valid_until: datetime.date
    state: KeyState

    @property
    def key_id(self) -> str:
        """Of the public key."""
        return self.public_key.key_id

    def counts_on(self, day: datetime.date) -> bool:
        """Whether signatures that arrive on a day are taken."""
        return self.state != KeyState.REVOKED and self.valid_from <= day <= self.valid_until


@dataclass(frozen=True)
class Site:
    """An enrolled hospital.

    Args:
        name: as its shares state it.
        contact: whom to ask; may be empty.
        revoked: the reason, if the provider takes no shares from it any more.
        keys: oldest first.
    """

    name: str
    contact: str
    revoked: str | None
    keys: tuple[SiteKey, ...]

    def keys_on(self, day: datetime.date) -> tuple[SiteKey, ...]:
        """Those that count on a day."""
        return () if self.revoked is not None else tuple(key for key in self.keys if key.counts_on(day))

    def expires(self, day: datetime.date) -> datetime.date | None:
        """The last day on which any of its keys counts, if none that counts on `day` lasts WARNING_DAYS more."""
        last = max((key.valid_until for key in self.keys_on(day)), default=None)
        return last if last is not None and (last - day).days <= WARNING_DAYS else None


def list_sites(workspace: Workspace) -> list[Site]:
    """All sites, by name."""
    with workspace.registry().reading() as session:
        return _sites(session)


def site_keys(workspace: Workspace, on: datetime.date) -> Mapping[str, Sequence[PublicKey]]:
    """The keys that count on a day, of every site whose shares are taken, newest first."""
    with workspace.registry().reading() as session:
        return keys_in(session, on)


def keys_in(session: Session, on: datetime.date, site: str | None = None) -> dict[str, list[PublicKey]]:
    """`site_keys` inside a transaction, of one site alone where it is named. Keys that are over cost nothing."""
    query = (
        select(SiteKeyRow)
        .join(SiteRow, SiteRow.name == SiteKeyRow.site)
        .where(
            SiteRow.state != SiteState.REVOKED,
            SiteKeyRow.state != KeyState.REVOKED,
            SiteKeyRow.valid_from <= last_second(on),
            SiteKeyRow.valid_until >= _first_second(on),
        )
    )
    if site is not None:
        query = query.where(SiteKeyRow.site == site)
    found: dict[str, list[PublicKey]] = {}
    for row in reversed(_oldest_first(session.scalars(query))):
        found.setdefault(row.site, []).append(PublicKey.from_hex(row.public_key))
    return found


def enrol(workspace: Workspace, path: Path, fingerprint: str) -> SiteRequest:
    """`enrol_request` of a file.

    Raises:
        RegistryError, ProtocolError: as `enrol_request`.
        StorageError: the file can't be read.
    """
    return enrol_request(workspace, read_bounded(path, MAX_REQUEST_BYTES), fingerprint, place=path.name)


def enrol_request(
    workspace: Workspace, data: bytes, fingerprint: str, *, place: str = "request", actor: str = OPERATOR
) -> SiteRequest:
    """Take in a site's request. A site of which no key counts any more is taken in again, with a new key.

    Args:
        workspace: where to.
        data: the request.
        fingerprint: as the site said it over another channel, in digits or spoken.
        place: name of the request, for messages.
        actor: who takes it in.

    Raises:
        RegistryError: another fingerprint, a name that the log has for the provider, a site of that name with a key that counts, or a
            key that was there before.
        ProtocolError: the request is damaged or not signed by its own key.
    """
    request = parse_request(data, place)
    day = today()
    with workspace.registry().transaction() as session:
        _require_new(session, request, fingerprint, day)
        row = session.get(SiteRow, request.site)
        if row is None:
            row = SiteRow(name=request.site)
            session.add(row)
        row.state, row.revoked_reason = SiteState.ENROLLED, None
        row.contact, row.enrolled_at = request.contact or None, now()
        session.flush()
        add_key(session, request.site, request.public_key, data, (day, request.valid_until))
        until = request.valid_until.isoformat()
        record_event(session, "site-enrolled", request.site, actor=actor, key=request.fingerprint, until=until)
    return request


def look_at_request(workspace: Workspace, data: bytes, fingerprint: str) -> SiteRequest:
    """What `enrol_request` would take in; raises as it does, and changes nothing."""
    request = parse_request(data)
    with workspace.registry().reading() as session:
        _require_new(session, request, fingerprint, today())
    return request


def _require_new(session: Session, request: SiteRequest, fingerprint: str, day: datetime.date) -> None:
    if fingerprint not in (request.fingerprint, request.spoken):
        raise RegistryError(
            # Not telling the right one: whoever copied it from here would have compared nothing.
            f"{request.site}: expected the fingerprint of the key in the request, got another; "
            "ask the site over a channel that you trust, and do not enrol it before both agree"
        )
    if request.site in RESERVED:
        raise RegistryError(
            f"{request.site}: expected the name of a hospital, got one that the log has for the provider itself; let the site choose another"
        )
    if request.site in keys_in(session, day, request.site):
        raise RegistryError(f"{request.site}: there is a site of that name already; choose another name or revoke it")
    _require_new_key(session, request.site, request.public_key, (day, request.valid_until))


def _require_new_key(session: Session, site: str, key: PublicKey, days: tuple[datetime.date, datetime.date]) -> None:
    if session.get(SiteKeyRow, key.key_id) is not None:
        raise RegistryError(f"{site}: expected a new key, got one that was enrolled before; let the site make another")
    if days[1] < days[0]:
        raise RegistryError(f"{site}: expected a key that is still valid, got one until {days[1]}; ask for another")
    # Whoever makes a key states when it was made; how long it lives is for the provider's own clock to say.
    if (days[1] - days[0]).days > MAX_VALID_DAYS:
        raise RegistryError(
            f"{site}: expected a key that is valid for at most {MAX_VALID_DAYS} days from today, got one until {days[1]}; let the site "
            "check its clock and make another"
        )


def revoke(
    workspace: Workspace,
    name: str,
    reason: str,
    key_id: str | None = None,
    *,
    actor: str = OPERATOR,
    first: bool = False,
) -> None:
    """Take nothing from a site any more, or nothing that one of its keys signed; shares accepted before stay.

    With a site go its keys, with a key those that it has vouched for: who has stolen a key can rotate it.

    Args:
        workspace: where.
        name: of the site.
        reason: kept with the site and in the log.
        key_id: of the one key; None for the site.
        actor: who revokes it.
        first: whether it is an error that the site is revoked already, for who is told that the log has this name and reason.

    Raises:
        RegistryError: no such site or key.
    """
    with workspace.registry().transaction() as session:
        row = session.get(SiteRow, name)
        if row is None:
            raise RegistryError(f"{name}: expected an enrolled site; see `aggregator site list`")
        if first and row.state == SiteState.REVOKED:
            raise RegistryError(f"{name}: expected a site that is not revoked, it is: {row.revoked_reason}")
        keys = list(session.scalars(select(SiteKeyRow).where(SiteKeyRow.site == name)))
        if key_id is None:
            # Its keys too: a site that comes back brings another.
            row.state, row.revoked_reason, gone = SiteState.REVOKED, reason, keys
            record_event(session, "site-revoked", name, actor=actor, reason=reason)
        else:
            gone = _vouched_for(key_id, keys)
            if not gone:
                raise RegistryError(f"{key_id}: expected a key of {name}; see `aggregator site list`")
            for key in gone:
                record_event(session, "key-revoked", name, actor=actor, key=key.key_id, reason=reason)
        for key in gone:
            key.state = KeyState.REVOKED


def list_expiring_sites(workspace: Workspace, on: datetime.date) -> list[tuple[str, datetime.date]]:
    """Sites that can't send any more after the day given, which is near."""
    return [(site.name, last) for site in list_sites(workspace) if (last := site.expires(on)) is not None]


def today() -> datetime.date:
    """The day, in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def _sites(session: Session) -> list[Site]:
    keys: dict[str, list[SiteKey]] = {}
    for row in _oldest_first(session.scalars(select(SiteKeyRow))):
        key = SiteKey(PublicKey.from_hex(row.public_key), as_day(row.valid_from), as_day(row.valid_until), row.state)
        keys.setdefault(row.site, []).append(key)
    return [
        Site(
            row.name,
            row.contact or "",
            row.revoked_reason if row.state == SiteState.REVOKED else None,
            tuple(keys.get(row.name, ())),
        )
        for row in session.scalars(select(SiteRow).order_by(SiteRow.name))
    ]


def _oldest_first(rows: Iterable[SiteKeyRow]) -> list[SiteKeyRow]:
    # Of two keys of one day the one that still signs is the newer.
    return sorted(rows, key=lambda row: (row.valid_from, row.state == KeyState.ACTIVE, row.key_id))


def vouching_key(row: SiteKeyRow) -> str | None:
    """Id of the key that signed the rotation to this one; None for a key that was enrolled."""
    envelope = parse_canonical(row.request, max_bytes=MAX_ROTATION_BYTES, place=row.key_id)
    enrolment = isinstance(envelope, dict) and "request" in envelope
    return None if enrolment else parse_rotation(row.request).old_key.key_id


def _vouched_for(key_id: str, keys: Sequence[SiteKeyRow]) -> list[SiteKeyRow]:
    """A key, and every key that a rotation signed by one of them brought; nothing if there is no such key."""
    found, vouching = [key for key in keys if key.key_id == key_id], {key.key_id: vouching_key(key) for key in keys}
    for known in found:
        found += [key for key in keys if vouching[key.key_id] == known.key_id]
    return found


def add_key(
    session: Session, site: str, key: PublicKey, request: bytes, days: tuple[datetime.date, datetime.date]
) -> SiteKeyRow:
    """Adds a key that was never there before, in the caller's transaction.

    Args:
        session: of `Registry.transaction`.
        site: whose.
        key: its key.
        request: the request or rotation that brought it.
        days: first and last day.

    Raises:
        RegistryError: it was there before, or its last day is over.
    """
    _require_new_key(session, site, key, days)
    row = SiteKeyRow(
        key_id=key.key_id,
        site=site,
        public_key=key.hex,
        request=request,
        state=KeyState.ACTIVE,
        valid_from=_first_second(days[0]),
        valid_until=last_second(days[1]),
    )
    session.add(row)
    session.flush()
    return row


def record_event(session: Session, action: str, site: str, *, actor: str = OPERATOR, **details: Json) -> None:
    """The event of a change, in its transaction."""
    audit_log.append(session, actor, action, {"site": site, **details})


def as_day(moment: str) -> datetime.date:
    """The day of a time of the registry."""
    return datetime.date.fromisoformat(moment[:10])


def _first_second(day: datetime.date) -> str:
    return f"{day}T00:00:00Z"


def last_second(day: datetime.date) -> str:
    """The last time of a day, as the registry keeps it."""
    return f"{day}T23:59:59Z"
