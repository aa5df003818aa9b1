"""The rows that a token of a share can have, where a construction shows every token by itself: a finite, known list.

Whoever writes a share and whoever takes it in hold its rows to the same list, bit for bit. A search costs a few integer
operations a number: rows are found by a linear hash that is free of collisions within the list, then compared whole, so
that no row passes for having the hash of another.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.errors import SchemaError

_Rows: TypeAlias = NDArray[Any]

ABSENT = -1
_TYPE = np.dtype("<f2")
# Rows that are hashed at a time, wide integers and all.
_ROWS = 1 << 14
# By this much two processors differ that add up single precision in another order; see `Codebook.exact`.
_RELATIVE, _ABSOLUTE = 2.0**-9, 2.0**-18


class Codebook:
    """A list of rows.

    Args:
        rows: float16 little-endian `[rows, dim]`; one that comes twice counts once.
        exact: whether every processor computes the same bits. Version 0.1 did not, so that rows of its releases may lie
            a rounding away from those of the list.

    Raises:
        SchemaError: no rows, or of another type.
    """

    def __init__(self, rows: _Rows, *, exact: bool = True) -> None:
        if rows.dtype != _TYPE or rows.ndim != 2 or not rows.size:
            raise SchemaError("float16 rows", received=f"{rows.dtype} {list(rows.shape)}", place="codebook")
        bits = np.unique(np.ascontiguousarray(rows).view("<u2"), axis=0)
        self.exact = exact
        for seed in range(64):
            self._factors = _draw_factors(seed, bits.shape[1])
            hashes = self._hashed(bits)
            order = np.argsort(hashes)
            self._hashes, self._bits = hashes[order], bits[order]
            if (np.diff(self._hashes) > 0).all():
                return
        raise SchemaError("rows that differ", received="rows that no hash tells apart", place="codebook")

    def __len__(self) -> int:
        return len(self._bits)

    def __repr__(self) -> str:
        return f"Codebook({len(self)} rows of {self.dim} numbers)"

    @property
    def dim(self) -> int:
        """Numbers of a row."""
        return int(self._bits.shape[1])

    @property
    def rows(self) -> _Rows:
        """The rows, each once, float16 `[rows, dim]`, in the order that `places` counts."""
        return self._bits.view(_TYPE)

    def places(self, values: _Rows) -> NDArray[np.int64]:
        """Which row of the list each of some rows is, int64 `[tokens]`; ABSENT where it is none.

        Args:
            values: float16 little-endian `[tokens, dim]`.
        """
        if values.shape[1] != self.dim:
            return np.full(len(values), ABSENT, dtype=np.int64)
        found = np.empty(len(values), dtype=np.int64)
        for start in range(0, len(values), _ROWS):
            bits = np.ascontiguousarray(values[start : start + _ROWS]).view("<u2")
            places = np.minimum(np.searchsorted(self._hashes, self._hashed(bits)), len(self) - 1)
            same = (self._bits[places] == bits).all(1)
            found[start : start + _ROWS] = np.where(same, places, ABSENT)
        if not self.exact:
            self._find_near(values, found)
        return found

    def _find_near(self, values: _Rows, found: NDArray[np.int64]) -> None:
        """Fills in which row is a rounding away, until the first that is near none."""
        known: dict[bytes, int] = {}
        for token in np.flatnonzero(found == ABSENT).tolist():
            row = values[token]
            if (place := known.get(row.tobytes())) is None:
                apart = np.abs(self._wide - row.astype(np.float32))
                near = np.flatnonzero((apart <= _RELATIVE * np.abs(self._wide) + _ABSOLUTE).all(1))
                if not len(near):
                    return
                place = known.setdefault(row.tobytes(), int(near[0]))
            found[token] = place

    @cached_property
    def _wide(self) -> NDArray[np.float32]:
        return self.rows.astype(np.float32)

    def _hashed(self, bits: _Rows) -> NDArray[np.uint64]:
        """A sum of the bits of each row, by random factors, modulo 2^64."""
        hashes: NDArray[np.uint64] = np.zeros(len(bits), dtype=np.uint64)
        for column in range(bits.shape[1]):
            hashes += bits[:, column].astype(np.uint64) * self._factors[column]
        return hashes


def _draw_factors(seed: int, count: int) -> NDArray[np.uint64]:
    return np.asarray(np.random.default_rng(seed).integers(2**64, size=(count,), dtype=np.uint64))


def write_codebook(path: Path, rows: _Rows) -> None:
    """Writes rows to a file, one behind the other.

    Raises:
        StorageError: no room, no permission.
    """
    write_bytes(path, np.ascontiguousarray(rows, dtype=_TYPE).tobytes())


def read_codebook(path: Path, dim: int, *, exact: bool) -> Codebook:
    """The list that `write_codebook` wrote.

    Raises:
        SchemaError: the file does not hold whole rows.
        StorageError: it can't be read.
    """
    size = regular_size(path)
    if not size or size % (2 * dim):
        raise SchemaError(f"rows of {dim} numbers", received=f"{size} bytes", place=path.name)
    with map_os_errors(path):
        rows = np.fromfile(path, dtype=_TYPE)
    return Codebook(rows.reshape(-1, dim), exact=exact)
