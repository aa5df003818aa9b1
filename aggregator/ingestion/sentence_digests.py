"""What a sentence of a share is known by when its notes come again: a keyed digest of what an encoding of them can't change.

Where surrogates stand for labelled PHI, each encoding draws others. What stays are the length, the tags, and outside PHI the rows
or codes and casing classes. Where noise hides words instead, a sentence that is shared again has the same noise, and all of its rows count.

Only a sentence that says something of its own counts: one that is short, or of few different words, stands in the notes of many
patients. See docs/adr/0016-codebook.md for how often others were taken for the same.

Without the provider's secret a digest can't be tried out on a sentence that somebody guesses.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import SentenceBlock

MOST = 1 << 20
"""Digests that are kept of a share: of more the smallest, which are as random a sample in another share."""
DIGEST_TYPE = np.dtype("<u8")
# Tokens outside PHI, and different rows among them.
_TOKENS, _ROWS = 10, 6


class SentenceDigests:
    """Collects the digests of a share, block by block.

    Args:
        key: the provider's secret.
        whole: whether the rows of PHI count too: they are the same whenever a sentence is encoded.

    Attributes:
        sentences: that have a digest, each as often as it stands in the share.
    """

    def __init__(self, key: bytes, *, whole: bool) -> None:
        self._key, self._whole = key, whole
        self._found: set[int] = set()
        self.sentences = 0

    def add(self, block: SentenceBlock) -> None:
        """Takes the sentences of a block in."""
        digests = list(self._of(block))
        self.sentences += len(digests)
        self._found.update(digests)
        if len(self._found) > 2 * MOST:
            self._found = set(sorted(self._found)[:MOST])

    def to_bytes(self) -> bytes:
        """All digests, each once, ascending, 8 bytes each, lowest first."""
        return np.array(sorted(self._found)[:MOST], dtype=DIGEST_TYPE).tobytes()

    def _of(self, block: SentenceBlock) -> Iterator[int]:
        outside = block.tags == 0
        shown = np.ones_like(outside) if self._whole else outside
        rows = block.values.view("<u2").reshape(block.tokens, -1)
        values = np.where(shown[:, None], rows, np.uint16(0))
        casing = np.where(outside, block.casing, np.uint8(0))
        bounds = block.offsets
        enough = np.add.reduceat(outside, bounds[:-1], dtype=np.int64) >= _TOKENS
        for sentence in np.flatnonzero(enough).tolist():
            own = slice(int(bounds[sentence]), int(bounds[sentence + 1]))
            if _distinct(values[own][outside[own]]) >= _ROWS:
                digest = hashlib.blake2b(digest_size=DIGEST_TYPE.itemsize, key=self._key)
                for array in (block.lengths[sentence : sentence + 1], block.tags[own], casing[own], values[own]):
                    digest.update(array.tobytes())
                yield int.from_bytes(digest.digest(), "little")


def _distinct(rows: NDArray[np.uint16]) -> int:
    return len({row.tobytes() for row in rows})


def to_text(digests: bytes) -> str:
    """Digests on their way out of the child process."""
    return base64.b64encode(digests).decode("ascii")


def from_text(text: object) -> bytes | None:
    """What `to_text` was given; None if it is nothing that `SentenceDigests.to_bytes` gives."""
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return None
    if len(data) % DIGEST_TYPE.itemsize:
        return None
    digests = np.frombuffer(data, DIGEST_TYPE)
    return data if bool((digests[1:] > digests[:-1]).all()) else None
