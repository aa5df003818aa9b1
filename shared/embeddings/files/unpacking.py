"""Reading files that may be gzipped."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from foundation.os_errors import storage_error
from shared.errors import EmbeddingError

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_unpacked(path: Path, *, unpack: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked if it is gzipped, whatever its name.

    Args:
        path: the file.
        unpack: whether to look for gzip at all.

    Raises:
        StorageError: the file can't be read.
        EmbeddingError: its compressed data are cut short or damaged.
    """
    try:
        with path.open("rb") as plain:
            zipped = unpack and plain.read(2) == _GZIP_MAGIC
            plain.seek(0)
            if zipped:
                with gzip.GzipFile(fileobj=plain) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise EmbeddingError(
            f"{path.name}: expected whole gzip data, got a damaged or cut short file; fetch it again"
        ) from error
    except OSError as error:
        raise storage_error(path, error) from error
