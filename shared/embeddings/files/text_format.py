"""Word vectors as text: one word and its numbers a line.

A header "words dimension" may come first (fastText .vec, word2vec) or not (GloVe). Nothing is half read: a line with
too many or too few numbers, a word twice, a value that is not finite, a cut short file raise EmbeddingError with the
line. A word may hold spaces, as some of GloVe 840B do. Lines end in a line feed, the last one too: a file that ends
inside a number would otherwise read as a whole one.

A GloVe file cut exactly at a line's end can't be told from a shorter file; one with a header can.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.files.unpacking import open_unpacked
from shared.embeddings.vectors import WordVectors, unit_rows
from shared.errors import EmbeddingError

_BLOCK_BYTES = 1 << 22
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})")
_ODD_SPACE = re.compile(rb"[\t\v\f\r]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text(path: Path) -> WordVectors:
    """Read word vectors from text, plain or gzipped; a header is recognised.

    Raises:
        EmbeddingError: the file is damaged; says in which line.
        StorageError: the file can't be read.
    """
    with open_unpacked(path) as handle:
        return _Reading(path.name).read(handle)


class _Reading:
    """One pass over one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0
        self._dim = 0
        self._declared = -1
        self._words: list[str] = []
        self._first_line_of_words = 1
        self._blocks: list[NDArray[np.float32]] = []

    def read(self, handle: IO[bytes]) -> WordVectors:
        for lines in self._lines(handle):
            if self._line == 0:
                lines = self._open(lines)
            self._take(lines)
        self._close()
        # The list gives up its blocks as they are copied, so the vectors are not in memory twice for long.
        matrix = np.empty((len(self._words), self._dim), dtype=np.float32)
        start = 0
        for block in self._blocks:
            matrix[start : start + len(block)] = block
            start += len(block)
        self._blocks.clear()
        return WordVectors(self._words, unit_rows(matrix))

    def _error(self, problem: str, line: int) -> EmbeddingError:
        return EmbeddingError(f"{self._name}, line {line}: {problem}")

    def _lines(self, handle: IO[bytes]) -> Iterator[list[bytes]]:
        """Whole lines without their ends, in blocks."""
        rest = b""
        while block := handle.read(_BLOCK_BYTES):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            if len(rest) > _BLOCK_BYTES:
                raise self._error(
                    f"expected lines of at most {_BLOCK_BYTES} bytes, got a longer one; these are no word vectors",
                    self._line + len(lines) + 1,
                )
            if lines:
                yield lines
        if rest:
            raise EmbeddingError(
                f"{self._name}: expected a line feed at the end, got a file that is cut short; fetch it again"
            )

    def _open(self, lines: list[bytes]) -> list[bytes]:
        """Learn the dimension from the first line, and drop it if it is a header."""
        lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        first = lines[0].rstrip(b" \r")
        if header := _HEADER.fullmatch(first):
            self._declared, self._dim = int(header[1]), int(header[2])
            self._line, self._first_line_of_words = 1, 2
            lines = lines[1:]
        else:
            self._dim = first.count(b" ")
        if not self._dim:
            raise self._error(
                'expected a word and its numbers, or "words dimension", separated by spaces; these are no word vectors',
                1,
            )
        return lines

    def _take(self, lines: list[bytes]) -> None:
        if not lines:
            return
        words: list[bytes] = []
        numbers: list[bytes] = []
        for offset, line in enumerate(lines, 1):
            word, _, rest = line.rstrip(b" \r").partition(b" ")
            if not word or rest.count(b" ") != self._dim - 1 or not rest:
                word, rest = self._split_spaced(line.rstrip(b" \r"), self._line + offset)
            words.append(word)
            numbers.append(rest)
        self._blocks.append(self._values(numbers))
        self._words += self._decoded(words)
        self._line += len(lines)
        if 0 <= self._declared < len(self._words):
            raise self._error(
                f"expected {self._declared} words as the header says, got more; fetch the file again",
                self._declared + 2,
            )

    def _split_spaced(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """A word with spaces inside, and its numbers."""
        word, *numbers = line.rsplit(b" ", self._dim)
        # "word 0.5 0.1 0.2" of dimension 2 is a line with a number too many, not the word "word 0.5".
        if (
            len(numbers) != self._dim
            or not word.strip()
            or word != word.strip(b" ")
            or _is_number(word.rpartition(b" ")[2])
        ):
            came = sum(map(_is_number, line.split(b" ")[1:]))
            raise self._error(
                f"expected a word and {self._dim} numbers, got {came} numbers; the file is damaged", number
            )
        return word, b" ".join(numbers)

    def _values(self, numbers: list[bytes]) -> NDArray[np.float32]:
        joined = b" ".join(numbers)
        if not _ODD_SPACE.search(joined):
            values = _parsed(joined)
            # Each line holds one space less than the dimension, so no line can make up for another's missing number.
            if values is not None and len(values) == len(numbers) * self._dim and np.isfinite(values).all():
                return values.reshape(len(numbers), self._dim)
        for offset, line in enumerate(numbers, 1):
            values = None if _ODD_SPACE.search(line) else _parsed(line)
            if values is None or len(values) != self._dim or not np.isfinite(values).all():
                raise self._error(
                    f"expected {self._dim} finite numbers, got something else; the file is damaged", self._line + offset
                )
        raise self._error("expected finite numbers, got something else; the file is damaged", self._line + 1)

    def _decoded(self, words: list[bytes]) -> list[str]:
        try:
            return b"\n".join(words).decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            number = self._line + 1 + b"\n".join(words)[: error.start].count(b"\n")
            raise self._error("expected a word in UTF-8, got other bytes; convert the file to UTF-8", number) from None

    def _close(self) -> None:
        if not self._words:
            raise EmbeddingError(f"{self._name}: expected word vectors, got none; the file is empty or cut short")
        if self._declared >= 0 and self._declared != len(self._words):
            raise EmbeddingError(
                f"{self._name}, line {self._line}: expected {self._declared} words as the header says, "
                f"got {len(self._words)}; the file is cut short: fetch it again"
            )
        seen: set[str] = set()
        if len(set(self._words)) != len(self._words):
            for number, word in enumerate(self._words, self._first_line_of_words):
                if word in seen:
                    raise self._error(
                        "expected each word once, got one that an earlier line has; remove one of the two", number
                    )
                seen.add(word)


def _parsed(numbers: bytes) -> NDArray[np.float32] | None:
    """The numbers of a text, or None if anything in it is no number."""
    try:
        with warnings.catch_warnings():
            # Before numpy 2.3, numbers that end early are a warning and not an error.
            warnings.simplefilter("error", DeprecationWarning)
            return np.fromstring(numbers, dtype=np.float32, sep=" ")
    except (ValueError, DeprecationWarning):
        return None


def _is_number(text: bytes) -> bool:
    values = _parsed(text)
    return bool(text) and values is not None and len(values) == 1
