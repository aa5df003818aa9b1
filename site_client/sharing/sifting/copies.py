"""Of notes that are in one folder twice only the first leaves: two annotators, or a copy whose labels somebody has corrected.

Both together would point to what was corrected, as two shares would: the same sentence, once with a label and once without. Nothing is
kept of a note but digests and its id, which is for the terminal alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.text.letters import compose
from site_client.sharing.digest_files import Digests, are_among, join_digests
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import EDITED


class GrowingDigests:
    """Digests to which more are added, in the memory that they take."""

    def __init__(self) -> None:
        # Ascending each, and longer than the next: as many as the number of all has binary digits, at most.
        self._parts: list[Digests] = []

    def add(self, digests: Digests) -> None:
        """Takes some in.

        Args:
            digests: ascending.
        """
        while self._parts and len(self._parts[-1]) <= len(digests):
            digests = join_digests([self._parts.pop(), digests])
        self._parts.append(digests)

    def has(self, digests: Digests) -> NDArray[np.bool_]:
        """Which digests are among them, bool of the same shape."""
        found = np.zeros(digests.shape, dtype=np.bool_)
        for part in self._parts:
            found |= are_among(digests, part)
        return found


class Copies:
    """Finds the notes of one encoding that are there already.

    Args:
        key: makes the digests.
    """

    def __init__(self, key: DigestKey) -> None:
        self._key = key
        self._taken: dict[bytes, tuple[bytes, str]] = {}
        self._runs = GrowingDigests()
        self.left_out = 0
        """Copies, whole or edited."""
        self.labelled_otherwise: list[tuple[str, str]] = []
        """Ids of whole copies with other labels, and each time that of the note that was taken."""

    def is_one(self, document: Document, note: bytes, runs: Sequence[Digests]) -> bool:
        """Whether a note, or more than half of it, was taken already.

        Args:
            document: the note, its labels grown to whole words.
            note: digest of its text.
            runs: of words, those that are compared, for each way to write them; none where only whole copies are asked for.
        """
        taken = self._taken.get(note)
        if taken is None and not any(int(self._runs.has(one).sum()) > EDITED * len(one) for one in runs):
            return False
        self.left_out += 1
        if taken is not None and taken[0] != self._labels(document):
            self.labelled_otherwise.append((document.identifier, taken[1]))
        return True

    def take(self, document: Document, note: bytes, runs: Digests) -> None:
        """Is told of a note that passes.

        Args:
            document: as for `is_one`.
            note: likewise.
            runs: those that are kept.
        """
        self._taken[note] = self._labels(document), document.identifier
        self._runs.add(runs)

    def _labels(self, document: Document) -> bytes:
        """Digest of what people have labelled in a note; white space is no matter, nor how marks are written, as in the text."""
        spans = [span for span in document.annotations if not span.doubtful]
        edges = [0, *(edge for span in spans for edge in (span.start, span.end))]
        parts = (compose(document.text[start:end]) for start, end in pairwise(edges))
        places = list(accumulate(len("".join(part.split())) for part in parts))
        stated = [
            f"{start} {end} {span.category}" for span, start, end in zip(spans, places[::2], places[1::2], strict=True)
        ]
        return self._key.note("\n".join(["labels", *stated]))
