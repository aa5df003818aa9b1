"""Which sentences of one share stand in another, as whoever holds both sees it.

Under the same release the same words bring the same rows again, but surrogates are drawn anew, and the length of some with them. So
two sentences are alike if all is equal but what stands in the place of PHI, of which only the category counts.

Where noise lies over the rows no row comes twice. There two sentences are alike if all but the rows is equal, and the rows are as near as
those of one sentence in two shares are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences

# Of two shares of one sentence the rows are as near in so many of all cases.
_SAME = 0.95


def recurring(earlier: RaggedSentences, later: RaggedSentences, *, exactly: bool = False) -> NDArray[np.bool_]:
    """Which sentences of the earlier share stand in the later one, too, bool `[sentences of the earlier]`.

    Args:
        earlier: a share.
        later: another one, under the same release.
        exactly: whether surrogates must be equal, too.
    """
    known = set(sentence_keys(later, exactly=exactly))
    return np.array([key in known for key in sentence_keys(earlier, exactly=exactly)], dtype=np.bool_)


def recurring_behind_noise(
    earlier: RaggedSentences, later: RaggedSentences, twice: tuple[RaggedSentences, RaggedSentences]
) -> NDArray[np.bool_]:
    """Which sentences of the earlier share may stand in the later one, too, bool `[sentences of the earlier]`.

    Args:
        earlier: a share.
        later: another one, under the same release.
        twice: two shares of the attacker's own sentences, in one order: below a distance of rows lie 95 of 100 pairs of them.
    """
    pairs = zip(*(zip(_forms(one), _rows(one), strict=True) for one in twice), strict=True)
    own = [_distance(rows, others) for (form, rows), (other, others) in pairs if form == other]
    within = float(np.quantile(own, _SAME)) if own else 0.0
    known: dict[bytes, list[NDArray[np.float64]]] = {}
    for form, rows in zip(_forms(later), _rows(later), strict=True):
        known.setdefault(form, []).append(rows)
    return np.array(
        [
            any(_distance(rows, one) <= within for one in known.get(form, ()))
            for form, rows in zip(_forms(earlier), _rows(earlier), strict=True)
        ],
        dtype=np.bool_,
    )


def _forms(shown: RaggedSentences) -> list[bytes]:
    """All of each sentence but its rows."""
    return sentence_keys(RaggedSentences(shown.values[:, :0], shown.casing, shown.tags, shown.lengths))


def _rows(shown: RaggedSentences) -> list[NDArray[np.float64]]:
    """The rows of each sentence outside of PHI, `[tokens, dim]`."""
    bounds = np.cumsum(shown.lengths)[:-1]
    parts = zip(np.split(shown.values, bounds), np.split(shown.tags, bounds), strict=True)
    return [values[tags == 0].astype(np.float64) for values, tags in parts]


def _distance(rows: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Mean square of the differences of a number, 0 where there is none."""
    return float(np.square(rows - others).mean()) if rows.size else 0.0


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
