"""How much one site, and one address, may ask of the server; and what holds them to it: rates, requests that run at once, room on the disk."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import RequestError
from foundation.os_errors import map_os_errors
from protocols.http.messages import MAX_BUNDLE_BYTES, MIN_BUNDLE_BYTES
from shared.errors import ConfigurationError

# Some megabytes; more than that many addresses at once are beyond what one machine can turn away.
_MOST_BUCKETS = 20_000
_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class Limits:
    """Limits for each site, for each address (in IPv6: each /64) of whoever has not proved to be one, and of connections.

    Args:
        bundle_bytes: the largest bundle.
        day_bytes: of all bundles begun within a day.
        day_refused: bundles of a day that may be refused; each leaves rows, events and a receipt for ever.
        open_uploads: at the same time.
        requests_per_s: on average.
        burst: requests in a row.
        running: requests that are being answered at the same time.
        upload_hours: how long an upload may take; then its bytes are removed.
        piece_s: the longest silence within a request or its answer.
        least_bytes_per_s: of a body or an answer beyond that time; who is slower is cut off.
        connections: of all together.
        site_connections: that are kept for a site before others.
        address_connections: that an address may hold before a site has proved itself on them, or begin in a row.
        address_connections_per_s: that an address may begin on average; each costs a handshake.
        address_per_s: requests that no site has signed, on average.
        address_burst: of them in a row.
        first_s: from the beginning of a connection to the end of its first header, TLS included.

    Raises:
        ConfigurationError: a limit that lets nothing through.
    """

    bundle_bytes: int = 16 << 30
    day_bytes: int = 64 << 30
    day_refused: int = 50
    open_uploads: int = 4
    requests_per_s: float = 20
    burst: int = 100
    running: int = 16
    upload_hours: int = 72
    piece_s: float = 60
    least_bytes_per_s: int = 16_000
    connections: int = 1000
    site_connections: int = 32
    address_connections: int = 64
    address_connections_per_s: float = 1
    address_per_s: float = 10
    address_burst: int = 100
    first_s: float = 15

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ConfigurationError(f"limit {name}: expected more than 0, got {value}; correct it")
        if not MIN_BUNDLE_BYTES <= self.bundle_bytes <= min(self.day_bytes, MAX_BUNDLE_BYTES):
            raise ConfigurationError(
                f"limit bundle_bytes: expected {MIN_BUNDLE_BYTES} to the bytes of a day, got {self.bundle_bytes}; correct it"
            )


class TokenBuckets:
    """A bucket of requests for each site or address, filled steadily, never beyond a burst.

    Whoever has not been here for longest is forgotten first, so that their number is bounded.

    Args:
        per_s: tokens that come in a second.
        burst: the most that a bucket holds.
        clock: monotonic seconds.
    """

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, site: str) -> None:
        """Takes one token of a site, or of an address.

        Raises:
            RequestError: the bucket is empty.
        """
        now = self._clock()
        tokens, at = self._buckets.pop(site, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - at) * self._per_s)
        self._buckets[site] = (tokens - 1 if tokens >= 1 else tokens, now)
        if len(self._buckets) > _MOST_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
        if tokens < 1:
            wait = int((1 - tokens) / self._per_s) + 1
            raise RequestError(
                "expected fewer requests, got too many at once; wait", status=429, code="too-many", retry_after_s=wait
            )

    def give_back(self, site: str) -> None:
        """Puts a token back that was taken before it was known whose it is."""
        tokens, at = self._buckets.get(site, (float(self._burst), self._clock()))
        self._buckets[site] = (min(self._burst, tokens + 1), at)


class Running:
    """The requests of each site that run now: a site that is slow in many of them must leave connections to others.

    Args:
        limits: how many.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: Counter[str] = Counter()

    @contextmanager
    def one(self, site: str) -> Iterator[None]:
        """Counts a request while the block runs.

        Raises:
            RequestError: too many run already.
        """
        if self._running[site] >= self._limits.running:
            raise RequestError(
                f"expected at most {self._limits.running} requests at once, got one more; let them end first",
                status=429,
                code="too-many",
                retry_after_s=1,
            )
        self._running[site] += 1
        try:
            yield
        finally:
            self._running[site] -= 1


@contextmanager
def telling_of_room(path: Path) -> Iterator[None]:
    """`map_os_errors`, but for a full disk, of which the site is told."""
    with map_os_errors(path):
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise no_room() from error
            raise


def no_room() -> RequestError:
    """What a site is told where the disk is full."""
    return RequestError("expected room for the bundle, got a full disk; tell the provider", status=507, code="full")


def all_reserved() -> RequestError:
    """What it is told where others have announced what is left."""
    return RequestError(
        "expected room for the bundle, got a disk that uploads which have begun have reserved; try again in an hour, then tell the provider",
        status=507,
        code="full",
    )
