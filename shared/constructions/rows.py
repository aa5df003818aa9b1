"""What every row of a share keeps to, as the construction that made it says: width and norm.

Whoever writes or takes in a share holds it to this, and does not look at the representer; nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundation.feature_columns import FeatureColumn
from shared.errors import ModelError

MAX_FACTOR = 16.0
"""Under more noise than this many times its scale a sentence is of no use to a head."""
# Stated bounds travel as decimal numbers.
_ROUNDING = 1e-6


NOWHERE, NEAR_PHI, ANYWHERE, GROUP = range(4)
"""Where a code may stand in a hospital's share; that of a group of words may stand anywhere."""


@dataclass(frozen=True)
class CodePlaces:
    """Where each code may stand.

    Args:
        places: NOWHERE, NEAR_PHI, ANYWHERE or GROUP for each, uint8 `[codes]`.
        window: a token is near PHI if a labelled one of its sentence is at most so many tokens away.
    """

    places: NDArray[np.uint8]
    window: int


@dataclass(frozen=True)
class ShareRows:
    """The rows of a share.

    Args:
        dim: numbers of a row; 0 where a token is shown by a code.
        value_bound: L2 norm that no row exceeds, before it is rounded to float16.
        features: feature columns beside codes, in their order.
    """

    dim: int
    value_bound: float
    features: tuple[FeatureColumn, ...] = ()

    def allows(self, value_bound: float) -> bool:
        """Whether a share may state this bound of its own."""
        return value_bound <= self.value_bound * (1 + _ROUNDING)

    def check(self, values: NDArray[np.floating]) -> None:
        """Returns if these may be rows of a share.

        Args:
            values: float16 `[tokens, dim]`.

        Raises:
            ModelError: another type or width, a value that is not finite, or a norm beyond the bound.
        """
        if values.dtype != np.float16 or values.ndim != 2 or values.shape[1] != self.dim:
            raise ModelError(f"expected float16 rows of {self.dim} numbers, got {values.dtype} {list(values.shape)}")
        norms = np.linalg.norm(values.astype(np.float64), axis=1)
        # Rounding changes a number by 2^-11 of itself, or by 2^-25 where it is next to nothing. Written so that a NaN fails too.
        if not bool(np.all(norms <= self.value_bound * (1 + 2.0**-11) + np.sqrt(self.dim) * 2.0**-25)):
            raise ModelError(
                f"expected finite rows of norm {self.value_bound:.4g} at most, got others; encode the notes again"
            )
