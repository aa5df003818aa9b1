"""Blocks of invented sentences, and a disk that fills up."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from protocols.payload.opening import SentenceBlock, create_payload

DIM = 6
TAGS = 5
VALUE_BOUND = 8.0


def make_block(lengths: Sequence[int], *, dim: int = DIM, seed: int = 0) -> SentenceBlock:
    """Random values of norm below `VALUE_BOUND`, random casing classes, and random tags: outside, or the beginning of a category."""
    random = np.random.default_rng(seed)
    tokens = int(sum(lengths))
    values = random.standard_normal((tokens, dim))
    values *= random.uniform(0.1, VALUE_BOUND - 0.1, (tokens, 1)) / np.linalg.norm(values, axis=1, keepdims=True)
    return SentenceBlock(
        values.astype("<f2"),
        random.choice(np.array([0, 1, 3], dtype=np.uint8), tokens),
        random.integers(0, 7, tokens, dtype=np.uint8),
        np.asarray(lengths, dtype="<i4"),
    )


def replaced(block: SentenceBlock, **arrays: object) -> SentenceBlock:
    """`block` with some of its arrays exchanged, and checked again."""
    return SentenceBlock(
        **{**{name: getattr(block, name) for name in ("values", "tags", "casing", "lengths")}, **arrays}
    )


def write_payload(path: Path, blocks: Iterable[SentenceBlock], *, dim: int | None = None) -> Path:
    """Writes a payload; `dim` is that of the first block if it is not given."""
    if dim is None:
        blocks = list(blocks)
        dim = blocks[0].dim
    with create_payload(path, dim=dim) as writer:
        for block in blocks:
            writer.append(block)
    return path


def assert_same(left: SentenceBlock, right: SentenceBlock) -> None:
    for name in ("values", "tags", "casing", "lengths", "features"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def rewrite(path: Path, data: bytes) -> None:
    """Writes a new file in the place of the old one; truncating makes some file systems wait for the disk."""
    path.unlink()
    path.write_bytes(data)


@contextmanager
def full_disk(max_bytes: int) -> Iterator[None]:
    """No file of this process can grow beyond `max_bytes`: the kernel refuses the write, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
