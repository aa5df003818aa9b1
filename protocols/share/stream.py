"""Encryption of a stream of any length in constant memory: STREAM over chunks of ChaCha20-Poly1305.

The plaintext is cut into chunks of 64 KiB; the last one is shorter or full, and empty only where the whole plaintext is.
Each is sealed under one key with the nonce that its place demands: its number as 11 bytes, highest first, then a byte that
is 1 for the last chunk and 0 for every other. So a chunk that was changed, moved, doubled or left out is refused where it
stands, and so are an end that came too early and anything behind the end.
(Hoang, Reyhanitabar, Rogaway, Vizar: Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, CRYPTO 2015.)

A key serves one stream, ever: nonces repeat from stream to stream. What `decrypt` has written is authentic as far as it
goes, but whether it is complete is known only when `decrypt` returns: write to a staging file, and use nothing before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from protocols.errors import EncryptionError

CHUNK_BYTES = 64 << 10
TAG_BYTES = 16
KEY_BYTES = 32


class Source(Protocol):
    """What is read from: at most `size` bytes, none at the end."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


class Sink(Protocol):
    """What is written to."""

    def write(self, data: bytes, /) -> object:
        """Take all of `data`."""


def ciphertext_size(plaintext_bytes: int) -> int:
    """Bytes of the ciphertext of that many bytes.

    >>> ciphertext_size(0), ciphertext_size(65536), ciphertext_size(65537)
    (16, 65552, 65569)
    """
    chunks = max(1, -(-plaintext_bytes // CHUNK_BYTES))
    return plaintext_bytes + chunks * TAG_BYTES


class EncryptingWriter:
    """A sink that encrypts what is written to it, for who has no source to read from.

    Args:
        sink: for the ciphertext.
        key: as for `encrypt`.
        associated: likewise.
    """

    def __init__(self, sink: Sink, key: bytes, associated: bytes) -> None:
        self._sink = sink
        self._aead = ChaCha20Poly1305(key)
        self._associated = associated
        self._held = bytearray()
        self._number = 0

    def write(self, data: bytes, /) -> None:
        """Take all of `data`."""
        self._held += data
        # A full chunk waits until it is known whether it is the last.
        while len(self._held) > CHUNK_BYTES:
            self._seal(last=False)

    def finish(self) -> None:
        """Write the last chunk. Without it the stream is refused as one that was cut."""
        self._seal(last=True)

    def _seal(self, *, last: bool) -> None:
        chunk = bytes(self._held[:CHUNK_BYTES])
        del self._held[:CHUNK_BYTES]
        self._sink.write(self._aead.encrypt(_nonce(self._number, last), chunk, self._associated))
        self._number += 1


def encrypt(source: Source, sink: Sink, key: bytes, associated: bytes) -> None:
    """Encrypts all of `source` into `sink`.

    Args:
        source: the plaintext.
        sink: for the ciphertext.
        key: 32 bytes that no other stream was or will be encrypted with.
        associated: what the ciphertext belongs to; who decrypts must state the same.
    """
    writer = EncryptingWriter(sink, key, associated)
    while data := source.read(CHUNK_BYTES):
        writer.write(data)
    writer.finish()


def decrypt(source: Source, sink: Sink, key: bytes, associated: bytes) -> None:
    """Decrypts all of `source` into `sink`; see the module for what may be used of it when.

    Args:
        source: the ciphertext.
        sink: for the plaintext, chunk by chunk, each after it was authenticated.
        key: that it was encrypted with.
        associated: what it was encrypted for.

    Raises:
        EncryptionError: another key or purpose; or chunks that were changed, moved, left out or added.
    """
    aead = ChaCha20Poly1305(key)
    for number, (chunk, last) in enumerate(_chunks(source, CHUNK_BYTES + TAG_BYTES)):
        try:
            plaintext = aead.decrypt(_nonce(number, last), chunk, associated)
        except InvalidTag as error:
            raise _refused(number) from error
        if not plaintext and number:
            # One plaintext has one way to be cut.
            raise _refused(number)
        sink.write(plaintext)


def _chunks(source: Source, size: int) -> Iterator[tuple[bytes, bool]]:
    """Chunks, and whether it is the last: full ones, then one of any size. There is always at least one."""
    chunk = _full(source, size)
    while len(chunk) == size and (following := _full(source, size)):
        yield chunk, False
        chunk = following
    yield chunk, True


def _full(source: Source, size: int) -> bytes:
    """`size` bytes, fewer only at the end: a single read may bring fewer anywhere."""
    data = source.read(size)
    while len(data) < size and (more := source.read(size - len(data))):
        data += more
    return data


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _refused(number: int) -> EncryptionError:
    return EncryptionError(
        "a complete stream as it was encrypted for this key and purpose",
        received="bytes that were changed, cut, moved or made for another",
        advice="refuse them and ask the sender to send them again",
        place=f"chunk {number}",
    )
