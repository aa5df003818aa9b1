"""The payload of a share: sentences in a file. This is the module to import; the format follows from the file.

Example:
    >>> from pathlib import Path
    >>> from protocols.payload.opening import create_payload, open_payload
    >>> with create_payload(Path("share.parquet"), dim=50) as writer:  # doctest: +SKIP
    ...     writer.append(block)
    >>> with open_payload(Path("share.parquet")) as reader:  # doctest: +SKIP
    ...     first = reader.read_block(0)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foundation.feature_columns import FeatureColumn
from foundation.os_errors import storage_error
from foundation.reading import regular_size
from protocols.errors import SchemaError
from protocols.payload.base import PayloadLimits, PayloadReader, PayloadWriter
from protocols.payload.hdf5 import Hdf5PayloadReader, Hdf5PayloadWriter
from protocols.payload.parquet import ParquetPayloadReader, ParquetPayloadWriter
from protocols.payload.sentence_block import CASING_CLASSES, SentenceBlock, ValueRules, check_block

_WRITERS: dict[str, type[PayloadWriter]] = {
    ".parquet": ParquetPayloadWriter,
    ".h5": Hdf5PayloadWriter,
    ".hdf5": Hdf5PayloadWriter,
}
_READERS: dict[bytes, type[PayloadReader]] = {b"PAR1": ParquetPayloadReader, b"\x89HDF": Hdf5PayloadReader}


def create_payload(
    path: Path,
    *,
    dim: int,
    limits: PayloadLimits | None = None,
    rules: ValueRules | None = None,
    features: Sequence[FeatureColumn] = (),
) -> PayloadWriter:
    """A writer of the format that the suffix of `path` names: .parquet, .h5 or .hdf5; its arguments are `PayloadWriter`'s.

    Raises:
        SchemaError: another suffix, or feature columns that no payload can have.
        BoundsError: a width that none can have, too many columns or classes.
    """
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise SchemaError(
            "a name that ends in " + ", ".join(_WRITERS), received="another", advice="rename it", place=path.name
        )
    return writer(path, dim=dim, limits=limits, rules=rules, features=features)


def open_payload(path: Path, limits: PayloadLimits | None = None) -> PayloadReader:
    """Opens a payload by its first bytes, and checks all of its structure.

    Raises:
        SchemaError: not exactly our layout.
        BoundsError: beyond the limits.
        StorageError: it can't be read.
    """
    regular_size(path)
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise storage_error(path, error) from error
    reader = _READERS.get(magic)
    if reader is None:
        raise SchemaError("a Parquet or HDF5 file", received="something else", advice="check the path", place=path.name)
    return reader(path, limits or PayloadLimits())


__all__ = [
    "CASING_CLASSES",
    "PayloadLimits",
    "PayloadReader",
    "PayloadWriter",
    "SentenceBlock",
    "ValueRules",
    "check_block",
    "create_payload",
    "open_payload",
]
