"""A review on the disk: a folder with the notes, and a journal of all that was said of them. It can be moved, copied and compared.

What is in memory is what the journal says, line by line; a change is in the journal, on the disk, before anybody is told that it is saved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

from foundation.os_errors import map_os_errors
from shared.document import Annotation, Document
from shared.labels import HIDDEN, OTHER, LabelScheme, with_other
from site_client.errors import LocalRequestError, ReviewError
from site_client.review.journal import NAME, Journal
from site_client.review.notes_file import NotesFile, NotesLine, compare_notes, write_notes
from site_client.review.spans import Span, span_of
from site_client.review.state import Edit, NoteState, base_of

FORMAT = 1


@dataclass(frozen=True)
class Change:
    """What a person changed of a note, for who shows it.

    Args:
        edit: spans that went, spans that came.
        state: of the note, after it; what others change later is not in it.
    """

    edit: Edit
    state: NoteState


class Project:
    """An opened review, for one process at a time; safe among its threads.

    Args:
        folder: where it lies; see `begin` for a new one.

    Raises:
        ReviewError: there is none, it is open elsewhere, or damaged.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / NAME).is_file():
            raise ReviewError(
                f"{folder.name}: expected the folder of a review, found none; begin one by `site-client review NOTES`"
            )
        self.folder = folder
        self._lock = threading.RLock()
        self._journal = Journal(folder)
        try:
            self._read()
        except BaseException:
            self._journal.close()
            raise

    def close(self) -> None:
        """Let others have it."""
        with self._lock:
            self._journal.close()
            self.notes.close()

    def require_kept(self) -> None:
        """Returns if what was saved is still in the folder; see `Journal.require_kept`."""
        with self._lock:
            self._journal.require_kept()

    def __len__(self) -> int:
        return len(self.identifiers)

    def document(self, number: int) -> Document:
        """A note as it came."""
        with self._lock:
            return self.notes[number]

    def state(self, number: int) -> NoteState:
        """What is said of a note; not to be changed."""
        return self._states[number]

    def snapshot(self, number: int) -> tuple[Document, NoteState]:
        """A note, and what is said of it at one moment: a version that belongs to these spans and to no others."""
        with self._lock:
            return self.notes[number], self._states[number].copy()

    def states(self) -> Sequence[NoteState]:
        """Those of all notes, by their numbers."""
        return self._states

    def labelled(self, *, everything: bool = False) -> Iterator[Document]:
        """The notes with the labels that a person says are complete.

        Args:
            everything: also those that nobody has finished, with what is said of them so far.
        """
        for number, state in enumerate(self._states):
            if state.finished or everything:
                found = self.document(number)
                yield Document(found.identifier, found.text, tuple(span.annotation() for span in state.labels()))

    def add_notes(self, documents: Iterable[Document], source: str) -> int:
        """Take notes in that are not here yet, and labels that came since of those that no person has worked on.

        Args:
            documents: notes. What is PHI of no category is OTHER.
            source: tells them from others.

        Returns:
            how many notes that were here have other labels now. They are as if they had come with them: the pipeline looks at them anew.

        Raises:
            ReviewError: one has another text than the one that is here, or other labels where somebody has worked on it, or PHI of no
                category where this review has no OTHER.
        """
        documents = map(with_other, map(self._with_categories, documents))
        with self._lock:
            before, count = self.notes, len(self)
            coming = compare_notes(before, documents, [state.untouched for state in self._states])
            line = NotesLine(before.stated.file, before.stated.sha256, source)
            if coming.new or coming.labels:
                line = write_notes(self.folder, chain(_labelled(before, coming.labels), coming.new), before, source)
            self._journal.add({**_notes_line(line), "labels": sorted(coming.labels)})
            self._take(line)
            for number in (*coming.labels, *range(count, len(self))):
                self._states[number : number + 1] = [_base(self.notes[number])]
            before.close()
            if before.path != self.notes.path:
                with map_os_errors(before.path):
                    before.path.unlink(missing_ok=True)
            return len(coming.labels)

    def _with_categories(self, document: Document) -> Document:
        if OTHER not in self.scheme.categories and any(span.category == HIDDEN for span in document.annotations):
            raise ReviewError(
                f"{document.identifier}: expected labels of the review, got one that the release has no category for; export what is finished, "
                "and begin a new --project"
            )
        return document

    def find(self, number: int, spans: Sequence[Span]) -> None:
        """What the pipeline says of a note; passed over where a person was there first."""
        with self._lock:
            state = self._states[number]
            if state.version or state.looked_for:
                return
            if spans:
                state.after(Edit((), tuple(spans)))
            self._journal.add({"do": "found", "note": number, "spans": [span.to_json() for span in spans]})
            state.find(spans)

    def edit(self, number: int, version: int, edit: Edit) -> Change:
        """Change a note; when this returns the change is on the disk.

        Args:
            number: of the note.
            version: of the state that the change was made from.
            edit: what changes.

        Raises:
            LocalRequestError: the note has changed since, or the edit does not fit.
        """
        line = {
            "do": "edit",
            "note": number,
            "out": [span.to_json() for span in edit.out],
            "in": [span.to_json() for span in edit.into],
        }

        def check(state: NoteState) -> None:
            state.after(edit)

        def make(state: NoteState) -> Edit:
            state.edit(edit)
            return edit

        return self._change(number, version, line, check, make)

    def undo(self, number: int, version: int) -> Change:
        """Take back the last edit of a note; see `edit`."""
        return self._change(number, version, {"do": "undo", "note": number}, _needs("can_undo"), NoteState.undo)

    def redo(self, number: int, version: int) -> Change:
        """Make again what was taken back last; see `edit`."""
        return self._change(number, version, {"do": "redo", "note": number}, _needs("can_redo"), NoteState.redo)

    def finish(self, number: int, version: int, finished: bool) -> Change:
        """Say whether the labels of a note are complete; see `edit`."""

        def make(state: NoteState) -> Edit:
            state.finish(finished)
            return Edit((), ())

        return self._change(
            number,
            version,
            {"do": "finish", "note": number, "finished": "yes" if finished else "no"},
            lambda state: None,
            make,
        )

    def _change(
        self,
        number: int,
        version: int,
        line: dict[str, object],
        check: Callable[[NoteState], None],
        make: Callable[[NoteState], Edit],
    ) -> Change:
        with self._lock:
            state = self._states[number]
            if state.version != version:
                raise LocalRequestError(
                    "the note has changed since, by the pipeline or in another window; it is shown anew", status=409
                )
            try:
                check(state)
            except ValueError as error:
                raise LocalRequestError(str(error)) from None
            self._journal.add(line)
            return Change(make(state), state.copy())

    def _take(self, line: NotesLine) -> None:
        self.notes = NotesFile(self.folder, line)
        documents = list(self.notes)
        self.identifiers = [document.identifier for document in documents]
        self.characters = [len(document.text) for document in documents]

    def _read(self) -> None:
        lines = list(self._journal.read())
        if not lines:
            raise ReviewError(f"{self.folder.name}: expected a review, found an empty journal; begin it anew")
        begun = lines[0]
        if begun.get("do") != "begin" or begun.get("format") != FORMAT:
            raise ReviewError(f"{self.folder.name}: expected a review of format {FORMAT}; use the version that made it")
        stated: Any = begun
        try:
            self.scheme = LabelScheme(str(stated["scheme"]), tuple(map(str, stated["categories"])))
            last = next(line for line in reversed(lines) if line.get("do") == "notes")
            self._take(NotesLine(str(last["file"]), str(last["sha256"]), str(last["source"])))
            labelled = {
                number: place
                for place, line in enumerate(lines, start=1)
                if line.get("do") == "notes"
                for number in cast("list[int]", line.get("labels", []))
            }
        except (StopIteration, KeyError, TypeError) as error:
            raise self._journal.damaged(1) from error
        self._states = [_base(document) for document in self.notes]
        categories = self.scheme.category_index.keys()
        for place, line in enumerate(lines[1:], start=2):
            try:
                if place < labelled.get(cast("int", line.get("note")), 0):
                    # What the pipeline found beside labels that were replaced later; nobody had done anything else.
                    _expect_found(line)
                else:
                    self._replay(line, categories)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise self._journal.damaged(place) from error

    def _replay(self, line: dict[str, Any], categories: Any) -> None:
        if line["do"] == "notes":
            return
        number = range(len(self))[line["note"]]
        state, length = self._states[number], self.characters[number]

        def spans(name: str) -> tuple[Span, ...]:
            return tuple(span_of(one, categories, length) for one in line[name])

        match line["do"]:
            case "found":
                state.find(spans("spans"))
            case "edit":
                state.edit(Edit(spans("out"), spans("in")))
            case "undo":
                state.undo()
            case "redo":
                state.redo()
            case "finish":
                state.finish(bool(("no", "yes").index(line["finished"])))
            case _:
                raise ValueError("expected something that this version knows")


