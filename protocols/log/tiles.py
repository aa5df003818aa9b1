"""A log as files: tiles of 256 hashes, in the layout of C2SP tlog-tiles, with which every proof can be computed.

tile/0/000         the first 256 hashes of entries; tile/0/001 the next, ... tile/0/x001/067 the 1,068th
tile/1/000         roots of the full tiles of level 0, and so on upwards
tile/entries/000   the entries themselves, each after its length in two bytes
....p/W            one that is not full yet and has W of them

A tile never changes once a checkpoint has covered it. What a stranger's tiles are worth shows by the proofs made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from protocols.errors import BoundsError, DigestError, TruncatedError
from protocols.log.merkle import HASH_BYTES, leaf_hash, node_hash

TILE_WIDTH = 256
_HEIGHT = 8
MAX_ENTRIES = 1 << 16
"""Of a log that a site follows: more releases than anybody makes, 2 MiB of hashes."""
MAX_ENTRY_BYTES = (1 << 16) - 1
MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES)
MAX_TILE_BYTES = TILE_WIDTH * HASH_BYTES
Tile = tuple[int, int, int]
"""Level, index within the level, and how many hashes it has."""


def tile_path(level: int | str, index: int, width: int = TILE_WIDTH) -> str:
    """Name of a tile, or with the level "entries" of a bundle of entries.

    >>> tile_path(0, 1234067)
    'tile/0/x001/x234/067'
    >>> tile_path("entries", 0, 3)
    'tile/entries/000.p/3'
    """
    digits = f"{index % 1000:03}"
    while index := index // 1000:
        digits = f"x{index % 1000:03}/{digits}"
    return f"tile/{level}/{digits}" + ("" if width == TILE_WIDTH else f".p/{width}")


def list_tiles(size: int) -> Iterator[Tile]:
    """All tiles of a tree of `size` entries, those that are not full too."""
    level = 0
    while count := size >> _HEIGHT * level:
        for index in range(-(-count // TILE_WIDTH)):
            yield level, index, min(TILE_WIDTH, count - index * TILE_WIDTH)
        level += 1


class TileTree:
    """A tree whose hashes lie in tiles.

    Args:
        fetch: gives the bytes of a tile by its name.
        size: number of entries.

    Raises:
        BoundsError: more entries than a site follows.
    """

    def __init__(self, fetch: Callable[[str], bytes], size: int) -> None:
        if size > MAX_ENTRIES:
            raise BoundsError(
                f"a log of at most {MAX_ENTRIES} entries", received=str(size), advice="refuse it and tell the provider"
            )
        self.size = size
        self._fetch = fetch
        self._tiles: dict[Tile, bytes] = {}

    def subtree(self, start: int, end: int) -> bytes:
        """Root of the entries from `start` to `end`, a power of two of them at a multiple of it.

        Raises:
            DigestError: a tile has another size.
            ProtocolError, StorageError: of `fetch`.
        """
        level, inside = divmod((end - start).bit_length() - 1, _HEIGHT)
        index, offset = divmod(start >> _HEIGHT * level, TILE_WIDTH)
        width = min(TILE_WIDTH, (self.size >> _HEIGHT * level) - index * TILE_WIDTH)
        data = self.tile((level, index, width))
        places = range(offset * HASH_BYTES, (offset + (1 << inside)) * HASH_BYTES, HASH_BYTES)
        return _combined([data[place : place + HASH_BYTES] for place in places])

    def tile(self, tile: Tile) -> bytes:
        """The bytes of a tile; fetched once. Raises as `subtree`."""
        if tile not in self._tiles:
            path, expected = tile_path(*tile), tile[2] * HASH_BYTES
            data = self._fetch(path)
            if len(data) != expected:
                kind = TruncatedError if len(data) < expected else DigestError
                raise kind(f"{expected} bytes", received=str(len(data)), advice="copy or pull it again", place=path)
            self._tiles[tile] = data
        return self._tiles[tile]


def lay_out(entries: Sequence[bytes]) -> dict[str, bytes]:
    """All files of a log, by name: its tiles, and its entries.

    Args:
        entries: from the first on.

    Raises:
        BoundsError: an entry is longer than its length can say.
    """
    level, files = [leaf_hash(entry) for entry in entries], {}
    for number, index, width in list_tiles(len(entries)):
        if index == 0 and number:
            level = [
                _combined(level[start : start + TILE_WIDTH])
                for start in range(0, len(level) // TILE_WIDTH * TILE_WIDTH, TILE_WIDTH)
            ]
        first = index * TILE_WIDTH
        files[tile_path(number, index, width)] = b"".join(level[first : first + width])
        if number == 0:
            bundle = b"".join(map(_prefixed, entries[first : first + width]))
            files[tile_path("entries", index, width)] = bundle
    return files


def read_bundle(data: bytes) -> list[bytes]:
    """The entries of a bundle.

    Raises:
        TruncatedError: it ends within one.
    """
    entries, place = [], 0
    while place < len(data):
        end = place + 2 + int.from_bytes(data[place : place + 2], "big")
        if place + 2 > len(data) or end > len(data):
            raise TruncatedError("whole entries", received="one that is cut", advice="copy or pull it again")
        entries.append(data[place + 2 : end])
        place = end
    return entries


def _prefixed(entry: bytes) -> bytes:
    if len(entry) > MAX_ENTRY_BYTES:
        raise BoundsError(f"an entry of at most {MAX_ENTRY_BYTES} bytes", received=str(len(entry)), advice="shorten it")
    return len(entry).to_bytes(2, "big") + entry


def _combined(hashes: list[bytes]) -> bytes:
    while len(hashes) > 1:
        hashes = [node_hash(left, right) for left, right in zip(hashes[::2], hashes[1::2], strict=True)]
    return hashes[0]
