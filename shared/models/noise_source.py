"""Normal numbers that nobody can draw again, for the noise that protects what leaves a hospital.

A statistical generator will not do: torch.Generator takes only 32 bits of its seed, so that whoever has a share could try
all of them and subtract the noise, and the state of any of them can be worked out from enough of its output. Here the
bits are the keystream of AES-256 in counter mode under a key from the operating system, which is kept nowhere; who can
predict them can break AES. Box and Muller (1958) make normal numbers of them, 32 bits each, so that none lies further out
than 6.7 standard deviations: a chance of 3e-11 that is missing from the tails.
"""

from __future__ import annotations

import math
import secrets

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

# Numbers made at a time: their scratch space stays in the processor's cache.
_PIECE = 1 << 15


class PrivateNoise:
    """A source of standard normal numbers under a key of its own."""

    def __init__(self) -> None:
        self._keystream = Cipher(AES(secrets.token_bytes(32)), CTR(bytes(16))).encryptor()

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Fresh independent numbers, float32 of `shape`."""
        normal = np.empty(math.prod(shape), dtype=np.float32)
        for start in range(0, len(normal), _PIECE):
            piece = normal[start : start + _PIECE]
            piece[:] = self._piece(-(-len(piece) // 2))[: len(piece)]
        return normal.reshape(shape)

    def _piece(self, pairs: int) -> NDArray[np.float32]:
        bits = np.frombuffer(self._keystream.update(bytes(8 * pairs)), dtype=np.uint32)
        # In (0, 1]: the logarithm of 0 would be a representation that is not finite.
        radius = bits[:pairs].astype(np.float32)
        radius += 1
        radius *= 2.0**-32
        np.log(radius, out=radius)
        radius *= -2
        np.sqrt(radius, out=radius)
        angle = bits[pairs:].astype(np.float32)
        angle *= 2 * math.pi / 2**32
        return np.concatenate([np.cos(angle) * radius, np.sin(angle) * radius])

    def __repr__(self) -> str:
        return "PrivateNoise()"

    def __reduce__(self) -> str:
        raise TypeError("a source of private noise is never stored")
