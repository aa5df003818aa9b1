"""Whether two states of the code measure the same: what the default construction and heads of a few steps make of MEDDOCAN, as digests.

Where two states print the same, figures of the default construction that were recorded at them are of one construction and training; of attacks it
tells nothing. Draws that are otherwise nobody's to repeat are taken from a key of zeros.
`PYTHONPATH=CHECKOUT python bench/privacy/worth/state.py`, also for a checkout of before this file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray

from bench.privacy.worth import pool
from bench.privacy.worth.meddocan import RECASED, sides

_STEPS = 40


def digests() -> dict[str, str]:
    """Of the codes that hospitals share, and of the weights that provider's heads have after a few steps."""
    known = sides()
    found = {}
    with patch("secrets.token_bytes", bytes), patch.object(pool, "STEPS", _STEPS):
        codes = pool.pooled_codes(known.construction, known.provider, known.pooled)
        found["codes"] = _digest((codes.codes, codes.tags, codes.lengths, codes.casing))
        for side in (pool.ALONE, pool.RAW, pool.SHARES):
            head = pool.trained_as_provider(known, side, 1, RECASED).head
            found[side] = _digest(weight.numpy() for _, weight in sorted(head.state_dict().items()))
    return found


def _digest(arrays: Iterable[NDArray[np.generic]]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(digests()))
