"""The HDF5 payload: flat arrays and offsets, in chunks of 4096 rows with checksums, no compression.

Datasets: `values` float16 [tokens, dim] or, in version 2, `codes` uint32 [tokens], `tags` and `casing` uint8 [tokens], `offsets` int64 [sentences + 1] (first
token of each sentence and the end of the last), `blocks` int64 [blocks + 1] (first sentence of each block and the end
of the last); beside codes a `feature_NAME` uint8 [tokens] for each feature column. The root group holds these and the attribute
`format_version`, and where there are feature columns the attribute `features`, their names and classes in canonical JSON; nothing else.

HDF5 can point outside its file and claim what it does not hold. So before a value is read: every link is a hard one,
every dataset has our type, shape and chunks, its only filter is the checksum, and every chunk lies in the file, whole,
unfiltered otherwise, and overlaps no other; chunks and a little structure account for every byte of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import h5py
import numpy as np

from foundation.feature_columns import FeatureColumn
from foundation.os_errors import storage_error
from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import BoundsError, VersionError
from protocols.features import (
    MAX_JSON_BYTES,
    check_classes,
    columns_from_json,
    columns_to_json,
    stored_name,
)
from protocols.payload.base import PayloadLimits, PayloadReader, PayloadWriter, check_size, token_bytes
from protocols.payload.failing_file import ForgivingFile
from protocols.payload.sentence_block import (
    CLASS_TYPE,
    CODE_TYPE,
    CODES,
    LENGTH_TYPE,
    MAX_DIM,
    VALUE_TYPE,
    Array,
    SentenceBlock,
    row_shape,
)

REPRESENTATIONS, CODED = 1, 2
"""Versions of the format: a token is shown by its representation, or by its code."""
CHUNK_ROWS = 4096
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_SUPERBLOCK_BYTES = 48
_VERSION, _FEATURES = "format_version", "features"
_OFFSET_TYPE = np.dtype("<i8")
_VALUES, _CODES = "values", "codes"
_Type: TypeAlias = tuple[Any, np.dtype[Any]]
_CLASSES: _Type = (h5py.h5t.STD_U8LE, CLASS_TYPE)
_PLACES: _Type = (h5py.h5t.STD_I64LE, _OFFSET_TYPE)
_SHOWN: dict[str, _Type] = {
    _VALUES: (h5py.h5t.IEEE_F16LE, VALUE_TYPE),
    _CODES: (h5py.h5t.STD_U32LE, CODE_TYPE),
}
_REST: dict[str, _Type] = {"tags": _CLASSES, "casing": _CLASSES, "offsets": _PLACES, "blocks": _PLACES}
_CHECKSUM_BYTES = 4
# Superblock, object headers and the index of the chunks: measured below 13 KiB, 2.7 KiB a feature column and 24 bytes a chunk.
_STRUCTURE_BYTES = 32 << 10
_STRUCTURE_BYTES_PER_FEATURE = 3 << 10
_STRUCTURE_BYTES_PER_CHUNK = 64
# Formats that every HDF5 since 1.10 reads.
_FORMATS = ("v108", "v110")


class Hdf5PayloadWriter(PayloadWriter):
    """Writes the HDF5 payload."""

    @contextmanager
    def _session(self, sink: ForgivingFile) -> Iterator[None]:
        # Part of a chunk that the next block completes waits here rather than on the disk.
        self._shown = _VALUES if self.dim else _CODES
        cache_bytes = 8 * _chunk_bytes(_SHOWN[self._shown], self.dim or 1)
        with h5py.File(sink, "w", libver=_FORMATS, rdcc_nbytes=cache_bytes, rdcc_w0=1.0) as file:
            file.attrs.create(_VERSION, REPRESENTATIONS if self.dim else CODED, dtype="<i4")
            if self.features:
                named = canonical_bytes(columns_to_json(self.features))
                file.attrs.create(_FEATURES, np.frombuffer(named, dtype=CLASS_TYPE))
            self._datasets = {
                name: file.create_dataset(
                    name,
                    shape=(0, *_tail(name, self.dim)),
                    maxshape=(None, *_tail(name, self.dim)),
                    chunks=(CHUNK_ROWS, *_tail(name, self.dim)),
                    dtype=dtype,
                    fletcher32=True,
                    track_times=False,
                )
                for name, (_, dtype) in _types(self._shown, self.features).items()
            }
            self._extend("offsets", np.zeros(1, dtype=_OFFSET_TYPE))
            self._extend("blocks", np.zeros(1, dtype=_OFFSET_TYPE))
            yield

    def _write(self, block: SentenceBlock) -> None:
        self._extend(self._shown, block.values)
        self._extend("tags", block.tags)
        self._extend("casing", block.casing)
        for column, classes in zip(self.features, block.features.T, strict=True):
            self._extend(stored_name(column), classes)
        self._extend("offsets", block.offsets[1:] + (self.tokens - block.tokens))
        self._extend("blocks", np.array([self.sentences], dtype=_OFFSET_TYPE))

    def _extend(self, name: str, rows: Array) -> None:
        dataset = self._datasets[name]
        start = dataset.shape[0]
        dataset.resize(start + len(rows), axis=0)
        dataset[start:] = rows


@dataclass(frozen=True)
class Extent:
    """Where a chunk lies in the file."""

    start: int
    end: int


class Hdf5PayloadReader(PayloadReader):
    """Reads the HDF5 payload, and nothing but it."""

    format: Literal["hdf5"] = "hdf5"

    def __init__(self, path: Path, limits: PayloadLimits) -> None:
        super().__init__(path, limits)
        self._check_superblock()
        with self._mapped():
            self._file = h5py.File(path, "r", locking=False, rdcc_nbytes=8 << 20)
        try:
            with self._mapped():
                self._open()
        except BaseException:
            self._file.close()
            raise

    def _open(self) -> None:
        self._root = self._file["/"]
        self._shown = _VALUES if self._read_version() == REPRESENTATIONS else _CODES
        self.features = self._read_features()
        types = _types(self._shown, self.features)
        self._check_root(types)
        self._datasets = {name: self._file[name] for name in types}
        extents = [extent for name, kind in types.items() for extent in self._check_dataset(name, kind)]
        self.check_extents(extents)
        shape = self._datasets[self._shown].shape
        self.dim = int(shape[1]) if self._shown == _VALUES else CODES
        self.tokens = int(shape[0])
        self.sentences = len(self._datasets["offsets"]) - 1
        self.blocks = len(self._datasets["blocks"]) - 1
        if len(self._datasets["tags"]) != self.tokens or len(self._datasets["casing"]) != self.tokens:
            raise self.wrong("a tag and a casing class a token", "another number")
        if any(len(self._datasets[stored_name(column)]) != self.tokens for column in self.features):
            raise self.wrong("a class of every feature a token", "another number")
        if not 1 <= self.sentences <= min(self.limits.max_sentences, self.tokens) or self.blocks < 1:
            raise BoundsError(
                f"1 to {self.limits.max_sentences} sentences", received=str(self.sentences), place=self.path.name
            )
        self._check_blocks()

    def _check_superblock(self) -> None:
        """Checks that the file is as long as it says: HDF5 itself overlooks what stands behind its end."""
        with self._mapped(), self.path.open("rb") as file:
            head = file.read(_SUPERBLOCK_BYTES)
        # Signature, version, size of offsets and of lengths, no flag; then base, extension and end of file.
        sound = head[:8] == _SIGNATURE and head[8:9] in (b"\x02", b"\x03") and head[9:12] == b"\x08\x08\x00"
        base, end = int.from_bytes(head[12:20], "little"), int.from_bytes(head[28:36], "little")
        if not sound or base or end != self.file_bytes:
            raise self.wrong("a whole HDF5 file of a recent format", "one that is cut, extended or older")

    def _read_version(self) -> int:
        group = self._root.id
        if not h5py.h5a.exists(group, _VERSION.encode()):
            raise self.wrong(f"attribute {_VERSION}", "another")
        attribute = h5py.h5a.open(group, _VERSION.encode())
        if attribute.shape != () or not attribute.get_type().equal(h5py.h5t.STD_I32LE):
            raise self.wrong(f"attribute {_VERSION} as one int32", "another type")
        version = np.zeros((), dtype="<i4")
        attribute.read(version)
        if int(version) not in (REPRESENTATIONS, CODED):
            raise VersionError(
                f"payload version {REPRESENTATIONS} or {CODED}", received=str(version), advice="update the program"
            )
        return int(version)

    def _read_features(self) -> tuple[FeatureColumn, ...]:
        """The feature columns that an attribute names, which a file without any has not."""
        group, name = self._root.id, _FEATURES.encode()
        if h5py.h5a.get_num_attrs(group) == 1:
            return ()
        if h5py.h5a.get_num_attrs(group) != 2 or self._shown != _CODES or not h5py.h5a.exists(group, name):
            raise self.wrong(f"attribute {_VERSION}, and beside codes {_FEATURES}", "others")
        attribute = h5py.h5a.open(group, name)
        kind, shape = attribute.get_type(), attribute.shape
        if not kind.equal(_CLASSES[0]) or kind.committed() or len(shape) != 1 or not 1 <= shape[0] <= MAX_JSON_BYTES:
            raise self.wrong(f"attribute {_FEATURES} as 1 to {MAX_JSON_BYTES} bytes", "another type or size")
        named = np.zeros(shape, dtype=CLASS_TYPE)
        attribute.read(named)
        parsed = parse_canonical(named.tobytes(), max_bytes=MAX_JSON_BYTES, place=self.path.name)
        return columns_from_json(parsed, self.path.name, least=1)

    def _check_root(self, names: Collection[str]) -> None:
        group = self._root.id
        if group.get_num_objs() != len(names):
            raise self.wrong(f"{len(names)} datasets", "other or missing ones")
        for name in names:
            link = name.encode()
            if not group.links.exists(link) or group.links.get_info(link).type != h5py.h5l.TYPE_HARD:
                raise self.wrong(f"dataset {name} in the file itself", "none, or a link to elsewhere")
            if h5py.h5o.get_info(group, link).type != h5py.h5o.TYPE_DATASET:
                raise self.wrong(f"dataset {name}", "another object")

    def _check_dataset(self, name: str, expected: _Type) -> list[Extent]:
        """Checks type, shape, storage and chunks of one dataset; returns where its chunks lie."""
        dataset = self._datasets[name].id
        kind = dataset.get_type()
        if not kind.equal(expected[0]) or kind.committed():
            raise self.wrong(f"{name} of type {expected[1]}", "another type")
        shape = dataset.shape
        if len(shape) != (2 if name == _VALUES else 1) or not shape[0]:
            raise self.wrong(f"{name} with rows", "another shape")
        dim = shape[1] if name == _VALUES else 1
        if not 1 <= dim <= MAX_DIM or shape[0] > self.file_bytes:
            raise self.wrong(f"{name} of 1 to {MAX_DIM} columns, no larger than the file", "a larger shape")
        self._check_storage(name, dataset, dim)
        return self._extents(name, dataset, shape[0], _chunk_bytes(expected, dim))

    def _check_storage(self, name: str, dataset: Any, dim: int) -> None:
        plan = dataset.get_create_plist()
        # External files and virtual datasets have other layouts than chunks; asked for all the same.
        if plan.get_layout() != h5py.h5d.CHUNKED or plan.get_external_count():
            raise self.wrong(f"{name} in chunks in the file itself", "another layout")
        if plan.get_chunk() != (CHUNK_ROWS, *_tail(name, dim)):
            raise self.wrong(f"{name} in chunks of {CHUNK_ROWS} rows", "other chunks")
        if plan.get_nfilters() != 1 or plan.get_filter(0)[0] != h5py.h5z.FILTER_FLETCHER32:
            raise self.wrong(f"{name} with checksums and no other filter", "other filters")
        if h5py.h5a.get_num_attrs(dataset):
            raise self.wrong(f"{name} without attributes", "some")

    def _extents(self, name: str, dataset: Any, rows: int, size: int) -> list[Extent]:
        chunks: list[Any] = []
        expected = -(-rows // CHUNK_ROWS)
        if dataset.get_num_chunks() != expected:
            raise self.wrong(f"{expected} chunks of {name}", "another number")
        dataset.chunk_iter(chunks.append)
        firsts = sorted(chunk.chunk_offset[0] for chunk in chunks)
        if firsts != list(range(0, rows, CHUNK_ROWS)):
            raise self.wrong(f"{expected} chunks of {name}", "others")
        for chunk in chunks:
            if chunk.size != size + _CHECKSUM_BYTES or chunk.filter_mask or chunk.byte_offset is None:
                raise self.wrong(f"whole chunks of {name} with checksums", "another size or none")
        return [Extent(chunk.byte_offset, chunk.byte_offset + chunk.size) for chunk in chunks]

    def check_extents(self, extents: list[Extent]) -> None:
        """Checks that chunks lie in the file, apart from each other, and that little else does."""
        end = used = 0
        for extent in sorted(extents, key=lambda extent: extent.start):
            if extent.start < end or extent.end > self.file_bytes:
                raise self.wrong("chunks that lie apart in the file", "some that overlap or end behind it")
            end = extent.end
            used += extent.end - extent.start
        structure = _STRUCTURE_BYTES + _STRUCTURE_BYTES_PER_FEATURE * len(self.features)
        if self.file_bytes - used > structure + _STRUCTURE_BYTES_PER_CHUNK * len(extents):
            raise self.wrong("chunks that fill the file", f"{self.file_bytes - used} other bytes")

    def _check_blocks(self) -> None:
        if self.blocks > self.sentences:
            raise self.wrong("blocks of at least one sentence", "more blocks than sentences")
        starts = self._sentence_starts = self._datasets["blocks"][:]
        # First where they lie: differences of 64 bits wrap around.
        within = int(starts.min()) >= 0 and int(starts.max()) <= self.sentences
        if not within or starts[0] or starts[-1] != self.sentences or int(np.diff(starts).min()) < 1:
            raise self.wrong("blocks one behind the other", "another order")
        position, each = 0, token_bytes(self.dim, len(self.features))
        for index in range(self.blocks):
            offsets = self._offsets(index)
            lengths = np.diff(offsets)
            if offsets[0] != position or int(lengths.min()) < 1 or int(lengths.max()) > self._longest:
                raise BoundsError(
                    f"sentences of 1 to {self._longest} tokens, one behind the other",
                    received="another length",
                    advice="refuse the file",
                    place=f"{self.path.name}, block {index}",
                )
            position = int(offsets[-1])
            check_size(len(lengths), int(lengths.sum()), each, self.limits, f"{self.path.name}, block {index}")
        if position != self.tokens:
            raise self.wrong(f"offsets that end at {self.tokens}", str(position))

    @property
    def _longest(self) -> int:
        return self.limits.max_tokens_per_sentence

    def _offsets(self, index: int) -> Array:
        first, last = int(self._sentence_starts[index]), int(self._sentence_starts[index + 1])
        # Ten bytes a sentence in the file at least, so a block's offsets are bounded by the file.
        offsets: Array = self._datasets["offsets"][first : last + 1]
        return offsets

    def read_block(self, index: int) -> SentenceBlock:
        """The sentences of one block; see PayloadReader."""
        self.check_index(index)
        with self._mapped():
            offsets = self._offsets(index)
            first, last = int(offsets[0]), int(offsets[-1])
            values, tags, casing = (self._datasets[name][first:last] for name in (self._shown, "tags", "casing"))
            features = np.empty((last - first, len(self.features)), dtype=CLASS_TYPE)
            for number, column in enumerate(self.features):
                features[:, number] = self._datasets[stored_name(column)][first:last]
        check_classes(features, self.features, f"{self.path.name}, block {index}")
        return SentenceBlock(values, tags, casing, np.diff(offsets).astype(LENGTH_TYPE), features)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno:
                raise storage_error(self.path, error) from error
            raise self.wrong("a sound HDF5 file", "a damaged one") from error
        except (RuntimeError, LookupError, ValueError, TypeError, OverflowError) as error:
            raise self.wrong("a sound HDF5 file", type(error).__name__) from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _types(shown: str, features: Sequence[FeatureColumn]) -> dict[str, _Type]:
    """Types of the datasets of a file that shows its tokens by these and has these feature columns."""
    return {shown: _SHOWN[shown]} | _REST | {stored_name(column): _CLASSES for column in features}


def _tail(name: str, dim: int) -> tuple[int, ...]:
    return row_shape(dim) if name == _VALUES else ()


def _chunk_bytes(kind: _Type, numbers: int) -> int:
    return CHUNK_ROWS * kind[1].itemsize * numbers
