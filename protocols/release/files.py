"""The files of a release folder: which names and kinds may be there, found without following a link."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from foundation.os_errors import storage_error
from foundation.reading import regular_size
from protocols.errors import BoundsError, SchemaError

SUFFIXES = (".safetensors", ".json", ".toml", ".html", ".md")
"""Kinds of files that a release may hold; none of them runs code when our programs load it."""
MAX_FILES = 1000

_MAX_DEPTH = 4
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_MAX_HEADER_BYTES = 100 << 20


def check_name(name: str, place: str) -> None:
    """Returns if `name` is a plain relative name of a kind that a release may hold.

    Raises:
        SchemaError: absolute, with "..", backslashes or hidden parts, or of another kind, such as a pickle.
    """
    parts = name.split("/")
    if len(parts) > _MAX_DEPTH or not all(_PART.fullmatch(part) for part in parts):
        raise SchemaError(
            "relative names of letters, digits, '.', '_' and '-'",
            received="another name",
            advice="rename the file",
            place=place,
        )
    if PurePosixPath(name).suffix not in SUFFIXES:
        raise SchemaError(
            f"files of the kinds {', '.join(SUFFIXES)}", received=name, advice="remove it from the release", place=place
        )


def check_names(names: list[str], place: str) -> None:
    """Returns if every name is one that `check_name` accepts, and no two differ in case only.

    Raises:
        SchemaError: one is not.
        BoundsError: too many.
    """
    if len(names) > MAX_FILES:
        raise BoundsError(f"{MAX_FILES} files at most", received=str(len(names)), place=place)
    for name in names:
        check_name(name, place)
    if len({name.casefold() for name in names}) != len(names):
        raise SchemaError("names that differ in more than case", received="two that do not", place=place)


def list_files(folder: Path) -> list[str]:
    """Relative names of all files below `folder`, sorted.

    Raises:
        SchemaError: a link, a device, an empty folder, or too deep.
        BoundsError: too many files.
        StorageError: the folder can't be read.
    """
    try:
        names = []
        for name in _walk(folder, "", 1):
            names.append(name)
            if len(names) > MAX_FILES + 1:
                raise BoundsError(f"{MAX_FILES} files at most", received="more", place=folder.name)
        return sorted(names)
    except OSError as error:
        raise storage_error(folder, error) from error


def check_tensors(path: Path) -> None:
    """Returns if a file named .safetensors begins like one, so that no pickle hides under the name.

    Raises:
        SchemaError: it does not.
    """
    size = regular_size(path)
    try:
        with path.open("rb") as file:
            head = file.read(9)
    except OSError as error:
        raise storage_error(path, error) from error
    header = int.from_bytes(head[:8], "little")
    if len(head) < 9 or head[8:] != b"{" or not 2 <= header <= min(_MAX_HEADER_BYTES, size - 8):
        raise SchemaError("a safetensors file", received="something else", advice="refuse the release", place=path.name)


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = list(entries)
    if depth > _MAX_DEPTH or (prefix and not found):
        raise SchemaError("folders with files, not too deep", received="another", advice="remove it", place=folder.name)
    for entry in found:
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", depth + 1)
        elif stat.S_ISREG(mode):
            yield f"{prefix}{entry.name}"
        else:
            raise SchemaError("regular files", received="a link or device", advice="remove it", place=folder.name)
