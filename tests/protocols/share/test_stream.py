"""The stream: what comes out is what went in, whole, or nothing counts. `cryptography` itself is the oracle."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import EncryptionError
from protocols.share.stream import CHUNK_BYTES, TAG_BYTES, ciphertext_size, decrypt, encrypt

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
SEALED = CHUNK_BYTES + TAG_BYTES
BOUND = b"what it is for"
SIZES = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES - 1, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 1]


def plaintext(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def encrypted(data: bytes, key: bytes = KEY, associated: bytes = BOUND) -> bytes:
    sink = io.BytesIO()
    encrypt(io.BytesIO(data), sink, key, associated)
    return sink.getvalue()


def decrypted(data: bytes, key: bytes = KEY, associated: bytes = BOUND) -> bytes:
    sink = io.BytesIO()
    decrypt(io.BytesIO(data), sink, key, associated)
    return sink.getvalue()


def refused(data: bytes) -> None:
    with pytest.raises(EncryptionError):
        decrypted(data)


@pytest.mark.parametrize("size", SIZES)
def test_round_trip_around_every_edge(size: int) -> None:
    sealed = encrypted(plaintext(size))
    assert len(sealed) == ciphertext_size(size)
    assert decrypted(sealed) == plaintext(size)


@pytest.mark.parametrize("size", SIZES)
def test_each_chunk_is_one_of_the_bare_cipher_under_the_nonce_of_its_place(size: int) -> None:
    sealed, aead, found = encrypted(plaintext(size)), ChaCha20Poly1305(KEY), []
    starts = range(0, len(sealed), SEALED)
    for number, start in enumerate(starts):
        nonce = number.to_bytes(11, "big") + (b"\x01" if start == starts[-1] else b"\x00")
        found.append(aead.decrypt(nonce, sealed[start : start + SEALED], BOUND))
    assert b"".join(found) == plaintext(size)


class Dripping:
    """A source that gives less than it is asked for, as sockets and some file systems do."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._file, self._sizes = io.BytesIO(data), sizes

    def read(self, size: int, /) -> bytes:
        self._sizes.append(self._sizes.pop(0))
        return self._file.read(min(size, self._sizes[0]))


@settings(deadline=None, max_examples=20)
@given(size=st.integers(0, 3 * CHUNK_BYTES), sizes=st.lists(st.integers(1000, 2 * CHUNK_BYTES), min_size=1, max_size=5))
def test_where_the_reads_are_cut_makes_no_difference(size: int, sizes: list[int]) -> None:
    sealed, opened = io.BytesIO(), io.BytesIO()
    encrypt(Dripping(plaintext(size), list(sizes)), sealed, KEY, BOUND)
    assert sealed.getvalue() == encrypted(plaintext(size))
    decrypt(Dripping(sealed.getvalue(), list(sizes)), opened, KEY, BOUND)
    assert opened.getvalue() == plaintext(size)


def test_truncation_at_every_chunk_edge_and_one_byte_beside_it() -> None:
    sealed = encrypted(plaintext(3 * CHUNK_BYTES + 5))
    for edge in (0, TAG_BYTES, *range(SEALED, len(sealed), SEALED), len(sealed)):
        for end in {edge - 1, edge, edge + 1} & set(range(len(sealed))):
            refused(sealed[:end])


@pytest.mark.parametrize("size", [CHUNK_BYTES, 2 * CHUNK_BYTES])
def test_truncation_of_a_stream_that_ends_with_a_full_chunk(size: int) -> None:
    sealed = encrypted(plaintext(size))
    for end in (len(sealed) - 1, len(sealed) - TAG_BYTES, len(sealed) - SEALED, len(sealed) - SEALED + 1):
        refused(sealed[:end])


def test_swapped_dropped_doubled_and_appended_chunks() -> None:
    sealed = encrypted(plaintext(4 * CHUNK_BYTES))
    first, second, third, last = (sealed[start : start + SEALED] for start in range(0, len(sealed), SEALED))
    for chunks in (
        (second, first, third, last),
        (first, second, last, third),
        (second, third, last),
        (first, third, last),
        (first, second, last),
        (first, first, second, third, last),
        (first, second, third, last, last),
        (last,),
        (last, first, second, third),
    ):
        refused(b"".join(chunks))
    for more in (b"\x00", bytes(TAG_BYTES), bytes(SEALED), encrypted(b""), encrypted(b"x")):
        refused(sealed + more)


def test_an_empty_chunk_behind_full_ones_is_refused_though_the_key_made_it() -> None:
    aead, full = ChaCha20Poly1305(KEY), plaintext(CHUNK_BYTES)
    sealed = aead.encrypt(bytes(12), full, BOUND) + aead.encrypt((1).to_bytes(11, "big") + b"\x01", b"", BOUND)
    refused(sealed)


@settings(deadline=None)
@given(offset=st.integers(0, ciphertext_size(CHUNK_BYTES + 100) - 1), flip=st.integers(1, 255))
def test_any_changed_byte_is_refused(offset: int, flip: int) -> None:
    sealed = bytearray(encrypted(plaintext(CHUNK_BYTES + 100)))
    sealed[offset] ^= flip
    refused(bytes(sealed))


def test_another_key_or_purpose_is_refused() -> None:
    sealed = encrypted(b"sentences")
    for key, associated in ((OTHER_KEY, BOUND), (KEY, BOUND + b"!"), (KEY, b"")):
        with pytest.raises(EncryptionError):
            decrypted(sealed, key, associated)


def test_nothing_behind_the_changed_chunk_is_written() -> None:
    sealed = bytearray(encrypted(plaintext(3 * CHUNK_BYTES)))
    sealed[SEALED] ^= 1
    sink = io.BytesIO()
    with pytest.raises(EncryptionError, match="chunk 1"):
        decrypt(io.BytesIO(sealed), sink, KEY, BOUND)
    assert sink.getvalue() == plaintext(3 * CHUNK_BYTES)[:CHUNK_BYTES]


class Endless:
    """50 MB that no one holds."""

    def __init__(self) -> None:
        self.left = 50_000_000

    def read(self, size: int, /) -> bytes:
        size = min(size, self.left)
        self.left -= size
        return bytes(size)


class Counted:
    """Counts what is written."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes, /) -> None:
        self.bytes += len(data)


def test_memory_does_not_grow_with_the_stream(tmp_path_factory: pytest.TempPathFactory) -> None:
    path, counted = tmp_path_factory.mktemp("stream") / "sealed", Counted()
    tracemalloc.start()
    with path.open("wb") as sealed:
        encrypt(Endless(), sealed, KEY, BOUND)
    with path.open("rb") as source:
        decrypt(source, counted, KEY, BOUND)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counted.bytes == 50_000_000
    assert peak < 1 << 20
