"""A file that never fails in the hands of a library, and remembers that it did.

Some C libraries can't let go of a file whose writes fail: they raise again on closing, or crash at exit. This file
takes every write after the first error and drops it, so that the library ends in good order; the owner looks at
`error` and throws the file away.
"""

from __future__ import annotations

from io import FileIO

# Pieces of 128 KiB to 1 MiB took Linux 6.18 in a virtual machine nine times as long: for each it looks for one stretch
# of memory of that size.
_PIECE_BYTES = 1 << 16


class ForgivingFile:
    """The part of the file interface that h5py and pyarrow use, over an unbuffered file.

    Attributes:
        error: the first OSError, or None.
    """

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, buffer: memoryview | bytes) -> int:
        """Write a buffer, or drop what is left of it after the first error; returns its size either way."""
        data = memoryview(buffer).cast("B")
        size = len(data)
        done = 0
        while self.error is None and done < size:
            try:
                done += self._file.write(data[done : done + _PIECE_BYTES]) or 0
            except OSError as error:
                self.error = error
        return size

    def read(self, size: int = -1) -> bytes:
        """For h5py, which knows a file by this method and then calls `readinto`."""
        return self._file.read(size) or b""

    def readinto(self, buffer: memoryview) -> int:
        """Read into a buffer; returns the bytes read, none after the first error."""
        size = len(buffer)
        done = 0
        while self.error is None and done < size:
            try:
                count = self._file.readinto(buffer[done:])
            except OSError as error:
                self.error = error
                break
            if not count:
                break
            done += count
        return size

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to an offset; returns the new one."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The offset at which it stands."""
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        """Cut the file; an error is remembered, not raised."""
        try:
            return self._file.truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size or 0

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._file.closed

    def close(self) -> None:
        """The owner closes the file."""

    def flush(self) -> None:
        """Nothing waits in an unbuffered file."""
