from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.document import Annotation, Document
from shared.errors import FormatError
from shared.labels import HIDDEN
from site_client.errors import LocalRequestError, ReviewError
from site_client.review.journal import NAME, Journal
from site_client.review.project import Project, begin, is_begun
from site_client.review.state import Edit
from tests.site_client.review.projects import SCHEME, TEXT, doubt, found, notes, person, project


def told(opened: Project) -> list[object]:
    """All that a review says of its notes."""
    states = [(state.spans, state.finished, state.version, state.looked_for) for state in opened.states()]
    undo = [(state.can_undo, state.can_redo) for state in opened.states()]
    return [opened.identifiers, states, undo, list(opened.labelled(everything=True))]


def worked_on(folder: Path) -> Project:
    """A review in which everything happened that can."""
    made = project(folder)
    made.find(1, [found(0, 4, 0.9), doubt(9, 14, 0.4)])
    made.edit(1, 1, Edit((found(0, 4, 0.9),), (person(0, 4, "B"),)))
    made.edit(1, 2, Edit((doubt(9, 14, 0.4),), ()))
    made.undo(1, 3)
    made.undo(1, 4)
    made.redo(1, 5)
    made.finish(1, 6, True)
    made.edit(0, 0, Edit((), (person(19, 24),)))
    made.finish(0, 1, True)
    made.finish(0, 2, False)
    return made


def test_it_is_the_same_after_it_was_closed(tmp_path: Path) -> None:
    made = worked_on(tmp_path / "p")
    before = told(made)
    made.close()
    opened = Project(tmp_path / "p")
    assert told(opened) == before
    assert opened.scheme == SCHEME
    opened.close()


def test_killed_after_any_line_it_is_what_it_was_then(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    worked_on(folder).close()
    data = (folder / NAME).read_bytes()
    versions = []
    for length in range(data.index(b"\n", data.index(b"\n") + 1) + 1, len(data) + 1, 7):
        (folder / NAME).write_bytes(data[:length])
        opened = Project(folder)
        versions.append(sum(state.version for state in opened.states()))
        opened.close()
    assert versions == sorted(versions)
    assert versions[0] == 0


def test_a_beginning_that_was_cut_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    project(folder).close()
    data = (folder / NAME).read_bytes()
    for length in (0, 5, data.index(b"\n") + 1, len(data) - 1):
        (folder / NAME).write_bytes(data[:length])
        assert not is_begun(folder)
        project(folder).close()
        assert (folder / NAME).read_bytes() == data
    assert is_begun(folder)


def test_lines_that_are_whole_and_make_no_sense_are_named(tmp_path: Path) -> None:
    lines: tuple[dict[str, object], ...] = (
        {"do": "undo", "note": 0},
        {"do": "edit", "note": 0, "out": [], "in": [[0, 2, "A", "person", None, True]]},
        {"do": "edit", "note": 99, "out": [], "in": [[9, 14, "A", "person", None, True]]},
        {"do": "edit", "note": 0, "out": [], "in": [[9, 14, "C", "person", None, True]]},
        {"do": "finish", "note": 0, "finished": True},
        {"do": "fly", "note": 0},
        {"do": "finish", "note": "0", "finished": "yes"},
        {},
    )
    for number, line in enumerate(lines):
        folder = tmp_path / str(number)
        project(folder).close()
        journal = Journal(folder)
        list(journal.read())
        journal.add(line)
        journal.close()
        with pytest.raises(ReviewError, match="line 3: expected it as it was written"):
            Project(folder)
        # The lock is given back.
        Journal(folder).close()


def test_notes_that_were_changed_on_the_disk_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    project(folder).close()
    path = folder / "notes-0.jsonl"
    path.write_text(path.read_text().replace("Berta", "Bertha"))
    with pytest.raises(ReviewError, match="found others"):
        Project(folder)


@pytest.mark.parametrize("size", [None, 40])
def test_notes_that_are_changed_while_their_review_is_open_are_not_shown(size: int | None, tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    path = tmp_path / "p" / "notes-0.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Berta", b"Greta")[:size])
    for number in range(3):
        with pytest.raises(ReviewError, match="found others"):
            made.snapshot(number)
    made.finish(0, 0, True)
    with pytest.raises(ReviewError, match="found others"):
        list(made.labelled())
    made.close()


