"""Where documents go that can't be trusted: as they came, each with a line in quarantine.jsonl that says why.

The files are numbered: an id is often a number of a patient, and names of files are shown where their content is not. The
lines of the index hold number, id, reason, place and digest, never text. All of it is its owner's alone. Reading the same
corpus again adds nothing twice, and a file that is there is never written over: somebody may have corrected it. A record that
changed is another one, with a number and a line of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import open_private, write_bytes
from foundation.leftovers import sweep_leftovers
from foundation.locks import lock_folder
from foundation.os_errors import map_os_errors
from foundation.reading import real_path
from shared.corpus.parsing.format import Entry
from shared.errors import CorpusError

INDEX = "quarantine.jsonl"


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
        self._source = os.fsencode(real_path(source)).decode("utf-8", "backslashreplace")
        self._index = folder / INDEX
        with map_os_errors(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            # One that is there keeps its rights: who may see that notes were set aside is for its owner to say.
            folder.mkdir(mode=0o700, exist_ok=True)
            sweep_leftovers(folder)
            if self._index.exists():
                self._index.chmod(0o600)
            lines = self._index.read_text(encoding="utf-8").split("\n") if self._index.exists() else []
        try:
            known = [json.loads(line) for line in lines if line]
            # Indices of before have no digests: no record is known by such a line, and its files stay as they are.
            self._files: dict[tuple[str, str, str], list[str]] = {
                (item["source"], item["place"], item.get("digest", "")): _names_in(item["files"]) for item in known
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StorageError(
                "the index of a quarantine",
                received="something else",
                advice="name another folder",
                place=str(self._index),
            ) from error
        with map_os_errors(folder):
            for file in (folder / name for names in self._files.values() for name in names):
                if file.is_file() and not file.is_symlink():
                    file.chmod(0o600)

    def add(self, entry: Entry, problem: CorpusError, identifier: str) -> None:
        """Set one record aside; its bytes are on the disk before its line is.

        Args:
            entry: the record.
            problem: why it can't be used.
            identifier: its id, fit to print.
        """
        with lock_folder(self.folder):
            self._add(entry, problem, identifier)

    def _add(self, entry: Entry, problem: CorpusError, identifier: str) -> None:
        digest = _digest(entry)
        key = (self._source, entry.place, digest)
        known = key in self._files
        files = self._files[key] if known else self._names(entry)
        for name, data in zip(files, entry.parts.values(), strict=False):
            if not os.path.lexists(self.folder / name):
                write_bytes(self.folder / name, data)
        if known:
            return
        self._files[key] = files
        line = {
            "id": identifier,
            "kind": type(problem).__name__,
            "reason": problem.problem,
            "place": entry.place,
            "at": problem.place,
            "digest": digest,
        }
        data = (json.dumps({**line, "source": self._source, "files": files}, ensure_ascii=False) + "\n").encode()
        with map_os_errors(self._index), open(self._index, "ab", buffering=0, opener=open_private) as stream:
            stream.write(data)
            os.fsync(stream.fileno())

    def _names(self, entry: Entry) -> list[str]:
        """Of the next number that no file has, whoever put it there."""
        for number in range(len(self._files) + 1, 1 << 31):
            names = [f"{number:06}{suffix}" for suffix in entry.parts]
            if not any(os.path.lexists(self.folder / name) for name in names):
                return names
        raise StorageError(
            "a name that is free",
            received="too many documents",
            advice="name another folder",
            place=str(self.folder),
        )


def _names_in(files: list[str]) -> list[str]:
    """The names of files in the folder, and of none elsewhere.

    Raises:
        ValueError: there are others.
    """
    if any(name != Path(name).name for name in files):
        raise ValueError("expected names of files in the folder, got others")
    return files


def _digest(entry: Entry) -> str:
    whole = hashlib.sha256()
    for suffix, data in entry.parts.items():
        whole.update(f"{suffix}:{len(data)}:".encode() + data)
    return whole.hexdigest()
