"""Tables of nearest neighbours on the disk: a large list of words is searched once, for every run after it.

A table belongs to one set of vectors, one list of words and one N; its name and its content say which, so a table of
other vectors is never taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from foundation.errors import StorageError
from foundation.files import stage_file
from foundation.os_errors import map_os_errors
from shared.embeddings.neighbours import Neighbours
from shared.errors import EmbeddingError


def cached_nearest(
    neighbours: Neighbours, words: Sequence[str], n: int, folder: Path
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """As `Neighbours.find_nearest`, from the folder's table if it has one, else searched and kept there.

    Args:
        neighbours: the search.
        words: the words to search for.
        n: how many neighbours.
        folder: where the tables lie; made if absent.

    Raises:
        ConfigurationError: n is out of range.
        EmbeddingError: the table is damaged; delete it.
        StorageError: the table can't be written.
    """
    identity = {
        "vectors": neighbours.vectors.digest,
        "words": hashlib.sha256(json.dumps(list(words)).encode("ascii")).hexdigest(),
        "n": str(n),
    }
    path = folder / f"neighbours-{identity['vectors'][:16]}-{identity['words'][:16]}-{n}.safetensors"
    if path.exists():
        return _load(path, identity, (len(words), n), len(neighbours.vectors))
    ids, cosines = neighbours.find_nearest(words, n)
    try:
        with map_os_errors(path):
            folder.mkdir(parents=True, exist_ok=True)
            with stage_file(path, private=False) as draft:
                save_file({"ids": ids, "cosines": cosines}, draft, metadata=identity)
    except SafetensorError as error:
        raise StorageError(
            "a file that can be written",
            received=type(error).__name__,
            advice="check free space and permissions",
            place=path.name,
        ) from error
    return ids, cosines


def _load(
    path: Path, identity: dict[str, str], shape: tuple[int, int], vocabulary: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    try:
        with safe_open(path, framework="np") as table:
            came = table.metadata()
            ids, cosines = table.get_tensor("ids"), table.get_tensor("cosines")
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise EmbeddingError(f"{path.name}: expected a table of neighbours, got something else; delete it") from error
    fits = (
        came == identity
        and ids.shape == shape == cosines.shape
        and ids.dtype == np.int32
        and cosines.dtype == np.float32
    )
    if not fits or not np.isfinite(cosines).all() or (ids.size and not 0 <= ids.min() <= ids.max() < vocabulary):
        raise EmbeddingError(
            f"{path.name}: expected the neighbours of these words, got another or a damaged table; delete it"
        )
    return ids, cosines
