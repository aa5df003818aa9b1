"""Sessions of people who have signed in: random, kept here and nowhere else, known by a digest of what the browser holds.

Invariants: a session begins with a sign-in, under a secret that was never seen before (no fixation); it ends after `idle_s` without
a request, after `whole_s` in any case, and with the process. Nothing of it is on a disk.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aggregator.dashboard.access.accounts import Account

IDLE_S, WHOLE_S = 30 * 60.0, 10 * 3600.0
PENDING_S = 10 * 60.0
"""So long a page that says what will happen may be confirmed."""
_MOST = 1000
_MOST_PENDING = 16
_SECRET_BYTES = 32


@dataclass(frozen=True)
class Pending:
    """What a person was shown and has not confirmed yet.

    Args:
        action: its name.
        values: of its form.
        shown_s: when, by the clock of the sessions.
    """

    action: str
    values: Mapping[str, str]
    shown_s: float


@dataclass
class Session:
    """One browser of one person.

    Args:
        name: of the account.
        stamp: of the account when the session began.
        csrf: what every form of the session's pages holds.
        key: the half that stands in the addresses of its pages, where a cookie alone is not enough; see `in_clear`.
        began_s: when.
        seen_s: when it was used last.
        pending: by a secret of the page that shows it; each is confirmed once.
        said: what has just happened, by the path of the page that tells of it.
    """

    name: str
    stamp: str
    csrf: str
    key: str
    began_s: float
    seen_s: float
    pending: dict[str, Pending] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def owns_form(self, token: str) -> bool:
        """Whether a form is of this session's pages."""
        return hmac.compare_digest(token.encode(), self.csrf.encode())


class Sessions:
    """All sessions of a process.

    Args:
        clock: seconds that only grow.
        idle_s: without a request, until a session ends.
        whole_s: until it ends in any case.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, idle_s: float = IDLE_S, whole_s: float = WHOLE_S
    ) -> None:
        self._clock, self._idle_s, self._whole_s = clock, idle_s, whole_s
        self._of: dict[bytes, Session] = {}
        self._lock = threading.Lock()

    def begin(self, account: Account) -> str:
        """A new session of an account; returns the secret for the browser."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), self._clock()
        with self._lock:
            if len(self._of) >= _MOST:
                # Whoever was here longest ago has to sign in again.
                del self._of[min(self._of, key=lambda one: self._of[one].seen_s)]
            csrf, key = secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
            self._of[_digest(secret)] = Session(account.name, account.stamp, csrf, key, now, now)
        return secret

    def find(self, secret: str, *, used: bool = True) -> Session | None:
        """The session that a browser's secret is of, if it has not ended.

        Args:
            secret: it.
            used: whether that counts as use; not where a page asks by itself how far something is.
        """
        key, now = _digest(secret), self._clock()
        with self._lock:
            session = self._of.get(key)
            if session is None:
                return None
            if now - session.seen_s > self._idle_s or now - session.began_s > self._whole_s:
                del self._of[key]
                return None
            if used:
                session.seen_s = now
            return session

    def end(self, secret: str) -> None:
        """Ends a session; does nothing where there is none."""
        with self._lock:
            self._of.pop(_digest(secret), None)

    def show(self, session: Session, action: str, values: Mapping[str, str]) -> str:
        """Notes what a person is shown; returns the secret by which exactly that is confirmed."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._lock:
            while len(session.pending) >= _MOST_PENDING:
                del session.pending[next(iter(session.pending))]
            session.pending[secret] = Pending(action, dict(values), self._clock())
        return secret

    def confirm(self, session: Session, secret: str) -> Pending | None:
        """What was shown under a secret, once; None for what was not shown, or too long ago."""
        with self._lock:
            pending = session.pending.pop(secret, None)
        return pending if pending is not None and self._clock() - pending.shown_s <= PENDING_S else None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
