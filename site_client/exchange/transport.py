"""HTTPS to the provider's server: outwards only, through a hospital's proxy, under a certificate authority of its own.

TLS is always verified. Requests to the interface are signed by the site's key, see `protocols.http.signatures`, with a
nonce of their own each time, so repeating one is safe wherever the server's answer is the same the second time; all of
its interface is made so. What fails on the way (a cut, a proxy that gives up, a server that is busy or starts anew)
is repeated after a growing, random pause; what the server refuses is not.

The server takes signatures of the last five minutes by its own clock. Where the clock of this machine is off, requests
are signed by the server's, and one line says so: that clock says only how long a signature is good for.
"""

from __future__ import annotations

import hashlib
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import httpx

from protocols.errors import BoundsError, ProtocolError
from protocols.http.messages import MAX_MESSAGE_BYTES, Problem, ServerTime, server_address
from protocols.http.signatures import RequestParts, new_nonce, sign_request
from protocols.keys.signing import PrivateKey
from site_client.errors import RefusedError, SiteError, UnreachableError
from site_client.exchange.retry_policy import LONGEST_S, RetryPolicy, asked_seconds

__all__ = ["Answer", "Connection", "RetryPolicy", "Transport"]

TOLERATED_CLOCK_S = 60
_WORTH_TELLING_S = 2
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_SIGNED_ANEW = frozenset({"stale", "replayed"})
_READ_BYTES = 1 << 16
# What a proxy says that no repetition changes, and what to do.
_CLOSED_WAYS = {
    "407": "asks for a name and a password; give the right ones in --proxy or HTTPS_PROXY",
    "403": "lets nobody through to the server; ask those who run it for the right, and check the address",
}
_RANGE = re.compile(r"bytes ([0-9]+)-[0-9]+/[0-9*]+")


@dataclass(frozen=True)
class Connection:
    """Where the server is and how to get there.

    Args:
        server: its address, such as https://deid.example.org.
        ca: file with the certificates to trust, PEM; None for those of this machine.
        proxy: such as http://proxy:3128; None for what HTTPS_PROXY and NO_PROXY say.
        retry_policy: for a server that does not answer.
    """

    server: str
    ca: Path | None = None
    proxy: str | None = None
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True)
class Answer:
    """What the server said.

    Args:
        status: of HTTP; below 400.
        headers: names in lower case.
        body: at most `MAX_MESSAGE_BYTES`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """An open connection to one server.

    Args:
        connection: where and how.
        key: of the site; None to fetch only.
        tell: takes a line for the person in front of the machine.
        clock: seconds since 1970.
        sleep: waits.
        monotonic: seconds of a clock that nobody sets.

    Raises:
        SchemaError: an address that is not HTTPS.
        SiteError: the file of certificates can't be used, or the proxy.
    """

    def __init__(
        self,
        connection: Connection,
        key: PrivateKey | None = None,
        *,
        tell: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = server_address(connection.server)
        self.retry_policy = connection.retry_policy
        self.sleep, self.monotonic = sleep, monotonic
        self._key, self._tell, self._clock = key, tell, clock
        self._ahead: int | None = None
        self._answered = False
        self._client = _client(connection)

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def request(self, method: str, path: str, body: bytes = b"", *, offset: int | None = None) -> Answer:
        """Sends one signed request, repeated until it is answered.

        Args:
            method: such as "POST".
            path: from the server's address on, such as "/v1/uploads".
            body: all of it.
            offset: for the header Upload-Offset.

        Raises:
            RefusedError: the server understood and said no.
            UnreachableError: no answer, however often.
        """
        return self._repeated(lambda: self.once(method, path, body, offset=offset))

    def once(self, method: str, path: str, body: bytes = b"", *, offset: int | None = None) -> Answer:
        """`request` without repeating.

        Raises:
            RefusedError, UnreachableError: as `request`; of the latter, those that may pass are `passing`.
        """
        if self._key is None:
            raise SiteError("expected a key to sign requests with, got none; open the transport with the site's key")
        if self._ahead is None:
            self._ahead = self._measured()
        parts = RequestParts(method, self.server + path, hashlib.sha256(body).digest(), offset)
        now = int(self._clock()) + self._ahead
        headers = sign_request(parts, self._key, created=now, nonce=new_nonce())
        try:
            return self._send(method, self.server + path, headers, body)
        except RefusedError as error:
            if error.code in _SIGNED_ANEW:
                # The clock was set meanwhile, here or there: measured anew by the repetition. Or something on the way has sent the
                # request twice, and the answer to the first is lost.
                self._ahead = None if error.code == "stale" else self._ahead
                raise UnreachableError(str(error), passing=True) from error
            raise

    def fetch(self, url: str, max_bytes: int, *, anew: bool = False) -> Iterator[bytes]:
        """The bytes at an address, unsigned and not verified, resumed where a cut has left off.

        Args:
            url: whole, or a path from the server's address on.
            max_bytes: the most to take.
            anew: whether what keeps copies on the way has to ask the server.

        Raises:
            RefusedError: there is nothing (code "not-found"), or the server said no.
            UnreachableError: no answer, however often.
            BoundsError: more than `max_bytes`.
        """
        address = url if "://" in url else f"{self.server}/{url.lstrip('/')}"
        received = failures = 0
        while True:
            before = received
            try:
                for piece in self._pieces(address, received, anew):
                    received += len(piece)
                    if received > max_bytes:
                        raise BoundsError(
                            f"at most {max_bytes} bytes", received="more", advice="refuse it", place="file"
                        )
                    yield piece
            except UnreachableError as error:
                failures = 1 if received > before else failures + 1
                self.pause_after(error, failures)
            else:
                return

    def pause_after(self, error: UnreachableError, failures: int) -> None:
        """Waits before the next attempt, or gives up by raising the error.

        Raises:
            UnreachableError: it will not pass, or came too often in a row.
        """
        if not error.passing or (error.absent and not (self._answered or self.retry_policy.awaits_absent)):
            raise error
        if error.retry_after_s > LONGEST_S:
            raise UnreachableError(f"{error}; repeat the command in {error.retry_after_s // 60} minutes") from error
        if failures >= self.retry_policy.attempts:
            raise UnreachableError(f"{error}; given up after {failures} attempts, repeat the command later") from error
        pause = self.retry_policy.pause(failures, error.retry_after_s)
        if pause >= _WORTH_TELLING_S:
            self._tell(
                f"no answer yet; trying again in {pause:.0f} seconds ({failures} of {self.retry_policy.attempts} attempts)"
            )
        self.sleep(pause)

    def _repeated(self, send: Callable[[], Answer]) -> Answer:
        failures = 0
        while True:
            try:
                return send()
            except UnreachableError as error:
                failures += 1
                self.pause_after(error, failures)

    def _measured(self) -> int:
        """Seconds by which the server's clock is ahead of ours; 0 where they agree."""
        body = self._repeated(lambda: self._send("GET", f"{self.server}/v1/time", {}, b"")).body
        ahead = ServerTime.from_bytes(body).seconds - int(self._clock())
        if abs(ahead) <= TOLERATED_CLOCK_S:
            return 0
        self._tell(
            f"the clock of this machine is {abs(ahead)} seconds {'behind' if ahead > 0 else 'ahead of'} the server's: "
            "requests are signed by the server's clock; have this machine's set"
        )
        return ahead

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        with _mapped(), self._client.stream(method, url, headers=dict(headers), content=body or None) as response:
            found, read = bytearray(), response.iter_bytes(_READ_BYTES)
            for piece in read:
                found += piece
                if len(found) > MAX_MESSAGE_BYTES:
                    raise _no_server(response)
            _check(response, bytes(found))
            return Answer(
                response.status_code, {name.lower(): text for name, text in response.headers.items()}, bytes(found)
            )

    def _pieces(self, url: str, start: int, anew: bool) -> Iterator[bytes]:
        headers = {"cache-control": "no-cache"} if anew else {}
        if start:
            headers["range"] = f"bytes={start}-"
        with _mapped(), self._client.stream("GET", url, headers=headers) as response:
            self._answered = True
            if response.status_code >= 400:
                body = next(response.iter_bytes(MAX_MESSAGE_BYTES), b"")
                _check(response, body)
            _check(response, b"")
            if start:
                found = _RANGE.fullmatch(response.headers.get("content-range", ""))
                if response.status_code != 206 or found is None or int(found[1]) != start:
                    raise _no_server(response)
            yield from response.iter_bytes(_READ_BYTES)


