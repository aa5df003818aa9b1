"""What a part of a de-identification says of itself, in a hidden file beside its notes: which part of what it is, and that it is whole.

It names no note: numbers of notes that were set aside, counts, and digests. Who lays parts together asks here whether they are of one
run, whether any is missing, and whether one has changed on its way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundation.errors import StorageError
from foundation.files import write_text
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256, read_text
from shared.corpus.parts import Part
from shared.errors import ConfigurationError

NAME = ".deid-part.json"
_FORMAT = "deid-commons part 1"


@dataclass(frozen=True)
class PartReceipt:
    """What a part is.

    Args:
        number, of: which part.
        run: what all parts have in common, by words that people know: release, mode, settings, the files that were read.
        seen: notes of all parts.
        documents: notes that this part has written.
        set_aside: numbers of those of its notes that it has not, from 0 on.
        spans: found in it, by category.
        rewritten: the format in which tables were written as they came; "" where each note is a file.
        text_column: of those tables.
        files: that it has written.
        digest: of their names and bytes.
    """

    number: int
    of: int
    run: Mapping[str, str]
    seen: int
    documents: int
    set_aside: Sequence[int]
    spans: Mapping[str, int]
    rewritten: str
    text_column: str
    files: int
    digest: str

    @property
    def part(self) -> Part:
        """Which one."""
        return Part(self.number, self.of)

    def notes(self) -> list[int]:
        """Numbers of the notes that it has written, in their order."""
        aside = frozenset(self.set_aside)
        return [note for note in range(self.number - 1, self.seen, self.of) if note not in aside]

    def write(self, folder: Path) -> None:
        """Into the folder of the part.

        Raises:
            StorageError: no room, no permission.
        """
        write_text(folder / NAME, json.dumps({"format": _FORMAT} | asdict(self), sort_keys=True))


def read_receipt(folder: Path) -> PartReceipt:
    """The receipt of a part whose notes are those that it was written for.

    Raises:
        ConfigurationError: the folder is no part, or a part that has not ended.
        StorageError: it can't be read, or its notes are others than were written.
    """
    path = folder / NAME
    try:
        found: dict[str, Any] = json.loads(read_text(path)) if path.exists() else {}
        if found.pop("format", "") != _FORMAT:
            raise ValueError
        receipt = PartReceipt(**found)
        complete = len(receipt.notes()) == receipt.documents and receipt.part.of == receipt.of
    except (ValueError, TypeError, AttributeError, ConfigurationError) as error:
        raise ConfigurationError(
            f"{folder}: expected a part that `site-client deid --part` has written to its end, got another folder; run that part again into a "
            "new folder"
        ) from error
    if not complete or digest_files(folder) != (receipt.files, receipt.digest):
        raise StorageError(
            f"part {receipt.number}/{receipt.of} as it was written",
            received="other files, or fewer",
            advice="copy it again, or run that part again into a new folder",
            place=str(folder),
        )
    return receipt


def digest_files(folder: Path) -> tuple[int, str]:
    """How many files lie in a folder, and a digest of their names and bytes; hidden ones do not count.

    Raises:
        StorageError: one can't be read.
    """
    digest, names = hashlib.sha256(), part_files(folder)
    for name in names:
        digest.update(f"{file_sha256(folder / name)} {len(name)} {name}\n".encode("utf-8", "surrogateescape"))
    return len(names), digest.hexdigest()


def part_files(folder: Path) -> list[str]:
    """Names of the files of a part, sorted.

    Raises:
        StorageError: the folder can't be read.
    """
    with map_os_errors(folder):
        found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found if not path.name.startswith("."))
