"""Who sends a request: the site whose key signed it, lately and once.

Checked in this order, before a byte of the body is read: the shape of the signature; that a key of an enrolled site made
it, one that counts at this moment; that it covers this method, this server's own address, the digest of the body and
the offset; its age; that its nonce is new. Nonces lie in the registry, so that a server that starts anew, or a second
process beside it, takes none a second time. A site that is revoked gets no further than its next request.

To prove a sender only reads; the limits of its site are asked before its nonce is used up, so that what they refuse costs
no write. A replay is refused before them: it must not use up what the site may ask.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from aggregator.errors import RequestError
from aggregator.registry import Registry
from aggregator.registry.states import KeyState, SiteState
from aggregator.registry.tables import NonceRow, SiteKeyRow, SiteRow
from aggregator.registry.times import as_text
from protocols.errors import ProtocolError, StaleError, UnsignedError
from protocols.http.signatures import RequestParts, RequestSignature, read_signature
from protocols.keys.signing import PublicKey

# A clock that was set back must not revive signatures whose nonces are forgotten.
_KEPT_BEYOND = datetime.timedelta(days=1)
_KEY = select(
    SiteRow.name,
    SiteRow.state.label("site_state"),
    SiteKeyRow.state.label("key_state"),
    SiteKeyRow.public_key,
    SiteKeyRow.valid_from,
    SiteKeyRow.valid_until,
).join(SiteRow, SiteRow.name == SiteKeyRow.site)


@dataclass(frozen=True)
class Caller:
    """The sender of a request, proved.

    Args:
        site: its name.
        signature: its signature, verified.
    """

    site: str
    signature: RequestSignature

    @property
    def parts(self) -> RequestParts:
        """What the signature covers; the body is still to be held against the digest."""
        return self.signature.parts


class Authenticator:
    """Proves senders.

    Args:
        registry: knows sites, keys and nonces.
        address: of this server as sites write it; what a request says of its host is not believed.
        clock: seconds since 1970.
    """

    def __init__(self, registry: Registry, address: str, clock: Callable[[], float]) -> None:
        self._registry = registry
        self._address = address
        self._clock = clock

    def authenticate(self, method: str, target: str, headers: Mapping[str, str]) -> Caller:
        """The sender of a request; nothing is answered before `use_up`.

        Args:
            method: of the request.
            target: its path and query, as they came.
            headers: lower-case names; lines of the same name joined by ", ".

        Raises:
            RequestError: nobody that is let in.
            DatabaseError: the registry does not answer.
        """
        now = self._clock()
        try:
            signature = read_signature(method, self._address + target, headers)
            site, key = self._key(signature.key_id, self._text(now))
            signature.verify(key, int(now))
        except StaleError as error:
            raise RequestError(str(error), status=401, code="stale") from error
        except UnsignedError as error:
            raise RequestError(str(error), status=401, code="unsigned") from error
        except ProtocolError as error:
            raise RequestError(
                f"{error}; this server is {self._address}: sites must call it by this name", status=401, code="unsigned"
            ) from error
        with self._registry.reading() as session:
            if session.get(NonceRow, (signature.key_id, signature.nonce)) is not None:
                raise _replayed()
        return Caller(site, signature)

    def use_up(self, callers: Sequence[Caller]) -> list[RequestError | None]:
        """Uses up the nonces of requests that will be answered, all with one flush to the disk.

        Returns:
            for each a refusal if another request was faster with its nonce, or None.

        Raises:
            DatabaseError: the registry does not answer.
        """
        with self._registry.transaction() as session:
            return [self._use_up(session, caller) for caller in callers]

    def _use_up(self, session: Session, caller: Caller) -> RequestError | None:
        signature = caller.signature
        used = {"key_id": signature.key_id, "nonce": signature.nonce, "expires_at": self._text(signature.expires)}
        try:
            with session.begin_nested():
                session.execute(insert(NonceRow).values(used))
        except IntegrityError:
            return _replayed()
        return None

    def forget_nonces(self) -> None:
        """Removes the nonces of signatures that are stale anyway."""
        before = as_text(datetime.datetime.fromtimestamp(self._clock(), datetime.UTC) - _KEPT_BEYOND)
        with self._registry.transaction() as session:
            session.execute(delete(NonceRow).where(NonceRow.expires_at < before))

    def _key(self, key_id: str, now: str) -> tuple[str, PublicKey]:
        """The site and the key of an id, if they count now."""
        with self._registry.reading() as session:
            row = session.execute(_KEY.where(SiteKeyRow.key_id == key_id)).one_or_none()
        if row is None:
            raise RequestError(
                "expected a key of an enrolled site, got another; enrol the site first", status=401, code="unknown-key"
            )
        if row.site_state != SiteState.ENROLLED or row.key_state == KeyState.REVOKED:
            raise RequestError(
                "expected a site in good standing, got one that was revoked; ask the provider",
                status=403,
                code="revoked",
            )
        if now < row.valid_from:
            raise RequestError(
                f"expected a key that is valid now, got one valid from {row.valid_from[:10]}; set the provider's clock",
                status=401,
                code="unknown-key",
            )
        if now > row.valid_until:
            raise RequestError(
                f"expected a key that is valid now, got one valid until {row.valid_until[:10]}; "
                "run `site-client enrol --new-key`, and tell the provider its fingerprint",
                status=401,
                code="unknown-key",
            )
        return row.name, PublicKey.from_hex(row.public_key)

    @staticmethod
    def _text(seconds: float) -> str:
        return as_text(datetime.datetime.fromtimestamp(seconds, datetime.UTC))


def _replayed() -> RequestError:
    return RequestError(
        "expected a new nonce, got one used before: a replay; sign each request anew", status=401, code="replayed"
    )