def begin(folder: Path, scheme: LabelScheme, documents: Iterable[Document], source: str) -> Project:
    """Make the folder of a review.

    Args:
        folder: new or empty; a beginning that was cut is made anew.
        scheme: the categories that spans may have.
        documents: the notes. What is PHI of no category is OTHER, which a scheme without it gets.
        source: see `NotesLine`.

    Raises:
        ReviewError: the folder holds something else.
        StorageError: it can't be written.
    """
    with map_os_errors(folder):
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        strange = [path.name for path in folder.iterdir() if path.name != NAME and not path.name.startswith("notes-")]
        if [name for name in strange if not name.startswith(".")]:
            raise ReviewError(f"{folder.name}: expected a new folder, found one with files in it; choose another")
    journal = Journal(folder)
    try:
        named: set[str] = set()

        def shown() -> Iterator[Document]:
            for document in map(with_other, documents):
                named.update(span.category for span in document.annotations)
                yield document

        line = write_notes(folder, shown(), None, source)
        if OTHER in named - set(scheme.categories):
            scheme = LabelScheme(scheme.name, (*scheme.categories, OTHER))
        journal.add(
            {"do": "begin", "format": FORMAT, "scheme": scheme.name, "categories": list(scheme.categories)},
            _notes_line(line),
        )
    finally:
        journal.close()
    return Project(folder)


def is_begun(folder: Path) -> bool:
    """Whether a review lies there that has begun: its first two lines are written at once, and without them nothing was ever saved."""
    path = folder / NAME
    if not path.is_file():
        return False
    with map_os_errors(path), path.open("rb") as file:
        return all(file.readline().endswith(b"\n") for _ in range(2))


def _base(document: Document) -> NoteState:
    return base_of((span.start, span.end, span.category) for span in document.annotations)


def _labelled(notes: NotesFile, labels: Mapping[int, tuple[Annotation, ...]]) -> Iterator[Document]:
    for number, document in enumerate(notes):
        yield replace(document, annotations=labels.get(number, document.annotations))


def _expect_found(line: Mapping[str, object]) -> None:
    if line["do"] != "found":
        raise ValueError("expected a note that no person had worked on")


def _notes_line(line: NotesLine) -> dict[str, object]:
    return {"do": "notes", "file": line.file, "sha256": line.sha256, "source": line.source}


def _needs(what: str) -> Callable[[NoteState], None]:
    def check(state: NoteState) -> None:
        if not (state.can_undo if what == "can_undo" else state.can_redo):
            raise ValueError("expected something to take back or to do again, found nothing")

    return check