def _client(connection: Connection) -> httpx.Client:
    try:
        context = ssl.create_default_context(cafile=None if connection.ca is None else str(connection.ca))
    except OSError as error:
        raise SiteError(f"{connection.ca}: expected certificates in PEM, got something else; check --ca") from error
    try:
        return httpx.Client(
            verify=context,
            proxy=connection.proxy,
            timeout=httpx.Timeout(connection.retry_policy.answer_s, connect=20),
            follow_redirects=False,
            # No version: who reads it along the way learns nothing.
            headers={"user-agent": "site-client", "accept-encoding": "identity"},
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        # The address is not repeated: it may hold a password.
        raise SiteError("proxy: expected an address like http://proxy:3128, got another; check --proxy") from error


@contextmanager
def _mapped() -> Iterator[None]:
    """Turns what httpx raises into our errors."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise _unreachable(error) from error


def _unreachable(error: Exception) -> UnreachableError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError | socket.gaierror) and not isinstance(error, httpx.ProxyError):
            what = "nothing listens there" if isinstance(cause, ConnectionRefusedError) else "no host has that name"
            return UnreachableError(
                f"server: expected an answer, got none: {what}; check the address, the network and the proxy",
                passing=True,
                absent=True,
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UnreachableError(
                f"server: expected a certificate that --ca or this machine trusts, got {cause.verify_message or 'another'}; "
                "ask for the hospital's certificates, check the address and the clock of this machine"
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        # Its words are those of the proxy: nothing but the status is repeated.
        if closed := _CLOSED_WAYS.get(str(error)[:3]):
            return UnreachableError(f"proxy: expected a way to the server, got one that {closed}")
        return UnreachableError(
            "proxy: expected a way to the server, got none; check --proxy and its rights", passing=True
        )
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return UnreachableError("server: expected an https:// address, got another; check it")
    late = isinstance(error, httpx.TimeoutException)
    return UnreachableError(
        f"server: expected an answer, got none{' in time' if late else ''}; check the address, the network and the proxy",
        passing=True,
    )


def _check(response: httpx.Response, body: bytes) -> None:
    """Returns if the server did what it was asked."""
    status = response.status_code
    if status < 300:
        return
    problem = None
    with suppress(ProtocolError):
        problem = Problem.from_bytes(body)
    if status in _TRANSIENT:
        why = problem.message if problem else f"status {status}"
        raise UnreachableError(
            f"server: expected an answer, got '{why}'",
            passing=True,
            retry_after_s=asked_seconds(response.headers.get("retry-after")),
        )
    if problem is None:
        if status == 404:
            raise RefusedError("server: expected a file, got none; check the address", code="not-found")
        raise _no_server(response)
    raise RefusedError(f"the server refused: {problem.message}", code=problem.code)


def _no_server(response: httpx.Response) -> UnreachableError:
    return UnreachableError(
        f"server: expected a deid-commons server, got an answer of another kind (status {response.status_code}); "
        "check the address and the proxy"
    )
