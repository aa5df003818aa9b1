"""Signing in: a name and its password, a few tries at a time; or the name that a trusted proxy states.

Threat: somebody who tries passwords. Tries are counted by name and address together, by address, and by name, so that one address gets
nowhere, and many addresses get 50 tries at one name and then one a minute; its owner waits with them then, and nobody else does. Five wrong
ones within an hour for one account stand in the audit log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from aggregator.dashboard.access.accounts import Account, find_account
from aggregator.dashboard.access.passwords import password_matches
from aggregator.errors import RequestError
from aggregator.registry import audit_log
from aggregator.server.limits import TokenBuckets
from aggregator.status.guessed import note_guessed
from aggregator.workspace import Workspace
from foundation.errors import DeidError, StorageError

# Each hash takes 64 MiB: more at once would let strangers fill the memory.
_AT_ONCE = 2
_PATIENCE_S = 20.0
_LONGEST_NAME = 64
_NOTED, _NOTED_S = 5, 3600.0


class SignIn:
    """Decides who somebody is.

    Args:
        workspace: with the accounts.
        clock: seconds that only grow.
    """

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.monotonic) -> None:
        self._workspace, self._clock = workspace, clock
        self._hashing = threading.BoundedSemaphore(_AT_ONCE)
        self._lock = threading.Lock()
        self._together = TokenBuckets(1 / 60, 5, clock)
        self._address = TokenBuckets(1 / 30, 20, clock)
        self._name = TokenBuckets(1 / 60, 50, clock)
        self._wrong: dict[str, list[float]] = {}
        self._noted_s: dict[str, float] = {}

    def by_password(self, name: str, password: bytes, address: str) -> Account | None:
        """The account of a name and a password; None where they do not belong together.

        Args:
            name: as typed.
            password: as typed, in UTF-8.
            address: of whoever typed it.

        Raises:
            RequestError: too many tries, or no room to write it down.
        """
        known = name if len(name) <= _LONGEST_NAME else ""
        tries = ((self._together, f"{address} {known}"), (self._address, address), (self._name, known))
        with self._lock:
            for buckets, key in tries:
                buckets.take(key)
        if not self._hashing.acquire(timeout=_PATIENCE_S):
            raise RequestError("expected fewer sign-ins, got too many at once; wait", status=503, code="too-many")
        try:
            found = find_account(self._workspace, known)
            kept = None if found is None else found[1]
            if not password_matches(password, kept) or found is None:
                if found is not None:
                    self._note_wrong(found[0].name)
                return None
        finally:
            self._hashing.release()
        with self._lock:
            # A try that was right is none.
            for buckets, key in tries:
                buckets.give_back(key)
        self._record(found[0])
        return found[0]

    def by_proxy(self, name: str) -> Account | None:
        """The account that a trusted proxy vouches for; None where the provider has none of that name that comes so.

        Raises:
            RequestError: no room to write it down.
        """
        found = find_account(self._workspace, name)
        if found is None or not found[0].through_proxy:
            return None
        self._record(found[0])
        return found[0]

    def _note_wrong(self, account: str) -> None:
        """Counts a wrong password of an account; the fifth within an hour is written down, once an hour.

        By a thread: whoever tries must not see by the time, or by a full disk, that there is such an account.
        """
        now = self._clock()
        with self._lock:
            tries = self._wrong[account] = [*(one for one in self._wrong.get(account, ()) if now - one < _NOTED_S), now]
            if len(tries) < _NOTED or now - self._noted_s.get(account, -_NOTED_S) < _NOTED_S:
                return
            self._noted_s[account] = now
        threading.Thread(target=self._write_wrong, args=(account, len(tries)), daemon=True).start()

    def _write_wrong(self, account: str, tries: int) -> None:
        with suppress(DeidError):
            note_guessed(self._workspace, account, tries)

    def _record(self, account: Account) -> None:
        try:
            with self._workspace.registry().transaction() as session:
                audit_log.append(session, account.actor, "signed-in", {"role": str(account.role)})
        except StorageError as error:
            why = " ".join(str(error).split())
            raise RequestError(
                f"expected a sign-in that can be written down, got none: {why}; see `aggregator status` at a terminal",
                status=503,
            ) from error
