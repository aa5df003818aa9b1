"""A run that was cut goes on: nothing is looked for twice, nothing is found that was not, and nothing is left in the end."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from foundation.errors import StorageError
from shared.document import Annotation, Document
from site_client.deid.journal import Resumed, require_writable
from tests.loop import Loop, hospital, refused

NOTES = [Document(f"n-{number}", f"Ana {number} Marchbanks") for number in range(8)]


class Cut(Exception):
    pass


class Finds:
    """Finds the first three characters, two notes at a time, and remembers what it looked at."""

    def __init__(self, cut_before: str = "") -> None:
        self.seen: list[str] = []
        self._cut = cut_before

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        held: list[Document] = []
        for document in documents:
            if document.identifier == self._cut:
                raise Cut
            self.seen.append(document.identifier)
            held.append(document)
            if len(held) == 2:
                yield from map(self._found, held)
                held.clear()
        yield from map(self._found, held)

    def _found(self, document: Document) -> Document:
        return Document(document.identifier, document.text, (Annotation(0, 3, "PATIENT"),))


def run(finds: Finds, folder: Path, notes: list[Document] = NOTES, patience_s: float = 0) -> list[Document]:
    resumed = Resumed(finds, folder, "run", patience_s)
    found = list(resumed.annotate(notes))
    resumed.finish()
    return found


def test_it_goes_on_behind_what_was_found(tmp_path: Path) -> None:
    whole = run(Finds(), tmp_path / "a")
    first, then = Finds("n-5"), Finds()
    with pytest.raises(Cut):
        run(first, tmp_path / "b")
    [kept] = (tmp_path / "b").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "Marchbanks" not in kept.read_text()
    assert run(then, tmp_path / "b") == whole
    assert then.seen == ["n-4", "n-5", "n-6", "n-7"]
    assert not list((tmp_path / "b").iterdir())


@pytest.mark.parametrize("order", [[7, 0, 6, 1, 5, 2], [3, 2, 1, 0], [7, 6]])
def test_notes_may_come_in_another_order_or_be_others(order: list[int], tmp_path: Path) -> None:
    with pytest.raises(Cut):
        run(Finds("n-5"), tmp_path)
    notes = [NOTES[number] for number in order]
    assert run(Finds(), tmp_path, notes) == run(Finds(), tmp_path / "other", notes)


def test_a_note_that_was_changed_is_looked_at_anew(tmp_path: Path) -> None:
    with pytest.raises(Cut):
        run(Finds("n-5"), tmp_path)
    then = Finds()
    run(then, tmp_path, [Document("n-0", "Eva"), *NOTES[1:]])
    assert then.seen[0] == "n-0"


def test_a_line_that_is_cut_is_a_note_to_look_at(tmp_path: Path) -> None:
    with pytest.raises(Cut):
        run(Finds("n-5"), tmp_path)
    [kept] = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-9])
    then = Finds()
    assert len(run(then, tmp_path)) == 8
    assert then.seen[0] == "n-3"


def test_what_takes_a_moment_is_not_kept_and_what_nobody_came_back_for_goes(tmp_path: Path) -> None:
    with pytest.raises(Cut):
        run(Finds("n-5"), tmp_path / "a", patience_s=60)
    assert not (tmp_path / "a").exists()
    old = tmp_path / "old.jsonl"
    old.write_text(json.dumps([]))
    os.utime(old, (time.time() - 40 * 86400,) * 2)
    Resumed(Finds(), tmp_path, "run")
    assert not old.exists()


def test_the_command_goes_on_and_says_so(loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("site_client.deid.journal.Resumed.__init__.__defaults__", (0,))
    deid = ("deid", loop.notes("north"), "--workspace", loop.site("fourth"))
    whole = hospital(*deid, "--out", tmp_path / "whole")
    assert whole.exit_code == 0

    def interrupted(self: object, found: Document, began: float, keep: object = Resumed._keep) -> None:
        keep(self, found, began)  # type: ignore[operator]
        if found.identifier.endswith("11"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Resumed, "_keep", interrupted)
        cut = hospital(*deid, "--out", tmp_path / "safe")
    assert cut.exit_code == 130
    assert "the same command goes on" in cut.stderr
    assert not (tmp_path / "safe").exists()
    with monkeypatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda name: "99.0")
        assert hospital(*deid, "--out", tmp_path / "by another version").stderr == ""
    again = hospital(*deid, "--out", tmp_path / "safe")
    assert again.stderr == "note: 12 notes were done before an earlier run was cut; it goes on behind them\n"
    assert {path.name: path.read_bytes() for path in (tmp_path / "safe").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()
    }
    assert not list((loop.site("fourth") / "unfinished").iterdir())


def test_a_workspace_that_can_not_be_written_is_refused_before_a_note_is_read(
    built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system says so beforehand, as of a disk that is mounted read-only."""
    site, allowed = built_loop.site("fourth"), os.access

    def access(path: Path, mode: int, **more: bool) -> bool:
        return allowed(path, mode, **more) and not (mode & os.W_OK and site in (Path(path), *Path(path).parents))

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr("command_line.notes.Notes", lambda *given, **named: 1 / 0)
    deid = ("deid", built_loop.notes("fourth"), "--out", tmp_path / "safe", "--workspace", site)
    refused(hospital(*deid), 8, "expected a workspace that can be written", "received a read-only one", "--workspace")
    assert not (tmp_path / "safe").exists()
    (tmp_path / "unfinished").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StorageError, match="unfinished"):
        require_writable(tmp_path / "unfinished")


def test_notes_that_nobody_has_labelled_are_not_evaluated(built_loop: Loop, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Seen by Ana Marchbanks.")
    refused(
        hospital("evaluate", tmp_path / "a.txt", "--workspace", built_loop.site("fourth")), 3, "nobody has labelled"
    )


def test_a_share_that_was_submitted_is_not_written_over(built_loop: Loop) -> None:
    share = built_loop.root / "north.parquet"
    before = share.read_bytes()
    command = ("encode", built_loop.notes("north"), "--out", share, "--workspace", built_loop.site("north"))
    refused(hospital(*command), 2, "share 1, which was submitted")
    assert share.read_bytes() == before
