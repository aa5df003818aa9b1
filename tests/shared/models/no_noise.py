"""A source of noise for comparisons: its numbers are all zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class NoNoise:
    """Draws zeros. It is not private, so nothing that it is given to can be shared."""

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return np.zeros(shape, dtype=np.float32)

    def random(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return np.zeros(shape)
