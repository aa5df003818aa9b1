"""Roots against the published vectors, proofs against the RFC's own verification, for every size that is small."""

from __future__ import annotations

import hashlib

import pytest

from protocols.errors import BoundsError, DigestError
from protocols.log.merkle import (
    EMPTY_ROOT,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    root_by_inclusion,
    roots_by_consistency,
    tree_root,
)
from tests.protocols.log.naive import consistent, entries, includes, mth, subtree_of

# Of the reference implementations of RFC 6962.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
SIZES = range(1, 71)


@pytest.mark.parametrize("size", range(9))
def test_the_published_roots(size: int) -> None:
    assert tree_root(subtree_of(LEAVES), size).hex() == ROOTS[size] == mth(LEAVES[:size]).hex()


def test_leaves_and_nodes_are_told_apart() -> None:
    assert leaf_hash(b"") == hashlib.sha256(b"\x00").digest()
    assert hashlib.sha256().digest() == EMPTY_ROOT


def test_every_entry_of_every_small_tree_is_proved() -> None:
    data = entries(SIZES[-1])
    for size in SIZES:
        root, subtree = mth(data[:size]), subtree_of(data[:size])
        for index in range(size):
            proof, leaf = prove_inclusion(subtree, index, size), leaf_hash(data[index])
            assert includes(leaf, index, size, proof, root)
            assert root_by_inclusion(leaf, index, size, proof) == root


def test_every_small_tree_begins_with_every_smaller_one() -> None:
    data = entries(SIZES[-1])
    roots = [mth(data[:size]) for size in range(SIZES[-1] + 1)]
    for second in SIZES:
        subtree = subtree_of(data[:second])
        for first in range(1, second + 1):
            proof = prove_consistency(subtree, first, second)
            assert consistent(first, second, roots[first], roots[second], proof)
            assert roots_by_consistency(first, second, roots[first], proof) == (roots[first], roots[second])


@pytest.mark.parametrize("size", [1, 2, 7, 8, 13, 33])
def test_nothing_else_is_proved(size: int) -> None:
    """Another entry, place or size, and a proof of which a hash is changed, missing or too much, lead elsewhere."""
    data = entries(size)
    root, subtree = mth(data), subtree_of(data)
    for index in range(size):
        leaf, proof = leaf_hash(data[index]), prove_inclusion(subtree, index, size)
        assert root_by_inclusion(leaf_hash(b"other"), index, size, proof) != root
        for other in range(size):
            if other != index:
                assert _root_or_none(leaf, other, size, proof) != root
        for place, one in enumerate(proof):
            changed = [*proof[:place], bytes([one[0] ^ 1, *one[1:]]), *proof[place + 1 :]]
            assert root_by_inclusion(leaf, index, size, changed) != root
            assert _root_or_none(leaf, index, size, [*proof[:place], *proof[place + 1 :]]) is None
        assert _root_or_none(leaf, index, size, [*proof, root]) is None


def _root_or_none(leaf: bytes, index: int, size: int, proof: list[bytes]) -> bytes | None:
    try:
        return root_by_inclusion(leaf, index, size, proof)
    except DigestError:
        return None


@pytest.mark.parametrize("size", [2, 3, 7, 8, 13, 33])
def test_another_past_is_not_consistent(size: int) -> None:
    data = entries(size)
    root, subtree = mth(data), subtree_of(data)
    for first in range(1, size):
        proof = prove_consistency(subtree, first, size)
        for changed in range(first):
            other = mth([*data[:changed], b"other", *data[changed + 1 : first]])
            assert roots_by_consistency(first, size, other, proof) != (other, root)
            assert not consistent(first, size, other, root, proof)
        for place, one in enumerate(proof):
            forged = [*proof[:place], bytes([one[0] ^ 1, *one[1:]]), *proof[place + 1 :]]
            assert roots_by_consistency(first, size, mth(data[:first]), forged) != (mth(data[:first]), root)
        with pytest.raises(DigestError):
            roots_by_consistency(first, size, mth(data[:first]), proof[:-1])
        with pytest.raises(DigestError):
            roots_by_consistency(first, size, mth(data[:first]), [root, *proof])


def test_what_no_tree_has_is_refused() -> None:
    subtree = subtree_of(entries(3))
    for index in (-1, 3):
        with pytest.raises(BoundsError):
            prove_inclusion(subtree, index, 3)
        with pytest.raises(BoundsError):
            root_by_inclusion(bytes(32), index, 3, [])
    for first in (0, 4):
        with pytest.raises(BoundsError):
            prove_consistency(subtree, first, 3)
        with pytest.raises(BoundsError):
            roots_by_consistency(first, 3, bytes(32), [])
