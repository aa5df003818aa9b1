"""The layout of C2SP tlog-tiles: names, widths, and the same roots and proofs out of tiles as by definition."""

from __future__ import annotations

import hashlib
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import BoundsError, DigestError, TruncatedError
from protocols.log.merkle import node_hash, prove_consistency, prove_inclusion, tree_root
from protocols.log.tiles import MAX_ENTRIES, MAX_ENTRY_BYTES, TileTree, lay_out, list_tiles, read_bundle, tile_path
from tests.protocols.log.naive import consistent, entries, includes, mth

# One beyond the second full tile of level 0, and full tiles of level 0 that are not yet one of level 1.
SIZE = 600


@cache
def files(size: int) -> dict[str, bytes]:
    return lay_out(entries(size))


@pytest.mark.parametrize(
    ("tile", "path"),
    [
        ((0, 0), "tile/0/000"),
        ((0, 999), "tile/0/999"),
        ((0, 1067), "tile/0/x001/067"),
        ((3, 1000), "tile/3/x001/000"),
        ((0, 1234067), "tile/0/x001/x234/067"),
        ((63, 5, 1), "tile/63/005.p/1"),
        (("entries", 1067, 255), "tile/entries/x001/067.p/255"),
        (("entries", 0, 256), "tile/entries/000"),
    ],
)
def test_names(tile: tuple[int, ...], path: str) -> None:
    assert tile_path(*tile) == path


def test_the_example_of_the_specification() -> None:
    # "For example, a tree of size 70,000 will be represented by ..."
    found = list(list_tiles(70_000))
    assert [one for one in found if one[0] == 0] == [*((0, index, 256) for index in range(273)), (0, 273, 112)]
    assert [one for one in found if one[0] == 1] == [(1, 0, 256), (1, 1, 17)]
    assert [one for one in found if one[0] == 2] == [(2, 0, 1)]
    assert max(level for level, *_ in found) == 2
    assert list(list_tiles(256)) == [(0, 0, 256), (1, 0, 1)]
    assert list(list_tiles(0)) == []


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 512, SIZE])
def test_files_hold_what_the_specification_says(size: int) -> None:
    data, found = entries(size), files(size)
    for level, index, width in list_tiles(size):
        span = 256**level
        starts = range(index * 256 * span, (index * 256 + width) * span, span)
        assert found[tile_path(level, index, width)] == b"".join(mth(data[start : start + span]) for start in starts)
    bundles = [found[tile_path("entries", index, width)] for level, index, width in list_tiles(size) if level == 0]
    assert [entry for bundle in bundles for entry in read_bundle(bundle)] == data
    assert len(found) == len(list(list_tiles(size))) + len(bundles)


def test_tiles_of_a_smaller_tree_stay_as_they_are() -> None:
    whole = files(SIZE)
    for path, content in files(300).items():
        if ".p/" not in path:
            assert whole[path] == content


@settings(max_examples=15)
@given(st.data())
def test_roots_and_proofs_out_of_tiles(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, SIZE))
    first, index = data.draw(st.integers(1, size)), data.draw(st.integers(0, size - 1))
    tree, every = TileTree(files(size).__getitem__, size), entries(size)
    root = tree_root(tree.subtree, size)
    assert root == mth(every)
    leaf = hashlib.sha256(b"\x00" + every[index]).digest()
    assert includes(leaf, index, size, prove_inclusion(tree.subtree, index, size), root)
    proof = prove_consistency(tree.subtree, first, size)
    assert tree_root(tree.subtree, first) == mth(every[:first])
    assert consistent(first, size, mth(every[:first]), root, proof)


def test_a_tile_is_fetched_once_and_no_other_than_the_tree_needs() -> None:
    asked = []

    def fetch(path: str) -> bytes:
        asked.append(path)
        return files(SIZE)[path]

    tree = TileTree(fetch, SIZE)
    tree_root(tree.subtree, SIZE)
    prove_inclusion(tree.subtree, 300, SIZE)
    assert len(asked) == len(set(asked))
    assert set(asked) <= set(files(SIZE))


@pytest.mark.parametrize(("change", "error"), [(-1, TruncatedError), (1, DigestError), (-32, TruncatedError)])
def test_a_tile_of_another_size_is_refused(change: int, error: type[DigestError]) -> None:
    tree = TileTree(lambda path: bytes(3 * 32 + change), 3)
    with pytest.raises(error, match=r"tile/0/000\.p/3"):
        tree_root(tree.subtree, 3)


def test_limits() -> None:
    with pytest.raises(BoundsError):
        TileTree(lambda path: b"", MAX_ENTRIES + 1)
    assert read_bundle(lay_out([bytes(MAX_ENTRY_BYTES)])["tile/entries/000.p/1"]) == [bytes(MAX_ENTRY_BYTES)]
    with pytest.raises(BoundsError):
        lay_out([bytes(MAX_ENTRY_BYTES + 1)])
    for cut in (b"\x00", b"\x00\x02a", b"\x00\x01ab"):
        with pytest.raises(TruncatedError):
            read_bundle(cut)


def test_full_tiles_are_summed_up_above() -> None:
    found = files(512)
    first, second = found["tile/1/000.p/2"][:32], found["tile/1/000.p/2"][32:]
    assert node_hash(first, second) == mth(entries(512))
