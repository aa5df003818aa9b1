"""Whole shares that leave once more, as they left: the same sentences of the same notes, with the labels and the hidden words of then.

What is hidden though nobody labelled it depends on who looks: the pipeline, --hide-above, --no-check. Whoever holds both shares would read in the
second what the first hid. So each word that a share hid is known by its note, its sentence and its place, and hidden again, whatever is found
now. What is found now and was not then is hidden too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shared.labels import HIDDEN_TAG
from shared.sentences.tokenised import TokenisedSentences
from site_client.errors import PolicyError
from site_client.sharing.digest_files import Digests, ShareDigests, are_among, join_digests
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.sifted import name_shares


class LeavingAgain:
    """What may leave once more.

    Args:
        key: makes the digests.
        shares: by their numbers; none where nothing leaves again.
        closed: digests of sentences of all others, ascending.
        checked: whether what nobody labelled is looked for now, as `encode` does unasked, or for more.
    """

    def __init__(self, key: DigestKey, shares: Mapping[int, ShareDigests], closed: Digests, *, checked: bool) -> None:
        self._key, self._shares, self._closed, self._checked = key, shares, closed, checked
        self.notes = frozenset[bytes]().union(*(one.notes for one in shares.values()))
        self.known = join_digests([one.known for one in shares.values()])
        # Versions before knew a sentence with its labels, and not of which note it was.
        earlier = [one for one in shares.values() if one.hidden is None]
        self._earlier_notes = frozenset[bytes]().union(*(one.notes for one in earlier))
        self._earlier_sentences = join_digests([one.known for one in earlier])
        self._labelled = join_digests([one.labelled for one in shares.values() if one.hidden is not None])
        self._hidden = join_digests([one.hidden for one in shares.values() if one.hidden is not None])
        self.hidden_again = 0
        """Words that are hidden as they were then, and that nothing finds now."""

    def as_then(self, notes: Sequence[bytes], sentences: Digests, labelled: Digests) -> NDArray[np.bool_]:
        """Which sentences left before, bool `[sentences]`.

        Args:
            notes: which each is of.
            sentences: what each is known by, uint64 `[sentences, n]`.
            labelled: the same with its labels, uint64 `[sentences, n + 1]`, the last of them of its note.
        """
        earlier = np.fromiter((note in self._earlier_notes for note in notes), np.bool_, len(notes))
        by_words = np.logical_or.reduce(are_among(sentences, self._earlier_sentences), axis=1)
        found: NDArray[np.bool_] = are_among(labelled[:, -1], self._labelled) | (earlier & by_words)
        return found

    def hide(self, chunk: TokenisedSentences, labelled: Digests) -> TokenisedSentences:
        """The same sentences; what was hidden then is hidden.

        Args:
            chunk: sentences.
            labelled: each with its labels and its note, uint64 `[sentences]`.
        """
        shown = np.flatnonzero(chunk.tags == 0)
        if not len(self._hidden) or not len(shown):
            return chunk
        again = shown[are_among(self._key.places(labelled, chunk, shown), self._hidden)]
        tags, doubtful = chunk.tags.copy(), chunk.are_doubtful.copy()
        tags[again], doubtful[again] = HIDDEN_TAG, True
        self.hidden_again += len(again)
        return replace(chunk, tags=tags, doubtful=doubtful)

    def require_whole(self, notes: Set[bytes], labelled: Digests) -> None:
        """Returns if no share leaves again in part, with other labels, or with words in clear that may have been hidden.

        Args:
            notes: that leave.
            labelled: their sentences with their labels, as in `as_then`.

        Raises:
            PolicyError: one does.
        """
        met = {number: one for number, one in self._shares.items() if one.notes & notes}
        now, then = join_digests([labelled]), join_digests([one.labelled for one in met.values()])
        missing = sum(
            int((~are_among(one.labelled, now) & ~are_among(one.sentences, self._closed)).sum()) for one in met.values()
        )
        changed = int((~np.logical_or.reduce(are_among(np.unique(labelled, axis=0), then), axis=1)).sum())
        if missing or changed:
            raise PolicyError(
                f"--again: expected every sentence of {name_shares(tuple(met))} with the labels that it left with, got {missing} that are "
                "missing or have others: the two shares together would point to them; give all notes of these shares as they were "
                "then, or leave them out"
            )
        unknown = tuple(number for number, one in met.items() if one.hidden is None)
        if unknown and not self._checked:
            raise PolicyError(
                f"--again: {name_shares(unknown)}: expected a look for PHI that nobody labelled, for an earlier version did not keep which "
                "words it hid, and they must not be shown now; give neither --no-check nor a --hide-above over 0.5, under a release "
                "that replaces PHI, or leave out the notes of these shares"
            )
