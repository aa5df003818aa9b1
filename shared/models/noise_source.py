"""Normal numbers that nobody else can draw, for the noise that protects what leaves a hospital.

A statistical generator will not do: torch.Generator takes only 32 bits of its seed, so that whoever has a share could try
all of them and subtract the noise, and the state of any of them can be worked out from enough of its output. Here the
bits are AES-256 in counter mode; who can predict them can break AES. Box and Muller (1958) make normal numbers of them,
32 bits each, and of more in the tails. With 32 alone none would lie further out than 6.7 standard deviations, and a
value that lies so far from what an input gives would rule this input out: then no epsilon holds.

`PrivateNoise` is fresh: its key comes from the operating system and is kept nowhere. `MemoisedNoise` draws once for each
sentence, ever: whoever gets the same sentence n times with fresh noise has sqrt(n) times less of it after averaging,
also where a note was copied forward and its sentences come back in other notes. A sentence whose noise is raised gets the
same noise and more on top, so that both shares together tell what the one with less noise tells alone.

The classes are final: what has their type is a private source, and whatever takes that type can't be given another.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import math
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB
from numpy.typing import NDArray

from shared.errors import ConfigurationError

SECRET_BYTES: Final = 32

RUNGS_PER_DOUBLING: Final = 4
"""Steps of the ladder of factors by which noise is raised: the factor of rung s is 2 ** (s / RUNGS_PER_DOUBLING)."""

# A number of 32 bits below this is in the tail, as one in a million is. The distances from 0 that two neighbouring numbers
# above it give differ by 5e-5 at the most.
_TAIL = 1 << 12
# Numbers made at a time: their scratch space stays in the processor's cache.
_PIECE = 1 << 15
_KEY_CONTEXT = b"deid-commons memoised noise key v1\x00"
_NONCE_CONTEXT = b"deid-commons memoised noise sentence v1\x00"
_NONCE_BYTES = 12
# A block of AES is four numbers of 32 bits: three of nonce and one of counter going in, four of noise coming out.
_BLOCK = 4

_Further = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.uint32]]
"""Of each number in some rows and columns 32 further bits: the first, second, ... of them."""


@final
class PrivateNoise:
    """A source of random numbers under a key of its own."""

    def __init__(self) -> None:
        self._keystream = Cipher(AES(secrets.token_bytes(32)), CTR(bytes(16))).encryptor()

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Fresh independent numbers, float32 of `shape`."""
        normal = np.empty(math.prod(shape), dtype=np.float32)
        for start in range(0, len(normal), _PIECE):
            piece = normal[start : start + _PIECE]
            pairs = -(-len(piece) // 2)
            bits = self._bits(2 * pairs).reshape(2, 1, pairs)
            _normal(bits[0], bits[1], piece[None], lambda _, rows, __: self._bits(len(rows)))
        return normal.reshape(shape)

    def random(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Fresh independent numbers, uniform in [0, 1), float64 of `shape`."""
        return _uniform(self._bits(2 * math.prod(shape)).view(np.uint64)).reshape(shape)

    def _bits(self, numbers: int) -> NDArray[np.uint32]:
        return np.frombuffer(self._keystream.update(bytes(4 * numbers)), dtype=np.uint32)

    def __repr__(self) -> str:
        return "PrivateNoise()"

    def __reduce__(self) -> str:
        raise TypeError("a source of private noise is never stored")


@final
class MemoisedNoise:
    """Noise that is drawn once for a sentence, however often and in whatever company it is encoded.

    A key comes from the secret and the context by HMAC-SHA256; a nonce of 96 bits from the key and the words, again by
    HMAC-SHA256; the noise is AES-256 of the nonce beside a counter, and further bits of a number are this block under AES-256
    of another key, once, twice, and so on. Without the secret it is as good as fresh. What it
    shows that fresh noise would hide: two equal sentences are shown as equal. So never draw from it, under the true
    words, what is to make a share independent of these words, such as surrogates.

    Args:
        secret: of the site, SECRET_BYTES; it never leaves it. A new secret is fresh noise for all that was ever shared.
        context: what else decides the noise: the digest of the release, so that another release draws anew.

    Raises:
        ConfigurationError: a secret of another length.
    """

    def __init__(self, secret: bytes, context: bytes) -> None:
        if len(secret) != SECRET_BYTES:
            raise ConfigurationError(
                f"memoised noise: expected a secret of {SECRET_BYTES} bytes, got {len(secret)}; restore the site's key"
            )
        key = hmac.digest(secret, _KEY_CONTEXT + context, "sha256")
        self._nonces = hmac.new(key, _NONCE_CONTEXT, hashlib.sha256)
        self._cipher, self._tails = (Cipher(AES(hmac.digest(key, use, "sha256")), ECB()) for use in (b"aes", b"tails"))  # noqa: S305 - counters go in

    def for_sentences(self, words: list[str], lengths: NDArray[np.integer]) -> SentenceNoise:
        """The source for some sentences.

        Args:
            words: their tokens, laid end to end.
            lengths: of the sentences, int `[sentences]`.
        """
        nonces = bytearray()
        begin = 0
        for length in lengths.tolist():
            nonces += self._nonce(words[begin : begin + length])
            begin += length
        return SentenceNoise(
            self._cipher,
            self._tails,
            np.frombuffer(bytes(nonces), dtype="<u4").reshape(-1, _NONCE_BYTES // 4),
            np.asarray(lengths, dtype=np.int64),
            np.zeros(len(lengths), dtype=np.int64),
            np.arange(len(lengths)),
        )

    def _nonce(self, words: list[str]) -> bytes:
        keyed = self._nonces.copy()
        # JSON, so that no two sentences give the same bytes.
        keyed.update(json.dumps(words).encode("ascii"))
        return keyed.digest()[:_NONCE_BYTES]

    def __repr__(self) -> str:
        return "MemoisedNoise()"

    def __reduce__(self) -> str:
        raise TypeError("a source of private noise is never stored")


@final
class SentenceNoise:
    """Noise of given sentences. A sentence's numbers depend on nothing but it and on what was drawn for it before.

    Args:
        cipher: under the key of the noise.
        tails: under that of further bits.
        nonces: uint32 `[all sentences, 3]`.
        lengths: int64 `[all sentences]`.
        taken: blocks of each sentence's stream that were used, int64 `[all sentences]`; shared and moved on.
        rows: the sentences that this source serves, each once, in their order, int64.
    """

    def __init__(
        self,
        cipher: Cipher[ECB],
        tails: Cipher[ECB],
        nonces: NDArray[np.uint32],
        lengths: NDArray[np.int64],
        taken: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> None:
        self._cipher, self._tails = cipher, tails
        self._nonces, self._lengths, self._taken, self._rows = nonces, lengths, taken, rows

    def select_sentences(self, rows: NDArray[np.int64]) -> SentenceNoise:
        """The source for some of the sentences, laid end to end in the order of `rows`."""
        return SentenceNoise(self._cipher, self._tails, self._nonces, self._lengths, self._taken, self._rows[rows])

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Normal numbers, float32 of `shape`, whose first axis is the tokens of all sentences served."""
        numbers = math.prod(shape[1:])
        half = -(-numbers // 2)
        drawn = np.empty((self._tokens(shape), numbers), dtype=np.float32)
        for start, bits, further in self._pieces(2 * half):
            _normal(bits[:, :half], bits[:, half : 2 * half], drawn[start : start + len(bits)], further)
        return drawn.reshape(shape)

    def raised_normal(self, shape: tuple[int, ...], factors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Normal numbers of standard deviation `factors`: those of `standard_normal` and an independent step for each rung.

        One draw at two scales could be solved for, and two draws averaged. Of two shares of a sentence the one on the
        higher rung is the other with more noise, so it tells nothing that the other does not.

        Args:
            shape: first axis the tokens of all sentences served.
            factors: float `[tokens]`, one for all tokens of a sentence, each on the ladder of RUNGS_PER_DOUBLING.

        Raises:
            ConfigurationError: a factor below 1, between two rungs, or not the same throughout a sentence.
        """
        noise = self.standard_normal(shape)
        lengths = self._lengths[self._rows]
        places = RUNGS_PER_DOUBLING * np.log2(factors.astype(np.float64))
        rungs = np.rint(places).astype(np.int64)
        rung_of = np.maximum.reduceat(rungs, np.cumsum(lengths) - lengths) if len(rungs) else rungs
        if np.any(rungs < 0) or np.any(np.abs(places - rungs) > 1e-3) or np.any(np.repeat(rung_of, lengths) != rungs):
            raise ConfigurationError(
                f"memoised noise: expected one factor 2 ** (rung / {RUNGS_PER_DOUBLING}) a sentence, rungs from 0 on, "
                "got others; take them from `enforce`"
            )
        for rung in range(1, int(rung_of.max(initial=0)) + 1):
            raised = rungs >= rung
            more = self.select_sentences(np.flatnonzero(rung_of >= rung)).standard_normal(
                (int(raised.sum()), *shape[1:])
            )
            noise[raised] += np.float32(math.sqrt(_variance(rung) - _variance(rung - 1))) * more
        return noise

    def random(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Numbers uniform in [0, 1), float64 of `shape`, whose first axis is the tokens of all sentences served."""
        numbers = math.prod(shape[1:])
        drawn = np.empty((self._tokens(shape), numbers))
        for start, bits, _ in self._pieces(2 * numbers):
            drawn[start : start + len(bits)] = _uniform(bits.view(np.uint64)[:, :numbers])
        return drawn.reshape(shape)

    def _tokens(self, shape: tuple[int, ...]) -> int:
        tokens = int(self._lengths[self._rows].sum())
        if not shape or shape[0] != tokens:
            raise ConfigurationError(
                f"memoised noise: expected to draw for {tokens} tokens, got a shape of {list(shape)}; "
                "lay the sentences end to end"
            )
        return tokens

    def _pieces(self, numbers: int) -> Iterator[tuple[int, NDArray[np.uint32], _Further]]:
        """At least as many numbers of 32 bits for each token, a few tokens at a time.

        Yields:
            the first of these tokens, their numbers, and the further bits of these.
        """
        lengths = self._lengths[self._rows]
        blocks = -(-numbers // _BLOCK)
        starts = np.cumsum(lengths) - lengths
        first = np.repeat(self._taken[self._rows] - starts * blocks, lengths)
        first += np.arange(len(first)) * blocks
        nonces = np.repeat(self._nonces[self._rows], lengths, axis=0)
        self._taken[self._rows] += lengths * blocks
        if len(first) and int(first.max()) + blocks > 1 << 32:
            raise ConfigurationError("memoised noise: a sentence is too long for its stream; cut it")
        step = max(1, _PIECE // max(1, numbers))
        for begin in range(0, len(first), step):
            counters = _counters(nonces[begin : begin + step], first[begin : begin + step], blocks)
            yield begin, _numbers(_encrypted(self._cipher, counters)), partial(self._further, counters)

    def _further(
        self, counters: NDArray[np.uint64], which: int, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.uint32]:
        made = counters[rows, columns // _BLOCK][:, None]
        for _ in range(which):
            made = _encrypted(self._tails, made)
        found: NDArray[np.uint32] = _numbers(made)[np.arange(len(rows)), columns % _BLOCK]
        return found

    def __repr__(self) -> str:
        return f"SentenceNoise({len(self._rows)} sentences)"

    def __reduce__(self) -> str:
        raise TypeError("a source of private noise is never stored")


def _variance(rung: int) -> float:
    return float(4 ** (rung / RUNGS_PER_DOUBLING))


def _counters(nonces: NDArray[np.uint32], first: NDArray[np.int64], blocks: int) -> NDArray[np.uint64]:
    """The blocks that go in for each token, as two numbers each, uint64 `[tokens, blocks, 2]`."""
    # The nonce, then the rest of the nonce below the counter.
    counters = np.empty((len(first), blocks, 2), dtype="<u8")
    low, high = nonces[:, :2].copy().view("<u8"), nonces[:, 2].astype(np.uint64)
    counters[:, :, 0] = low
    start = (first.astype(np.uint64) << np.uint64(32)) | high
    np.add(start[:, None], np.arange(blocks, dtype=np.uint64) << np.uint64(32), out=counters[:, :, 1])
    return counters


def _encrypted(cipher: Cipher[ECB], blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    stream = cipher.encryptor().update(blocks.data.cast("B")) if blocks.size else b""
    return np.frombuffer(stream, dtype="<u8").reshape(blocks.shape)


def _numbers(blocks: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The four numbers of each block, uint32 `[tokens, 4 * blocks]`."""
    return blocks.reshape(len(blocks), 2 * blocks.shape[1]).view("<u4")


def _normal(
    radius_bits: NDArray[np.uint32], angle_bits: NDArray[np.uint32], out: NDArray[np.float32], further: _Further
) -> None:
    """Twice as many normal numbers along the last axis.

    Args:
        radius_bits: uint32 `[rows, pairs]`.
        angle_bits: the same.
        out: float32 `[rows, 2 * pairs]`; the last column may be missing.
        further: bits of the numbers in `radius_bits`.
    """
    # In (0, 1]: the logarithm of 0 would be a representation that is not finite.
    radius = radius_bits.astype(np.float32)
    radius += 1
    radius *= 2.0**-32
    np.log(radius, out=radius)
    # The least number tells soonest that there is none, as there nearly always is.
    if radius_bits.size and radius_bits.min() < _TAIL:
        rows, columns = np.nonzero(radius_bits < _TAIL)
        radius[rows, columns] = _log_of_tail(radius_bits[rows, columns], rows, columns, further)
    radius *= -2
    np.sqrt(radius, out=radius)
    angle = angle_bits.astype(np.float32)
    angle *= 2 * math.pi / 2**32
    half = radius.shape[-1]
    odd = 2 * half - out.shape[-1]
    np.multiply(np.cos(angle), radius, out=out[..., :half])
    np.multiply(np.sin(angle, out=angle), radius, out=radius)
    out[..., half:] = radius[..., : half - odd]


def _log_of_tail(
    bits: NDArray[np.uint32], rows: NDArray[np.int64], columns: NDArray[np.int64], further: _Further
) -> NDArray[np.float64]:
    """Logarithms of numbers in (0, 1] that begin with these bits: 32 more behind the first 32 that are not all 0."""
    logs = np.zeros(len(bits))
    head = bits.astype(np.float64)
    left = np.arange(len(bits))
    for which in itertools.count(1):
        more = further(which, rows[left], columns[left])
        ending = head[left] > 0
        last = left[ending]
        logs[last] += np.log((head[last] + (more[ending] + 1.0) * 2.0**-32) * 2.0**-32)
        left = left[~ending]
        if not len(left):
            break
        logs[left] -= 32 * math.log(2)
        head[left] = more[~ending]
    return logs


def _uniform(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The first 53 of 64 bits as a number in [0, 1)."""
    uniform = (bits >> np.uint64(11)).astype(np.float64)
    uniform *= 2.0**-53
    return uniform
