"""What a sentence of a share is known by when its notes come again: a keyed digest of what an encoding of them can't change.

Where surrogates stand for labelled PHI, each encoding draws others. What stays are the categories of the spans, in their order, and
outside PHI the rows or codes and casing classes. How many tokens a span has does not count: the same name or date written another way
has another number. Nor do tokens of UNKNOWN_TAG beside a span, or how many stand side by side: another look at the same notes hides one
more. A word that is shown in one share and hidden in another still makes another sentence of it.

Where noise hides words instead, a sentence that is shared again has the same noise, and so the same rows whatever its labels are: these
are all that counts.

Only a sentence that says something of its own counts: one that is short, or of few different words, stands in the notes of many
patients. See docs/adr/0016-codebook.md for how often others were taken for the same. How often a share says the same is counted over all
sentences that are more than a word or two: of these nothing is kept but two numbers.

Without the provider's secret a digest can't be tried out on a sentence that somebody guesses.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import UNKNOWN_TAG, SentenceBlock

MOST = 1 << 20
"""Digests that are kept of a share: of more the smallest, which are as random a sample in another share."""
MOST_COUNTED = 1 << 16
"""Digests, of all sentences, that tell how many different ones there are to a percent."""
DIGEST_TYPE = np.dtype("<u8")
# Tokens outside PHI, and different rows among them: what consists of PHI alone is nobody's own.
_TOKENS, _ROWS = 10, 6
# Shorter ones are the same words in the notes of anybody: "No fever".
_SAID = 3


class SentenceDigests:
    """Collects the digests of a share, block by block.

    Args:
        key: the provider's secret.
        whole: whether the rows of all tokens count, and nothing else: they are the same whenever a sentence is encoded.

    Attributes:
        sentences: that have a digest, each as often as it stands in the share.
        said: sentences of three tokens and more, whether they have a digest or not, each as often as it stands in the share.
    """

    def __init__(self, key: bytes, *, whole: bool) -> None:
        self._key, self._whole = key, whole
        self._found: set[int] = set()
        self._said: set[int] = set()
        self.sentences = self.said = 0

    def add(self, block: SentenceBlock) -> None:
        """Takes the sentences of a block in."""
        said = list(self._of(block))
        digests = [digest for digest, own in said if own]
        self.sentences += len(digests)
        self.said += len(said)
        self._found.update(digests)
        self._said.update(digest for digest, _ in said)
        if len(self._found) > 2 * MOST:
            self._found = set(sorted(self._found)[:MOST])
        if len(self._said) > 2 * MOST_COUNTED:
            self._said = set(sorted(self._said)[:MOST_COUNTED])

    @property
    def distinct(self) -> int:
        """How many different ones there are among what was said; of very many about as many."""
        smallest = np.array(sorted(self._said)[:MOST_COUNTED], dtype=DIGEST_TYPE)
        return round(estimate_distinct(smallest, MOST_COUNTED))

    def to_bytes(self) -> bytes:
        """All digests, each once, ascending, 8 bytes each, lowest first."""
        return np.array(sorted(self._found)[:MOST], dtype=DIGEST_TYPE).tobytes()

    def _of(self, block: SentenceBlock) -> Iterator[tuple[int, bool]]:
        """The digest of each sentence of _SAID tokens and more, and whether it is one of its own."""
        outside = block.tags == 0
        rows, bounds = block.values.view("<u2").reshape(block.tokens, -1), block.offsets
        kinds = np.zeros(0, dtype=np.uint8) if self._whole else _kinds(block.tags)
        places = np.arange(block.tokens) if self._whole else _units(kinds, bounds)
        edges = np.searchsorted(places, bounds)
        enough = np.add.reduceat(outside, bounds[:-1], dtype=np.int64) >= _TOKENS
        for sentence in np.flatnonzero(block.lengths >= _SAID).tolist():
            every = slice(int(bounds[sentence]), int(bounds[sentence + 1]))
            units = places[edges[sentence] : edges[sentence + 1]]
            arrays = [rows[units]]
            if not self._whole:
                arrays = [kinds[units], *(array[units[kinds[units] == 0]] for array in (block.casing, rows))]
            own = bool(enough[sentence]) and _distinct(rows[every][outside[every]]) >= _ROWS
            yield self._digest(*arrays), own

    def _digest(self, *arrays: NDArray[np.generic]) -> int:
        digest = hashlib.blake2b(digest_size=DIGEST_TYPE.itemsize, key=self._key)
        # The first tells how long the others are.
        digest.update(len(arrays[0]).to_bytes(8, "little"))
        for array in arrays:
            digest.update(array.tobytes())
        return int.from_bytes(digest.digest(), "little")


def _kinds(tags: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The category of each token, from 1; 0 outside PHI, UNKNOWN_TAG where nobody knows."""
    return np.where(tags == UNKNOWN_TAG, tags, tags // 2 + tags % 2)


def _units(kinds: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the tokens that a sentence is known by: all outside PHI, and of those side by side that are not, one for each category.

    Args:
        kinds: what `_kinds` gives, uint8 `[tokens]`.
        bounds: where sentences start, and the end, `[sentences + 1]`.

    Returns:
        Ascending. A token that is unknown is among them only where no token of its run has a category.
    """
    sentence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    begins = np.ones(len(kinds), dtype=np.bool_)
    begins[1:] = (kinds[1:] == 0) | (kinds[:-1] == 0) | (sentence[1:] != sentence[:-1])
    run = np.cumsum(begins) - 1
    named = np.zeros(run[-1] + 1, dtype=np.bool_)
    named[run[kinds != UNKNOWN_TAG]] = True
    kept = np.flatnonzero((kinds != UNKNOWN_TAG) | ~named[run])
    again = np.zeros(len(kept), dtype=np.bool_)
    again[1:] = (kinds[kept[1:]] == kinds[kept[:-1]]) & (run[kept[1:]] == run[kept[:-1]])
    return kept[~again]


def _distinct(rows: NDArray[np.uint16]) -> int:
    return len({row.tobytes() for row in rows})


def estimate_distinct(smallest: NDArray[np.uint64], most: int) -> float:
    """How many different digests there were.

    Args:
        smallest: the smallest `most` of them, or all, ascending.
        most: that are kept.
    """
    if len(smallest) < most:
        return float(len(smallest))
    # Digests are spread evenly, so the largest of these tells how many there were.
    return most * 2.0**64 / (float(smallest[-1]) + 1)


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
