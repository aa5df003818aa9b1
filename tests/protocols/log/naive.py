"""The tree of RFC 6962 as its definition has it, and its proofs as RFC 9162 verifies them: slow, and nothing of ours in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from protocols.log.merkle import Subtree


def entries(size: int) -> list[bytes]:
    return [b"entry %d" % number for number in range(size)]


def mth(data: Sequence[bytes]) -> bytes:
    """Merkle tree hash, RFC 6962 section 2.1."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = 1
    while 2 * k < len(data):
        k *= 2
    return hashlib.sha256(b"\x01" + mth(data[:k]) + mth(data[k:])).digest()


def subtree_of(data: Sequence[bytes]) -> Subtree:
    """What our functions read, from the definition; it also holds them to what they may ask for."""

    def subtree(start: int, end: int) -> bytes:
        size = end - start
        assert 0 <= start < end <= len(data)
        assert size & (size - 1) == 0
        assert start % size == 0
        return mth(data[start:end])

    return subtree


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def includes(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """RFC 9162 section 2.1.3.2, step by step."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf
    for p in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = _node(p, r)
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            r = _node(r, p)
        fn >>= 1
        sn >>= 1
    return sn == 0 and r == root


def consistent(first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]) -> bool:
    """RFC 9162 section 2.1.4.2, step by step."""
    if first == second:
        return not proof and first_root == second_root
    if not proof:
        return False
    path = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn >>= 1
        sn >>= 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = _node(c, fr), _node(c, sr)
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            sr = _node(sr, c)
        fn >>= 1
        sn >>= 1
    return fr == first_root and sr == second_root and sn == 0
