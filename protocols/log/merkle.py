"""The Merkle tree of RFC 6962 (and 9162) over SHA-256: roots, and the two proofs that a log only ever grows.

An inclusion proof shows that an entry stands in the tree at its place; a consistency proof shows that a larger tree begins with
all of a smaller one. Where the hashes lie is for the caller to say: a `Subtree` gives the root of entries `start` to `end`,
which are always a power of two of them, at a multiple of it. Nothing that it gives is trusted: whoever verifies compares
what a proof leads to with a root that was signed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from protocols.errors import BoundsError, DigestError

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256().digest()
Subtree = Callable[[int, int], bytes]


def leaf_hash(entry: bytes) -> bytes:
    """Of an entry; its first byte keeps an entry from passing for an inner node."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Of two subtrees beside each other."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(subtree: Subtree, size: int) -> bytes:
    """Root of the tree of the first `size` entries."""
    return _root(subtree, 0, size) if size else EMPTY_ROOT


def prove_inclusion(subtree: Subtree, index: int, size: int) -> list[bytes]:
    """The proof that an entry stands in a tree, from the leaf upwards (RFC 9162, 2.1.3.1).

    Args:
        subtree: of the tree.
        index: of the entry, from 0.
        size: of the tree.

    Raises:
        BoundsError: the tree has no such entry.
    """
    _check_order(index + 1, size)
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        low = index < middle
        proof.append(_root(subtree, middle, end) if low else _root(subtree, start, middle))
        start, end = (start, middle) if low else (middle, end)
    return proof[::-1]


def root_by_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """The root to which an inclusion proof leads; the entry stands in the tree that has it.

    Args:
        leaf: hash of the entry.
        index: its place, from 0.
        size: of the tree.
        proof: as `prove_inclusion` gave it.

    Raises:
        BoundsError: the tree has no such entry.
        DigestError: the proof has another length.
    """
    _check_order(index + 1, size)
    if size == 1:
        _check_spent(proof)
        return leaf
    rest, last = _parted(proof)
    middle = _split(size)
    if index < middle:
        return node_hash(root_by_inclusion(leaf, index, middle, rest), last)
    return node_hash(last, root_by_inclusion(leaf, index - middle, size - middle, rest))


def prove_consistency(subtree: Subtree, first: int, second: int) -> list[bytes]:
    """The proof that the tree of `second` entries begins with that of `first` (RFC 9162, 2.1.4.1).

    Raises:
        BoundsError: the first is empty, or larger than the second.
    """
    _check_order(first, second)
    proof: list[bytes] = []
    start, end = 0, second
    while end != first:
        middle = start + _split(end - start)
        low = first <= middle
        proof.append(_root(subtree, middle, end) if low else _root(subtree, start, middle))
        start, end = (start, middle) if low else (middle, end)
    # What the first tree is by itself, its root says.
    return [*([_root(subtree, start, end)] if start else []), *proof[::-1]]


def roots_by_consistency(first: int, second: int, root: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    """The roots of both trees to which a consistency proof leads.

    Args:
        first: size of the smaller tree.
        second: size of the larger.
        root: of the smaller tree, as it was seen.
        proof: as `prove_consistency` gave it.

    Raises:
        BoundsError: the first is empty, or larger than the second.
        DigestError: the proof has another length.
    """
    _check_order(first, second)
    return _both(first, second, root, proof)


def _both(first: int, second: int, known: bytes | None, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    if first == second:
        if known is not None:
            _check_spent(proof)
            return known, known
        rest, found = _parted(proof)
        _check_spent(rest)
        return found, found
    rest, last = _parted(proof)
    middle = _split(second)
    if first <= middle:
        before, after = _both(first, middle, known, rest)
        return before, node_hash(after, last)
    before, after = _both(first - middle, second - middle, None, rest)
    return node_hash(last, before), node_hash(last, after)


def _root(subtree: Subtree, start: int, end: int) -> bytes:
    size = end - start
    if size & (size - 1) == 0:
        return subtree(start, end)
    middle = start + _split(size)
    return node_hash(subtree(start, middle), _root(subtree, middle, end))


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def _check_order(first: int, second: int) -> None:
    if not 1 <= first <= second:
        raise BoundsError(
            f"1 to {second} entries of a log of {second}", received=str(first), advice="refuse what claims that"
        )


def _parted(proof: Sequence[bytes]) -> tuple[Sequence[bytes], bytes]:
    if not proof:
        raise DigestError("a proof of the right length", received="a shorter one", advice="refuse it")
    return proof[:-1], proof[-1]


def _check_spent(proof: Sequence[bytes]) -> None:
    if proof:
        raise DigestError("a proof of the right length", received="a longer one", advice="refuse it")
