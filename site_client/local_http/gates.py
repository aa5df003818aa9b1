"""Who may speak to a program that listens on loopback. On a hospital's machine everybody's programs may connect to it, and every
page that a browser shows may send it requests; so an address that nobody else reaches is not enough.

A `Gate` looks at the headers of a request alone. None of its secrets stands in what a server, a proxy or a browser writes down.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KEY_HEADER = "x-review-key"
_SECRET_BYTES = 32


class Gate(ABC):
    """What decides about a request."""

    @abstractmethod
    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether whoever sent these headers may go on; names are in lower case."""


class BearerGate(Gate):
    """For programs: one secret that both sides have.

    Args:
        token: it; a secret of at least 128 bits.
    """

    def __init__(self, token: str) -> None:
        self._digest = _digest(token)

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether the token stands in `Authorization: Bearer TOKEN`."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(_digest(token.strip()), self._digest)


@dataclass(frozen=True, repr=False)
class Session:
    """What a browser holds: each half alone is worth nothing.

    Args:
        cookie: kept from scripts; but sent to every port of this machine's address, also to the server of somebody else.
        key: kept by the page, which alone of all addresses and ports can read it; goes into a header.
    """

    cookie: str
    key: str


class BrowserGate(Gate):
    """For one person's browser. Its secret is used once: somebody who reads it later, in a list of processes, in a history, has nothing.

    Threat: another person on the machine, and any page in the same browser. A cookie is sent to every port of an address, so
    somebody else's server could collect it; a header that only the page can set can't be sent by other pages (no CSRF).

    Args:
        announce: takes the secret that is to be used next; it is for the person at the terminal.
        cookie: name of the cookie.
    """

    def __init__(self, announce: Callable[[str], None], cookie: str) -> None:
        self._announce = announce
        self.cookie = cookie
        self._waiting = b""
        self._sessions: list[tuple[bytes, bytes]] = []
        self._lock = threading.Lock()

    def offer(self) -> None:
        """Announces a secret, unless one is out that nobody has used: nobody can make the terminal overflow."""
        with self._lock:
            if self._waiting:
                return
            token = secrets.token_urlsafe(_SECRET_BYTES)
            self._waiting = _digest(token)
        self._announce(token)

    def open(self, token: str) -> Session | None:
        """A session for whoever shows the secret; None for anything else, and for the same secret a second time."""
        with self._lock:
            if not self._waiting or not hmac.compare_digest(_digest(token), self._waiting):
                return None
            self._waiting = b""
            session = Session(secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES))
            self._sessions.append((_digest(session.cookie), _digest(session.key)))
        return session

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether cookie and key are of one session."""
        cookie, key = _digest(_cookie(headers.get("cookie", ""), self.cookie)), _digest(headers.get(KEY_HEADER, ""))
        # All are compared, and both halves, so that the time tells nothing.
        matches = [hmac.compare_digest(cookie, one) & hmac.compare_digest(key, other) for one, other in self._sessions]
        return any(matches)


def _cookie(header: str, name: str) -> str:
    found = [value for key, _, value in (part.strip().partition("=") for part in header.split(";")) if key == name]
    # Two of one name: another port has set one beside ours; which is ours nobody can tell.
    return found[0] if len(found) == 1 else ""


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
