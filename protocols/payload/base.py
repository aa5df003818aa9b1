"""What every payload format does: write blocks of sentences to a file as a stream, read them back in any order.

Invariants: a written file appears whole or not at all; a reader accepts exactly the layout that the writer makes and
checks all of its structure before it gives out the first value. Values are checked by `sentence_block.check_block`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from foundation.feature_columns import FeatureColumn
from foundation.files import stage_file
from foundation.os_errors import map_os_errors, storage_error
from foundation.reading import regular_size
from protocols.errors import BoundsError, SchemaError
from protocols.features import check_classes, check_columns
from protocols.payload.failing_file import ForgivingFile
from protocols.payload.sentence_block import CODES, MAX_DIM, CheckedValues, SentenceBlock, ValueRules, row_bytes


@dataclass(frozen=True)
class PayloadLimits:
    """What a reader accepts at most, whatever the file claims.

    Args:
        max_file_bytes: size of the file.
        max_sentences: sentences in the file.
        max_tokens_per_sentence: length of one sentence.
        max_block_bytes: memory of one block, all columns.
    """

    max_file_bytes: int = 64 << 30
    max_sentences: int = 50_000_000
    max_tokens_per_sentence: int = 512
    max_block_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise BoundsError("a limit of at least 1", received=str(value), place=name)


def token_bytes(dim: int, columns: int = 0) -> int:
    """Bytes of one token in a block: representation or code, tag, casing class, and a class in each feature column."""
    return row_bytes(dim) + 2 + columns


class PayloadWriter(ABC):
    """Writes blocks to a temporary file that becomes `path` when the `with` block ends well.

    Memory does not grow with the number of blocks. Blocks of some ten thousand tokens suit both formats.

    Args:
        path: file to write; one that exists is replaced at the end.
        dim: width of the representations, or CODES.
        limits: what the readers will accept; a block beyond it is refused here already.
        rules: what every value must keep to; None leaves the values to be checked by who reads them.
        features: the feature columns, in their order; beside codes alone.

    Raises:
        SchemaError: feature columns that no payload can have.
        BoundsError: a width that none can have, too many columns or classes.

    Attributes:
        checked: what was found of the values under `rules`.
    """

    def __init__(
        self,
        path: Path,
        *,
        dim: int,
        limits: PayloadLimits | None = None,
        rules: ValueRules | None = None,
        features: Sequence[FeatureColumn] = (),
    ) -> None:
        if not CODES <= dim <= MAX_DIM:
            raise BoundsError(f"1 to {MAX_DIM} dimensions, or codes", received=str(dim), place=path.name)
        if features and dim != CODES:
            raise SchemaError("feature columns beside codes alone", received=f"{dim} dimensions", place=path.name)
        check_columns(features, path.name)
        self.path = path
        self.dim = dim
        self.features = tuple(features)
        self.limits = limits or PayloadLimits()
        self.checked = CheckedValues(rules, path.name) if rules else None
        self.sentences = 0
        self.tokens = 0
        self.blocks = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        # Should the format fail to open inside `stage_file`, `stage_file` cleans up as well.
        with ExitStack() as stack:
            temporary = stack.enter_context(stage_file(self.path))
            with map_os_errors(self.path):
                raw = stack.enter_context(temporary.open("w+b", buffering=0))
            self._sink = ForgivingFile(raw)
            stack.enter_context(self._complete())
            stack.enter_context(self._session(self._sink))
            self._stack = stack.pop_all()
        return self

    @contextmanager
    def _complete(self) -> Iterator[None]:
        yield
        self._check_sink()

    def append(self, block: SentenceBlock) -> None:
        """Writes one block behind the others.

        Raises:
            SchemaError: a block of another width, or of other feature columns.
            BoundsError: a block, or all of them, beyond the limits; a value beyond the rules, a class that its column has not.
            NonFiniteError: a value that the rules forbid, for it is no number.
            StorageError: the disk is full.
        """
        if block.dim != self.dim:
            raise SchemaError(f"{self.dim} dimensions", received=str(block.dim), advice="use one representer")
        check_classes(block.features, self.features, self.path.name)
        check_size(block.sentences, block.tokens, token_bytes(self.dim, block.columns), self.limits, self.path.name)
        longest = int(block.lengths.max())
        if longest > self.limits.max_tokens_per_sentence:
            raise BoundsError(
                f"sentences of {self.limits.max_tokens_per_sentence} tokens at most",
                received=str(longest),
                advice="cut the sentence",
                place=self.path.name,
            )
        self.sentences += block.sentences
        self.tokens += block.tokens
        self.blocks += 1
        if self.sentences > self.limits.max_sentences:
            raise BoundsError(f"{self.limits.max_sentences} sentences at most", received="more", place=self.path.name)
        if self.checked:
            self.checked.add(block)
        self._write(block)
        self._check_sink()

    def _check_sink(self) -> None:
        if self._sink.error is not None:
            raise storage_error(self.path, self._sink.error) from self._sink.error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self.blocks:
            error = BoundsError("sentences to write", received="none", advice="check the notes", place=self.path.name)
            self._stack.__exit__(type(error), error, None)
            raise error
        self._stack.__exit__(kind, error, trace)

    @abstractmethod
    def _session(self, sink: ForgivingFile) -> AbstractContextManager[None]:
        """Opens the format for `_write`; on exit completes it, or after an error just lets go of it."""

    @abstractmethod
    def _write(self, block: SentenceBlock) -> None:
        """Writes one block that has been checked."""


class PayloadReader(ABC):
    """Gives out blocks of a file whose structure has been checked; a context manager that closes it.

    Attributes:
        dim: width of the representations, or CODES.
        features: the feature columns that it names, in their order.
        sentences: sentences in the file.
        tokens: tokens in the file.
        blocks: number of blocks, as they were written.
    """

    format: str
    dim: int
    features: tuple[FeatureColumn, ...]
    sentences: int
    tokens: int
    blocks: int

    def __init__(self, path: Path, limits: PayloadLimits) -> None:
        self.path = path
        self.limits = limits
        self.file_bytes = regular_size(path)
        if self.file_bytes > limits.max_file_bytes:
            raise BoundsError(
                f"a file of {limits.max_file_bytes} bytes at most",
                received=str(self.file_bytes),
                advice="split the share or raise the limit",
                place=path.name,
            )

    @abstractmethod
    def read_block(self, index: int) -> SentenceBlock:
        """Block `index`, read from the disk; its arrays may be read-only.

        Raises:
            IndexError: no such block.
            SchemaError: lengths that contradict each other.
            BoundsError: a class that its feature column has not.
            StorageError: the file can't be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Lets go of the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[SentenceBlock]:
        """All blocks, in the order of the file."""
        for index in range(self.blocks):
            yield self.read_block(index)

    def wrong(self, expected: str, received: str) -> SchemaError:
        """The error for a file that is not of our layout."""
        return SchemaError(expected, received=received, advice="refuse the file", place=self.path.name)

    def check_index(self, index: int) -> None:
        """Returns if there is a block of this number.

        Raises:
            IndexError: there is none.
        """
        if not 0 <= index < self.blocks:
            raise IndexError(f"block {index} of {self.blocks}")


def check_size(sentences: int, tokens: int, bytes_each: int, limits: PayloadLimits, place: str) -> None:
    """Returns if a block of this size is within the limits.

    Args:
        sentences: of the block.
        tokens: of all of them.
        bytes_each: `token_bytes`.
        limits: of the reader.
        place: for errors.

    Raises:
        BoundsError: it is not.
    """
    if not 1 <= sentences <= tokens:
        raise BoundsError(
            "at least one sentence, each of at least one token",
            received=f"{sentences} sentences, {tokens} tokens",
            advice="refuse it",
            place=place,
        )
    size = tokens * bytes_each + 16 * sentences
    if size > limits.max_block_bytes:
        raise BoundsError(
            f"a block of {limits.max_block_bytes} bytes at most",
            received=str(size),
            advice="use smaller blocks",
            place=place,
        )
