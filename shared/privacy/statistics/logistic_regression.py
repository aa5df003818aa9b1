"""Logistic regression of few features and many pairs, without a library for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_RIDGE = 1.0
_NEWTON_STEPS = 30


class LogisticRegression:
    """Logistic regression by Newton's method, with a ridge on standardised features.

    Args:
        features: float64 `[n, features]`.
        positive: bool `[n]`.
    """

    def __init__(self, features: Floats, positive: NDArray[np.bool_]) -> None:
        self._mean = features.mean(0)
        self._scale = np.where(features.std(0) < 1e-9, 1, features.std(0))
        rows = self._rows(features)
        ridge = np.full(rows.shape[1], _RIDGE)
        ridge[-1] = 1e-6
        self._weights = np.zeros(rows.shape[1])
        for _ in range(_NEWTON_STEPS):
            chances = 1 / (1 + np.exp(-np.clip(rows @ self._weights, -30, 30)))
            slope = rows.T @ (positive - chances) - ridge * self._weights
            curvature = (rows * (chances * (1 - chances))[:, None]).T @ rows + np.diag(ridge)
            step = np.linalg.solve(curvature, slope)
            # A step of Newton's may overshoot where classes part well.
            self._weights += step * min(1.0, 3 / max(float(np.abs(step).max()), 1e-12))
            if float(np.abs(step).max()) < 1e-6:
                break

    def scores(self, features: Floats) -> Floats:
        """Log-odds of being positive, `[n]`."""
        result: Floats = self._rows(features) @ self._weights
        return result

    def _rows(self, features: Floats) -> Floats:
        scaled = (features - self._mean) / self._scale
        return np.concatenate([scaled, np.ones((len(features), 1))], axis=1)