def test_who_changes_an_older_state_is_told_and_nothing_changes(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    edit = Edit((), (person(9, 14),))
    made.edit(1, 0, edit)
    before, data = told(made), (tmp_path / "p" / NAME).read_bytes()
    attempts: tuple[Callable[[], object], ...] = (
        lambda: made.edit(1, 0, Edit((), (person(19, 24),))),
        lambda: made.edit(1, 1, edit),
        lambda: made.undo(1, 0),
        lambda: made.redo(1, 1),
        lambda: made.undo(2, 0),
        lambda: made.finish(1, 2, True),
    )
    for attempt in attempts:
        with pytest.raises(LocalRequestError):
            attempt()
    assert told(made) == before
    assert (tmp_path / "p" / NAME).read_bytes() == data
    made.close()


def test_the_pipeline_does_not_undo_what_a_person_did(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    made.edit(1, 0, Edit((), (person(9, 14),)))
    made.find(1, [found(9, 14, 0.9)])
    assert made.state(1).spans == (person(9, 14),)
    made.find(0, [])
    made.find(0, [found(9, 14, 0.9)])
    assert made.state(0).looked_for
    assert len(made.state(0).spans) == 1
    made.close()


def test_new_notes_join_and_changed_ones_are_refused(tmp_path: Path) -> None:
    made = worked_on(tmp_path / "p")
    before = told(made)
    made.add_notes([*notes(), Document("new", TEXT, (Annotation(5, 8, "B"),))], "other")
    assert made.identifiers == ["n0", "n1", "n2", "new"]
    assert [span.category for span in made.state(3).spans] == ["B"]
    with pytest.raises(ReviewError, match="n1: expected the text"):
        made.add_notes([Document("n1", TEXT + " ")], "third")
    made.add_notes(notes(), "fourth")
    after = told(made)
    made.close()
    opened = Project(tmp_path / "p")
    assert told(opened) == after
    assert opened.notes.stated.source == "fourth"
    opened.close()
    assert [name for name in before[0] if name in after[0]] == before[0]  # type: ignore[attr-defined,operator]
    assert len(list((tmp_path / "p").glob("notes-*"))) == 1


def test_what_is_labelled_is_what_a_person_finished(tmp_path: Path) -> None:
    made = worked_on(tmp_path / "p")
    (labelled,) = made.labelled()
    assert (labelled.identifier, labelled.annotations) == ("n1", (Annotation(0, 4, "B"),))
    assert [document.identifier for document in made.labelled(everything=True)] == ["n0", "n1", "n2"]
    made.close()


def test_only_its_owner_can_read_it_and_the_journal_holds_no_text(tmp_path: Path) -> None:
    worked_on(tmp_path / "p").close()
    assert stat.S_IMODE((tmp_path / "p").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "p").iterdir()} == {0o600}
    journal = (tmp_path / "p" / NAME).read_text()
    assert not [word for word in ("Anna", "Berta", "Carla", "Dora") if word in journal]


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(ReviewError, match="choose another"):
        project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(ReviewError, match="found none"):
        Project(tmp_path)


def test_a_review_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        begin(tmp_path / "p", SCHEME, [], "s")
    assert not is_begun(tmp_path / "p")


def test_any_text_comes_back_whole(tmp_path: Path) -> None:
    texts = ["", "\n", "\u2028a\x85b\r\nc", "\U0001f600 שלום \u202e x", "x" * 100_000]
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    made = begin(tmp_path / "p", SCHEME, documents, "s")
    assert [made.document(number).text for number in range(len(texts))] == texts
    made.close()


def test_phi_of_no_category_is_other_and_a_scheme_that_has_none_gets_it(tmp_path: Path) -> None:
    note = Document("n9", TEXT, (Annotation(0, 4, "A"), Annotation(9, 14, HIDDEN)))
    opened = begin(tmp_path / "p", SCHEME, [note], "source")
    assert opened.scheme.categories == ("A", "B", "OTHER")
    assert [span.category for span in next(opened.labelled(everything=True)).annotations] == ["A", "OTHER"]
    (other,) = (one for one in opened.state(0).spans if one.category == "OTHER")
    opened.edit(0, 0, Edit((other,), (person(9, 14, "B"),)))
    opened.close()
    again = Project(tmp_path / "p")
    assert [span.category for span in next(again.labelled(everything=True)).annotations] == ["A", "B"]
    again.close()


def test_a_review_without_other_takes_no_phi_of_no_category_in(tmp_path: Path) -> None:
    opened = project(tmp_path / "p")
    before = sorted(path.name for path in (tmp_path / "p").iterdir())
    with pytest.raises(
        ReviewError, match="n9: expected labels of the review, got one that the release has no category"
    ):
        opened.add_notes([Document("n9", TEXT, (Annotation(9, 14, HIDDEN),))], "other")
    assert len(opened) == 3
    opened.close()
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == before


LABELLED = Document("n1", TEXT, (Annotation(0, 4, "B"), Annotation(9, 14, "A")))


def test_labels_that_come_later_are_taken_while_no_person_has_worked_on_the_note(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    # What the pipeline found lies under the labels that come.
    made.find(1, [found(0, 6, 0.9)])
    made.find(2, [])
    first = Document("n0", TEXT)
    assert made.add_notes([first, LABELLED, Document("n2", TEXT, LABELLED.annotations)], "other") == 3
    assert [len(state.spans) for state in made.states()] == [0, 2, 2]
    assert not any(state.looked_for or state.version for state in made.states())
    assert made.document(1) == LABELLED
    made.find(1, [found(15, 18, 0.6)])
    made.edit(1, 1, Edit((found(15, 18, 0.6),), ()))
    made.undo(1, 2)
    made.finish(1, 3, True)
    assert made.add_notes([LABELLED], "third") == 0
    before = told(made)
    made.close()
    opened = Project(tmp_path / "p")
    assert told(opened) == before
    (labelled,) = opened.labelled()
    assert labelled.annotations == (Annotation(0, 4, "B"), Annotation(9, 14, "A"), Annotation(15, 18, "A"))
    # Labels that were taken away elsewhere are others, too.
    assert opened.add_notes([Document("n2", TEXT)], "fourth") == 1
    assert opened.state(2).spans == ()
    opened.close()


def test_labels_that_come_later_for_a_note_that_a_person_worked_on_are_refused(tmp_path: Path) -> None:
    made = project(tmp_path / "p", notes(5))
    made.edit(1, 0, Edit((), (person(9, 14),)))
    made.undo(1, 1)
    made.finish(2, 0, True)
    made.find(3, [found(9, 14, 0.9)])
    made.edit(3, 1, Edit((found(9, 14, 0.9),), ()))
    before, lines = told(made), (tmp_path / "p" / NAME).read_bytes()
    later = [Document(f"n{number}", TEXT, (Annotation(0, 4, "B"),)) for number in range(5)]
    with pytest.raises(ReviewError, match=r"\(3, n1 the first\): expected the labels"):
        made.add_notes(later, "other")
    assert told(made) == before
    assert (tmp_path / "p" / NAME).read_bytes() == lines
    assert [path.name for path in (tmp_path / "p").glob("notes-*")] == ["notes-0.jsonl"]
    # Who brings the text alone says nothing of its labels.
    assert made.add_notes([Document(note.identifier, note.text, labelled=False) for note in later], "third") == 0
    assert told(made) == before
    made.close()


@pytest.mark.parametrize("found_first", [False, True])
def test_labels_for_a_note_that_was_only_said_to_be_unfinished_are_refused_and_it_opens_again(
    tmp_path: Path, found_first: bool
) -> None:
    made = project(tmp_path / "p")
    made.find(1, [found(9, 14, 0.9)] if found_first else [])
    made.finish(1, made.state(1).version, False)
    with pytest.raises(ReviewError, match=r"n1.*expected the labels"):
        made.add_notes([LABELLED], "other")
    before = told(made)
    made.close()
    opened = Project(tmp_path / "p")
    assert told(opened) == before
    assert not opened.state(1).untouched
    # The notes beside it are nobody's work yet.
    assert opened.add_notes([Document("n2", TEXT, LABELLED.annotations)], "third") == 1
    opened.close()
    Project(tmp_path / "p").close()


def test_killed_while_labels_are_taken_it_has_the_old_or_the_new_ones(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    made = project(folder)
    made.find(1, [found(0, 6, 0.9)])
    data, old = (folder / NAME).read_bytes(), (folder / "notes-0.jsonl").read_bytes()
    made.add_notes([LABELLED], "other")
    made.close()
    opened = Project(folder)
    assert [span.category for span in opened.state(1).spans] == ["B", "A"]
    opened.close()
    (folder / "notes-0.jsonl").write_bytes(old)
    (folder / NAME).write_bytes(data + b"torn")
    opened = Project(folder)
    assert opened.state(1).spans == (found(0, 6, 0.9),)
    assert opened.add_notes([LABELLED], "other") == 1
    opened.close()


def test_a_person_s_work_ahead_of_labels_that_came_later_is_damage(tmp_path: Path) -> None:
    made = project(tmp_path / "p")
    made.edit(1, 0, Edit((), (person(9, 14),)))
    stated = made.notes.stated
    made.close()
    journal = Journal(tmp_path / "p")
    list(journal.read())
    journal.add({"do": "notes", "file": stated.file, "sha256": stated.sha256, "source": "x", "labels": [1]})
    journal.close()
    with pytest.raises(ReviewError, match="line 3"):
        Project(tmp_path / "p")
