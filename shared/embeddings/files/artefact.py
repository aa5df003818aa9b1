"""Word vectors as a release carries them: `embeddings.safetensors` and `vocabulary.json` in one folder.

No pickle is read. What a stranger published is checked before it is used: names, types and shapes of the tensors,
finite values, distinct words, and that the two files belong together.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from foundation.errors import StorageError
from foundation.files import stage_file, write_text
from foundation.os_errors import map_os_errors
from foundation.reading import read_at_most
from shared.embeddings.files.unpacking import open_unpacked
from shared.embeddings.generalised import FoldedVectors, GeneralisedVectors
from shared.embeddings.members import MemberVectors, Narrowing
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, all_finite, unit_rows
from shared.errors import EmbeddingError

TENSORS_NAME = "embeddings.safetensors"
VOCABULARY_NAME = "vocabulary.json"
FORMAT = "deid-commons word vectors 1"

_MAX_VOCABULARY_BYTES = 1 << 30
_MAX_HEADER_BYTES = 1 << 20
_FLOATS = ("F16", "F32")
_KINDS = {"classes": ("I32",), "generals": ("I32",), "common": ("U8",)}


def save_vectors(vectors: WordVectors, folder: Path, *, dtype: Literal["float16", "float32"] = "float32") -> None:
    """Write word vectors into a folder, which must exist.

    Args:
        vectors: what to write.
        folder: where the two files go; older ones are replaced.
        dtype: "float16" halves the size at three digits of precision, so the vectors read back have another digest;
            with "float32" they have the same.

    Raises:
        EmbeddingError: a value is too large for float16.
        StorageError: the files can't be written.
    """
    tensors = {"matrix": _stored(vectors.matrix, dtype)}
    vocabulary: dict[str, Any] = {"format": FORMAT, "kind": vectors.kind, "dim": vectors.dim, "words": vectors.words}
    if vectors.subwords is not None:
        tensors["buckets"] = _stored(vectors.subwords.buckets, dtype)
        vocabulary |= {
            "minn": vectors.subwords.minn,
            "maxn": vectors.subwords.maxn,
            "buckets": len(vectors.subwords.buckets),
        }
    more_tensors, more_fields = vectors.stored_besides()
    tensors |= {
        name: _stored(tensor, dtype) if tensor.dtype == np.float32 else tensor for name, tensor in more_tensors.items()
    }
    vocabulary |= more_fields
    tensors_path = folder / TENSORS_NAME
    with stage_file(tensors_path, private=False) as draft, map_os_errors(tensors_path):
        try:
            save_file(tensors, draft)
        except SafetensorError as error:
            raise StorageError(
                "a file that can be written",
                received=type(error).__name__,
                advice="check free space and permissions",
                place=TENSORS_NAME,
            ) from error
        vocabulary["tensors_sha256"] = _sha256(draft)
    write_text(folder / VOCABULARY_NAME, json.dumps(vocabulary, ensure_ascii=True), private=False)


def load_vectors(folder: Path) -> WordVectors:
    """Read what `save_vectors` wrote.

    Raises:
        EmbeddingError: a file is damaged or does not fit the other.
        StorageError: a file can't be read.
    """
    vocabulary = _vocabulary(folder / VOCABULARY_NAME)
    tensors = _tensors(folder / TENSORS_NAME, vocabulary)
    matrix = _loaded(tensors["matrix"])
    subwords = None
    if "buckets" in tensors:
        # The buckets of float16 stay as they came: only the direction of their sum counts.
        subwords = Subwords(vocabulary["minn"], vocabulary["maxn"], tensors["buckets"].astype(np.float32))
    if "classes" in tensors:
        share = vocabulary.get("largest_share")
        shown = GeneralisedVectors(
            vocabulary["words"], matrix, vocabulary["flags"], tensors["classes"], subwords, share
        )
        return _with_members(shown, tensors, vocabulary["window"]) if "members" in vocabulary else shown
    if "flags" in vocabulary:
        return FoldedVectors(vocabulary["words"], matrix, vocabulary["flags"], subwords)
    return WordVectors(vocabulary["words"], matrix, subwords)


def _with_members(shown: GeneralisedVectors, tensors: dict[str, NDArray[Any]], window: int) -> MemberVectors:
    narrowing = Narrowing(tensors["generals"], tensors["common"] > 0, window)
    return MemberVectors(shown, _loaded(tensors["hidden"]), narrowing)


def _stored(matrix: NDArray[np.float32], dtype: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        stored = np.ascontiguousarray(matrix, dtype=dtype)
    if not all_finite(stored):
        raise EmbeddingError(f"expected values that fit {dtype}, got larger ones; store them as float32")
    return stored


def _loaded(matrix: NDArray[Any]) -> NDArray[np.float32]:
    if matrix.dtype == np.float32:
        return matrix
    if not all_finite(matrix):
        raise EmbeddingError(
            f"{TENSORS_NAME}: expected finite vectors, got a NaN or an infinity; fetch the release again"
        )
    return unit_rows(matrix.astype(np.float32))


def _sha256(path: Path) -> str:
    with open_unpacked(path, unpack=False) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()  # type: ignore[arg-type]


def _vocabulary(path: Path) -> dict[str, Any]:
    with map_os_errors(path), path.open("rb") as file:
        raw = read_at_most(file, _MAX_VOCABULARY_BYTES)
    try:
        vocabulary = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(f"{path.name}: expected JSON, got something else; fetch the release again") from error
    if not isinstance(vocabulary, dict) or vocabulary.get("format") != FORMAT:
        raise EmbeddingError(f'{path.name}: expected the format "{FORMAT}", got another; use a release of this version')
    words = vocabulary.get("words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise EmbeddingError(f"{path.name}: expected a list of words, got something else; fetch the release again")
    numbers = ("dim", "minn", "maxn", "buckets") if vocabulary.get("kind") == "subwords" else ("dim",)
    if vocabulary.get("generalised") is True:
        numbers = (*numbers, "flags")
    if vocabulary.get("members") is True:
        numbers = (*numbers, "window", "hidden_words")
    if (
        type(vocabulary.get("flags", 0)) is not int
        or vocabulary.get("members", vocabulary.get("generalised")) is not vocabulary.get("generalised")
        or type(vocabulary.get("largest_share", 1.0)) is not float
        or vocabulary.get("kind") not in ("words", "subwords")
        or any(type(vocabulary.get(name)) is not int for name in numbers)
    ):
        raise EmbeddingError(
            f"{path.name}: expected a kind of vectors and its numbers, got something else; fetch the release again"
        )
    return vocabulary


def _tensors(path: Path, vocabulary: dict[str, Any]) -> dict[str, NDArray[Any]]:
    expected: dict[str, tuple[int, ...]] = {"matrix": (len(vocabulary["words"]), vocabulary["dim"])}
    if vocabulary["kind"] == "subwords":
        expected["buckets"] = (vocabulary["buckets"], vocabulary["dim"])
    if vocabulary.get("generalised") is True:
        expected["classes"] = (len(vocabulary["words"]),)
    if vocabulary.get("members") is True:
        expected |= {"generals": expected["classes"], "common": expected["classes"]}
        expected["hidden"] = (vocabulary["hidden_words"], vocabulary["dim"])
    # Its size and header first: what a stranger published must not fill the memory before it is seen not to fit.
    largest = 4 * sum(math.prod(shape) for shape in expected.values()) + _MAX_HEADER_BYTES
    with map_os_errors(path):
        size = path.stat().st_size
    if size > largest:
        raise EmbeddingError(f"{path.name}: expected at most {largest} bytes, got more; fetch the release again")
    if _sha256(path) != vocabulary.get("tensors_sha256"):
        raise EmbeddingError(
            f"{path.name}: expected the tensors that {VOCABULARY_NAME} names, got others; fetch the release again"
        )
    try:
        with safe_open(path, framework="np") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
            came = {name: tuple(found.get_shape()) for name, found in slices.items()}
            if came != expected or any(
                found.get_dtype() not in _KINDS.get(name, _FLOATS) for name, found in slices.items()
            ):
                raise EmbeddingError(
                    f"{path.name}: expected tensors {expected} of their types, got {came}; fetch the release again"
                )
            return {name: file.get_tensor(name) for name in came}
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise EmbeddingError(
            f"{path.name}: expected safetensors, got something else; fetch the release again"
        ) from error
