"""Weights as bytes: float32, little-endian, one after the other; nothing else.

There is no header, no name and no shape: the task says how many numbers there are, so bytes are weights of that size or are refused
before anything is allocated for them.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from protocols.errors import BoundsError, DigestError, NonFiniteError
from protocols.fields import check_range

MOST_NUMBERS = 64_000_000
"""Of a head: a hundred times the default one."""
_NUMBER = np.dtype("<f4")


def weights_to_bytes(weights: NDArray[np.float32]) -> bytes:
    """The bytes of a vector.

    Raises:
        NonFiniteError: a number that is none.
    """
    _check_finite(weights)
    return np.ascontiguousarray(weights, dtype=_NUMBER).tobytes()


def weights_from_bytes(data: bytes, numbers: int, sha256: str) -> NDArray[np.float32]:
    """The vector of `weights_to_bytes`.

    Args:
        data: the bytes.
        numbers: how many there must be.
        sha256: digest that they must have.

    Raises:
        BoundsError: another number of them.
        DigestError: other bytes.
        NonFiniteError: a number that is none.
    """
    check_range(numbers, 1, MOST_NUMBERS, "weights")
    if len(data) != numbers * _NUMBER.itemsize:
        raise BoundsError(
            f"{numbers * _NUMBER.itemsize} bytes", received=str(len(data)), advice="refuse it", place="weights"
        )
    if digest_of(data) != sha256:
        raise DigestError("the bytes that were signed", received="others", advice="refuse them", place="weights")
    weights = np.frombuffer(data, dtype=_NUMBER).astype(np.float32)
    _check_finite(weights)
    return weights


def digest_of(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _check_finite(weights: NDArray[np.float32]) -> None:
    if not bool(np.isfinite(weights).all()):
        raise NonFiniteError("finite numbers", received="others", advice="refuse them", place="weights")
