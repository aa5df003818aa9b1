"""How much one site may ask of the server, and what holds it to that: its rate, and its requests that run at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aggregator.errors import RequestError
from protocols.http.messages import MAX_BUNDLE_BYTES, MIN_BUNDLE_BYTES
from shared.errors import ConfigurationError


@dataclass(frozen=True)
class Limits:
    """Limits for each site.

    Args:
        bundle_bytes: the largest bundle.
        day_bytes: of all bundles begun within a day.
        open_uploads: at the same time.
        requests_per_s: on average.
        burst: requests in a row.
        running: requests that are being answered at the same time.
        upload_hours: how long an upload may take; then its bytes are removed.
        piece_s: the longest silence within a request or its answer.
        least_bytes_per_s: of a body or an answer beyond that time; who is slower is cut off.

    Raises:
        ConfigurationError: a limit that lets nothing through.
    """

    bundle_bytes: int = 16 << 30
    day_bytes: int = 64 << 30
    open_uploads: int = 4
    requests_per_s: float = 20
    burst: int = 100
    running: int = 16
    upload_hours: int = 72
    piece_s: float = 60
    least_bytes_per_s: int = 16_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ConfigurationError(f"limit {name}: expected more than 0, got {value}; correct it")
        if not MIN_BUNDLE_BYTES <= self.bundle_bytes <= min(self.day_bytes, MAX_BUNDLE_BYTES):
            raise ConfigurationError(
                f"limit bundle_bytes: expected {MIN_BUNDLE_BYTES} to the bytes of a day, got {self.bundle_bytes}; correct it"
            )


class TokenBuckets:
    """A bucket of requests for each site, filled steadily, never beyond a burst.

    Only enrolled sites have one, so that their number is bounded.

    Args:
        limits: rate and size.
        clock: monotonic seconds.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, site: str) -> None:
        """Takes one token.

        Raises:
            RequestError: the bucket is empty.
        """
        now = self._clock()
        tokens, at = self._buckets.get(site, (float(self._limits.burst), now))
        tokens = min(self._limits.burst, tokens + (now - at) * self._limits.requests_per_s)
        self._buckets[site] = (tokens - 1 if tokens >= 1 else tokens, now)
        if tokens < 1:
            wait = int((1 - tokens) / self._limits.requests_per_s) + 1
            raise RequestError(
                "expected fewer requests, got too many at once; wait", status=429, code="too-many", retry_after_s=wait
            )


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
