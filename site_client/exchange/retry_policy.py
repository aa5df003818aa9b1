"""How long a site waits for a server that does not answer."""

from __future__ import annotations

import random
from dataclasses import dataclass

# Who asks for more than this has closed for the day.
LONGEST_S = 600


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long to wait.

    Args:
        attempts: how often in a row without any progress.
        first_s: the first pause; each later one is twice as long, times a random number from 0.5 to 1.
        most_s: the longest pause of our own.
        answer_s: how long to wait for a sign of life within one request.
        awaits_absent: whether a host that is unknown or refuses is waited for, though it has never answered: it may be starting
            anew. Where a person has just typed its address, a mistake is likelier.
    """

    attempts: int = 9
    first_s: float = 0.5
    most_s: float = 60
    answer_s: float = 60
    awaits_absent: bool = True

    def pause(self, failures: int, asked_s: int = 0) -> float:
        """Seconds to wait after so many failures in a row, at least as many as the server asked for."""
        own = min(self.first_s * 2.0 ** (failures - 1), self.most_s) * random.SystemRandom().uniform(0.5, 1)
        return max(own, asked_s)


def asked_seconds(retry_after: str | None) -> int:
    """Seconds of a header Retry-After; 0 where there is none, or a date, which no server of ours sends.

    >>> asked_seconds("30"), asked_seconds("Wed, 21 Oct 2026 07:28:00 GMT"), asked_seconds(None)
    (30, 0, 0)
    """
    return int(retry_after) if retry_after is not None and retry_after.isdecimal() and len(retry_after) < 7 else 0
