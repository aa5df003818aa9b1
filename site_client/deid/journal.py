"""What was found before a run was cut, so that the same command goes on from there: `unfinished/` of the workspace.

A line for each note: its id, a digest of its text, and the spans, as offsets; no text. It is written once a run takes longer
than it takes to repeat, belongs to one release and one version of the program, and goes when the run is complete. What nobody
came back for goes after a month.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Protocol

from foundation.errors import StorageError
from foundation.files import open_private
from foundation.os_errors import map_os_errors
from shared.document import Annotation, Document

FOLDER = "unfinished"
_KEPT_S = 30 * 24 * 3600
_DIGEST_BYTES = 16


class Annotator(Protocol):
    """What finds PHI, such as the pipeline of a release."""

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with predicted annotations in the place of their own, in their order."""
        ...


def require_writable(folder: Path) -> None:
    """What a run has found can be kept here: a long one would else end in its middle, and after a short one nothing could be removed.

    Args:
        folder: FOLDER of the workspace; made when there is something to keep.

    Raises:
        StorageError: it, or the workspace where it is not there yet, can't be written.
    """
    place = folder if folder.exists() else folder.parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise StorageError(
            "a workspace that can be written, to keep what is found until a run has ended",
            received="a read-only one",
            advice="check its permissions and its disk, or give a copy of it that can be written by --workspace",
            place=place.name,
        )


class Resumed:
    """An annotator that finds nothing twice.

    Args:
        annotator: what finds PHI.
        folder: of the workspace; made when there is something to keep.
        run: what tells this run from others: the version of the program, the release, and the notes.
        patience_s: how long a run takes before it is worth to be kept.

    Attributes:
        kept: whether this run has something to go on from.
    """

    def __init__(self, annotator: Annotator, folder: Path, run: str, patience_s: float = 10) -> None:
        self._annotator = annotator
        self._path = folder / f"{hashlib.sha256(run.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.jsonl"
        self._patience_s = patience_s
        self._waiting: list[str] = []
        self._known = self._read()
        self.kept = False
        _sweep(folder)

    @property
    def known(self) -> int:
        """How many notes were found before and have not come yet."""
        return len(self._known)

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """See `Annotator`."""
        began = time.monotonic()
        rest = iter(documents)
        for document in rest:
            if (found := self._found_before(document)) is None:
                rest = chain([document], rest)
                break
            yield found
        ready: deque[Document | None] = deque()

        def new() -> Iterator[Document]:
            for document in rest:
                found = self._found_before(document)
                ready.append(found)
                if found is None:
                    yield document

        for found in self._annotator.annotate(new()):
            while (before := ready.popleft()) is not None:
                yield before
            self._keep(found, began)
            yield found
        for before in ready:
            assert before is not None
            yield before

    def finish(self) -> None:
        """The run is complete: nothing of it is kept."""
        with map_os_errors(self._path):
            self._path.unlink(missing_ok=True)

    def _found_before(self, document: Document) -> Document | None:
        spans = self._known.pop(_key(document), None)
        if spans is None:
            return None
        return Document(document.identifier, document.text, spans)

    def _keep(self, found: Document, began: float) -> None:
        spans = [[span.start, span.end, span.category, span.confidence] for span in found.annotations]
        self._waiting.append(json.dumps([*_key(found), spans], ensure_ascii=False) + "\n")
        if time.monotonic() - began < self._patience_s:
            return
        with map_os_errors(self._path):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            # In one call, so that a run that is killed leaves whole lines, but for the last.
            with open(self._path, "ab", buffering=0, opener=open_private) as stream:
                stream.write("".join(self._waiting).encode("utf-8", "surrogatepass"))
        self._waiting.clear()
        self.kept = True

    def _read(self) -> dict[tuple[str, str], tuple[Annotation, ...]]:
        known: dict[tuple[str, str], tuple[Annotation, ...]] = {}
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return known
        for line in lines:
            # A line that is cut, or that somebody has changed, is a note to be looked at anew.
            with suppress(ValueError, TypeError):
                identifier, digest, spans = json.loads(line)
                known[str(identifier), str(digest)] = tuple(
                    Annotation(int(start), int(end), str(category), confidence=None if sure is None else float(sure))
                    for start, end, category, sure in spans
                )
        return known


def _key(document: Document) -> tuple[str, str]:
    text = document.text.encode("utf-8", "surrogatepass")
    return document.identifier, hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


def _sweep(folder: Path) -> None:
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _KEPT_S:
                path.unlink()
