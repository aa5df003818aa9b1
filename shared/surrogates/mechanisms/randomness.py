"""Where the chance of a surrogate comes from: a key of the operating system's randomness, and the name of what is drawn.

So the same entity gets the same draw as long as the key lives, which is a note, a run, or for ever, and nothing has to be remembered. Whole numbers alone are drawn, so that what is proved of a mechanism holds of what runs: nothing is rounded.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Randomness(Protocol):
    """Independent uniform whole numbers."""

    def below(self, bound: int, /) -> int:
        """One of 0 to `bound` - 1, all alike."""
        ...


class KeyedRandomness:
    """A stream that who has the key can draw again: HMAC-SHA256 of a purpose and a counter.

    Threat: who has the key can take every surrogate back that was drawn under it. Without it the stream can't be told from chance, so what is
    proved of a mechanism holds against whoever can't break the hash.

    Args:
        key: secret bytes.
        purpose: what is drawn; another purpose is another stream.
    """

    def __init__(self, key: bytes, *purpose: str) -> None:
        # Each part with its length ahead of it, or ("ab", "c") and ("a", "bc") would be one purpose.
        parts = (part.encode("utf-8", "surrogatepass") for part in purpose)
        self._purpose = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        self._key = key
        self._blocks = 0
        self._bits = 0
        self._held = 0

    def below(self, bound: int, /) -> int:
        """See `Randomness`."""
        if bound < 1:
            raise ValueError("expected a bound of 1 or more")
        wanted = (bound - 1).bit_length()
        while True:
            # What is too large is thrown away, so that no number is likelier than another.
            if (drawn := self._take(wanted)) < bound:
                return drawn

    def _take(self, bits: int) -> int:
        while self._held < bits:
            block = hmac.digest(self._key, self._purpose + self._blocks.to_bytes(8, "big"), hashlib.sha256)
            self._blocks += 1
            self._bits |= int.from_bytes(block, "big") << self._held
            self._held += 8 * len(block)
        taken = self._bits & ((1 << bits) - 1)
        self._bits >>= bits
        self._held -= bits
        return taken


def choose(randomness: Randomness, items: Sequence[Item]) -> Item:
    """One of some items, all alike."""
    return items[randomness.below(len(items))]
