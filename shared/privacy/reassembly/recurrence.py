"""Which sentences of one share stand in another, as whoever holds both sees it.

Under the same release the same words bring the same rows again, but surrogates are drawn anew, and the length of some with them. So
two sentences are alike if all is equal but what stands in the place of PHI, of which only the category counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences


def recurring(earlier: RaggedSentences, later: RaggedSentences, *, exactly: bool = False) -> NDArray[np.bool_]:
    """Which sentences of the earlier share stand in the later one, too, bool `[sentences of the earlier]`.

    Args:
        earlier: a share.
        later: another one, under the same release.
        exactly: whether surrogates must be equal, too.
    """
    known = set(sentence_keys(later, exactly=exactly))
    return np.array([key in known for key in sentence_keys(earlier, exactly=exactly)], dtype=np.bool_)


def sentence_keys(shown: RaggedSentences, *, exactly: bool = False) -> list[bytes]:
    """What is equal in two sentences that may be one.

    Args:
        shown: of a share.
        exactly: whether surrogates count.
    """
    values = np.ascontiguousarray(shown.values)
    begins = shown.tags % 2 == 1
    # What a program took for PHI is drawn anew as well, and its length with it: a run of it counts once.
    goes_on = (shown.tags[1:] == UNKNOWN_TAG) & (shown.tags[:-1] == UNKNOWN_TAG)
    begins[1:] &= ~(goes_on & (shown.sentence_of_token[1:] == shown.sentence_of_token[:-1]))
    keys = []
    for start, length in zip(shown.starts.tolist(), shown.lengths.tolist(), strict=True):
        parts = []
        for token in range(start, start + length):
            tag = int(shown.tags[token])
            if exactly or not tag:
                parts.append(bytes([tag, shown.casing[token]]) + values[token].tobytes())
            elif begins[token]:
                parts.append(bytes([tag]))
        keys.append(b"".join(parts))
    return keys
