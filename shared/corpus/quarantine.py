"""Where documents go that can't be trusted: as they came, each with a line in quarantine.jsonl that says why.

The lines hold id, reason and place, never text. Reading the same corpus again adds nothing twice.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from shared.corpus.parsing.format import Entry
from shared.errors import CorpusError

INDEX = "quarantine.jsonl"
_UNSAFE = re.compile(r"[^\w.-]")


class Quarantine:
    """One quarantine folder in use.

    Args:
        folder: made if it is not there.
        source: the corpus, as the lines name it.

    Raises:
        StorageError: the folder can't be made or its index can't be read.
    """

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder = folder
        self._source = os.fsencode(source).decode("utf-8", "backslashreplace")
        self._index = folder / INDEX
        with map_os_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            lines = self._index.read_text(encoding="utf-8").split("\n") if self._index.exists() else []
        try:
            known = [json.loads(line) for line in lines if line]
            self._files: dict[tuple[str, str], list[str]] = {
                (item["source"], item["place"]): item["files"] for item in known
            }
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                "the index of a quarantine",
                received="something else",
                advice="name another folder",
                place=str(self._index),
            ) from error

    def add(self, entry: Entry, problem: CorpusError, identifier: str) -> None:
        """Set one record aside; its bytes are on the disk before its line is.

        Args:
            entry: the record.
            problem: why it can't be used.
            identifier: its id, fit to print.
        """
        key = (self._source, entry.place)
        known = key in self._files
        files = self._files.get(key) or self._names(entry, identifier)
        for name, data in zip(files, entry.parts.values(), strict=False):
            write_bytes(self.folder / name, data, private=False)
        if known:
            return
        self._files[key] = files
        line = {
            "id": identifier,
            "kind": type(problem).__name__,
            "reason": problem.problem,
            "place": entry.place,
            "at": problem.place,
        }
        data = (json.dumps({**line, "source": self._source, "files": files}, ensure_ascii=False) + "\n").encode()
        with map_os_errors(self._index), self._index.open("ab", buffering=0) as stream:
            stream.write(data)
            os.fsync(stream.fileno())

    def _names(self, entry: Entry, identifier: str) -> list[str]:
        stem = _UNSAFE.sub("_", identifier)[:80].lstrip(".") or "record"
        for number in range(1, 1 << 31):
            names = [f"{stem}{'' if number == 1 else f'-{number}'}{suffix}" for suffix in entry.parts]
            if not any((self.folder / name).exists() or name == INDEX for name in names):
                return names
        raise StorageError(
            "a name that is free",
            received="too many documents of one name",
            advice="name another folder",
            place=str(self.folder),
        )
