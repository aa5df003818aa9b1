"""The commands as they are typed: a review, its export, two people's agreement, and the service for programs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from bench.workbench.reviewing.server import Reviewer, enter, served
from command_line.notes_options import NotesOptions
from shared.corpus import read_corpus
from shared.document import Annotation, Document
from site_client.commands.workbench.review import _begin, _source
from site_client.review.project import Project
from tests.loop import Loop, done, hospital, refused, values
from tests.site_client.review.projects import SCHEME, project
from tests.site_client.review.projects import notes as few_notes
from tests.tiny_notes import phi_strings, tiny_notes, write_notes

NOTES = list(tiny_notes(6, 55, "ward"))
REVIEW = ("-m", "site_client", "review")


def plain(folder: Path, count: int = 6) -> Path:
    """Notes that nobody has labelled."""
    folder.mkdir()
    for note in NOTES[:count]:
        (folder / f"{note.identifier}.txt").write_text(note.text)
    return folder


def waited_for(reviewer: Reviewer, number: int) -> dict[str, Any]:
    """A note, once the pipeline has looked at it."""
    for _ in range(600):
        note = reviewer.note(number)
        if note["found"]:
            return note
        time.sleep(0.05)
    pytest.fail("nothing was pre-labelled")


def test_from_notes_that_nobody_labelled_to_a_share(loop: Loop, tmp_path: Path) -> None:
    notes, workspace, out = plain(tmp_path / "notes"), loop.site("fourth"), tmp_path / "labelled.jsonl"
    folder = tmp_path / "p"
    arguments = [*REVIEW, str(notes), "--project", str(folder), "--workspace", str(workspace)]
    with served(arguments) as (process, address):
        reviewer = enter(address)
        for number in range(5):
            note = waited_for(reviewer, number)
            assert note["spans"]
            assert all(span[3] in ("found", "doubt") for span in note["spans"])
            last = note["spans"][-1]
            reviewer.change(number, "edit", version=1, out=[last], **{"in": [[*last[:5], True]]})
            reviewer.change(number, "finish", version=2)
        reviewer.client.close()
    assert process.returncode == 0
    exported = values(
        hospital("review", "--project", folder, "--export", out, "--workspace", tmp_path / "nowhere", "--json")
    )
    assert (exported["notes"], exported["finished"], exported["scheme"]) == (5, 5, "i2b2_2014")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    done(hospital("check", out, "--workspace", workspace))
    done(hospital("encode", out, "--out", tmp_path / "share.parquet", "--workspace", workspace))
    everything = tmp_path / "brat"
    done(hospital("review", "--project", folder, "--export", everything, "--everything"))
    assert len(list(everything.glob("*.ann"))) == 6
    refused(hospital("review", "--project", folder, "--export", out), 2, "choose another")


def test_it_goes_on_where_it_was_ended_takes_new_notes_in_and_says_no_phi(loop: Loop, tmp_path: Path) -> None:
    notes, workspace = plain(tmp_path / "notes", 4), loop.site("fourth")
    printed = []
    for ended_by, count in ((signal.SIGTERM, 4), (signal.SIGINT, 6)):
        for note in NOTES[:count]:
            (notes / f"{note.identifier}.txt").write_text(note.text)
        arguments = [sys.executable, *REVIEW, str(notes), "--workspace", str(workspace), "--no-prelabel", "--json"]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if line.startswith("open "):
                break
        reviewer = enter(line.split()[1])
        assert reviewer.client.get("/api/project").json()["notes"] == count
        number = count - 4
        assert reviewer.note(number)["waiting"] is False
        reviewer.add(number, 0, (0, 7, "PATIENT"))
        reviewer.change(number, "finish", version=1)
        reviewer.client.close()
        process.send_signal(ended_by)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0
        printed.append(said + err + out)
        result = json.loads(out)
    assert (result["notes"], result["finished"]) == (6, 2)
    (folder,) = (workspace / "review").iterdir()
    assert result["project"] == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    secrets = {word for word in phi_strings(NOTES) if len(word) > 4}
    assert not [word for word in secrets if word in "".join(printed)]


def test_two_readers_are_compared(tmp_path: Path) -> None:
    for name, spans in (("one", [(0, 4, "A")]), ("two", [(0, 4, "A"), (9, 14, "B")])):
        made = project(tmp_path / name)
        for start, end, category in spans[len(made.state(0).spans) :]:
            from site_client.review.spans import Span
            from site_client.review.state import Edit

            made.edit(0, 0, Edit((), (Span(start, end, category),)))
        made.finish(0, made.state(0).version, True)
        made.close()
    told = values(hospital("review", "--compare", tmp_path / "one", tmp_path / "two", "--json"))
    assert told["notes"] == 1
    assert told["f1"] == pytest.approx(2 / 3)
    assert [(one["document"], one["start"], one["whose"]) for one in told["differences"]] == [("n0", 9, 2)]
    lines = done(hospital("review", "--compare", tmp_path / "one", tmp_path / "two")).stdout
    assert "kappa on tokens" in lines
    assert not [word for word in few_notes()[0].text.split() if len(word) > 3 and word in lines]


def test_what_can_not_be_reviewed_is_said_in_a_line(loop: Loop, tmp_path: Path) -> None:
    notes, at = plain(tmp_path / "notes"), ("--workspace", loop.site("fourth"))
    refused(hospital("review", *at), 2, "expected notes")
    refused(hospital("review", "--project", tmp_path / "none", *at), 38, "found none")
    refused(hospital("review", notes, "--everything", *at), 2, "--export")
    refused(hospital("review", notes, "--compare", tmp_path, tmp_path, *at), 2, "--compare")
    refused(hospital("review", "--compare", tmp_path, tmp_path), 38, "found none")
    project(tmp_path / "same").close()
    refused(hospital("review", "--compare", tmp_path / "same", tmp_path / "." / "same"), 2, "same folder")
    refused(hospital("review", notes, "--project", notes, *at), 38, "choose another")
    refused(hospital("review", notes, "--workspace", tmp_path), 30, "site-client init")
    opened = project(tmp_path / "p")
    refused(hospital("review", "--project", tmp_path / "p", "--export", tmp_path / "out", *at), 38, "has open")
    opened.close()
    refused(hospital("review", "--project", tmp_path / "p", "--export", tmp_path / "out", *at), 38, "finish notes")
    other = write_notes(tmp_path / "other", NOTES)
    begun = hospital(
        "review", other, "--project", tmp_path / "q", "--export", tmp_path / "all it has", "--everything", *at
    )
    # What nobody has finished is not to be shared: no line says how.
    assert begun.exit_code == 0
    assert f"site-client check '{tmp_path / 'all it has'}'" in begun.stdout
    assert "site-client encode" not in begun.stdout
    (other / f"{NOTES[0].identifier}.txt").write_text("another text")
    (other / f"{NOTES[0].identifier}.ann").write_text("")
    again = hospital("review", other, "--project", tmp_path / "q", "--export", tmp_path / "more", *at)
    refused(again, 38, f"{NOTES[0].identifier}: expected the text")
    # What was refused holds nothing.
    Project(tmp_path / "q").close()


@pytest.mark.parametrize("harm", ["removed", "moved", "replaced", "cut"])
def test_a_review_whose_folder_another_has_harmed_does_not_end_well(
    harm: str, built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page has saved before is told from memory, which goes now."""
    made = project(tmp_path / "p")
    made.finish(0, 0, True)
    made.close()
    journal = tmp_path / "p" / "journal"

    def meanwhile(*given: object) -> None:
        match harm:
            case "removed":
                shutil.rmtree(journal.parent)
            case "moved":
                journal.parent.rename(tmp_path / "elsewhere")
            case "replaced":
                data = journal.read_bytes()
                journal.unlink()
                journal.write_bytes(data)
            case _:
                os.truncate(journal, 10)

    monkeypatch.setattr("site_client.review.running.run", meanwhile)
    command = ("review", "--project", tmp_path / "p", "--workspace", built_loop.site("fourth"))
    told = hospital(*command)
    refused(told, 38, "p/journal", "expected all that was saved")
    assert "notes are finished" not in told.stdout


def test_labels_that_come_later_are_reviewed_or_refused_and_never_dropped(loop: Loop, tmp_path: Path) -> None:
    notes, folder = plain(tmp_path / "notes"), tmp_path / "p"
    given = ("review", notes, "--project", folder, "--workspace", loop.site("fourth"), "--everything", "--export")
    assert hospital(*given, tmp_path / "0.jsonl").exit_code == 0
    write_notes(tmp_path / "labelled", NOTES)
    for path in (tmp_path / "labelled").glob("*.ann"):
        path.rename(notes / path.name)
    later = hospital(*given, tmp_path / "1.jsonl")
    assert later.exit_code == 0
    assert "6 notes that nobody has worked on have the labels that they came with now" in later.stderr
    labels = {note.identifier: [(one.start, one.end, one.category) for one in note.annotations] for note in NOTES}
    for exported in read_corpus(tmp_path / "1.jsonl"):
        assert [(one.start, one.end, one.category) for one in exported.annotations] == labels[exported.identifier]
    opened = Project(folder)
    opened.finish(0, 0, True)
    opened.close()
    for path in notes.glob("*.ann"):
        path.write_text("")
    refused(hospital(*given, tmp_path / "2.jsonl"), 38, f"(1, {NOTES[0].identifier} the first)", "new --project")


def own_labels(folder: Path, nothing: str = "") -> tuple[Path, Path, str]:
    """Notes with a label of the house that the release has no category for, their map, and the word that has it."""
    text = "Ward Brimblecombe: Tattersall came."
    spans = (Annotation(5, 17, "WARD"), Annotation(19, 29, "WHO"))
    notes = write_notes(folder / "own.jsonl", [Document("n-1", text, spans)], "jsonl")
    (folder / "own.toml").write_text(f'[map]\nWHO = "PATIENT"\nWARD = "{nothing}"\n')
    return notes, folder / "own.toml", "Brimblecombe"


def test_what_the_release_has_no_category_for_is_no_less_labelled(loop: Loop, tmp_path: Path) -> None:
    notes, mapping, _ = own_labels(tmp_path)
    given = ("--labels", mapping, "--project", tmp_path / "p", "--workspace", loop.site("north"))
    assert hospital("review", notes, *given, "--export", tmp_path / "out.jsonl", "--everything").exit_code == 0
    (exported,) = read_corpus(tmp_path / "out.jsonl")
    assert [span.category for span in exported.annotations] == ["OTHER", "PATIENT"]


def test_a_map_that_was_corrected_is_heeded(loop: Loop, tmp_path: Path) -> None:
    notes, mapping, _ = own_labels(tmp_path)
    for number, (category, given) in enumerate(
        [("OTHER", ("--labels", mapping)), ("ROOM", ("--labels", mapping)), ("ROOM", ())]
    ):
        mapping.write_text(f'[map]\nWHO = "PATIENT"\nWARD = "{category.replace("OTHER", "")}"\n')
        out = tmp_path / f"{number}.jsonl"
        at = ("--project", tmp_path / "p", "--workspace", loop.site("north"))
        assert hospital("review", notes, *given, *at, "--export", out, "--everything").exit_code == 0
        (exported,) = read_corpus(out)
        assert [span.category for span in exported.annotations] == [category, "PATIENT"]


def test_what_was_set_aside_is_taken_in_once_its_encoding_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shared.labels.load_scheme_file", lambda folder: SCHEME)
    workspace: Any = SimpleNamespace(root=tmp_path, release=lambda: SimpleNamespace(folder=tmp_path))
    notes, aside = tmp_path / "notes", tmp_path / "aside"
    notes.mkdir()
    (notes / "a.txt").write_bytes("Señora Núñez".encode("latin-1"))
    (notes / "b.txt").write_text("Mr Smith")

    def begun(**options: Any) -> list[str]:
        opened = _begin(workspace, notes, None, NotesOptions(quarantine=aside, **options), as_json=True)
        try:
            return sorted(opened.identifiers)
        finally:
            opened.close()
            said.append(capsys.readouterr().err)

    said: list[str] = []
    assert begun() == ["b"]
    assert begun(encoding="windows-1252") == ["a", "b"]
    assert "no UTF-8" in said[-1]
    # They are known now, however the review is opened; nothing is read again.
    assert begun(encoding="windows-1252") == begun() == ["a", "b"]
    assert said[-2:] == ["", ""]


@pytest.mark.parametrize("option", [{"format": "txt"}, {"text_column": "a note"}])
def test_notes_that_are_read_otherwise_are_read_anew(option: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Mr Smith")
    plain, other = _source(tmp_path, NotesOptions()), _source(tmp_path, NotesOptions(**option))  # type: ignore[arg-type]
    assert set(plain.split()) < set(other.split())


def test_a_note_that_nobody_labelled_is_reviewed_beside_labels_of_the_house(loop: Loop, tmp_path: Path) -> None:
    _, mapping, _ = own_labels(tmp_path)
    given = ("--labels", mapping, "--project", tmp_path / "p", "--workspace", loop.site("north"))
    begun = hospital(
        "review", plain(tmp_path / "notes"), *given, "--export", tmp_path / "out.jsonl", "--everything", "--json"
    )
    assert begun.exit_code == 0
    assert json.loads(begun.stdout)["notes"] == 6


def test_a_release_with_other_categories_pre_labels_nothing_and_says_so(loop: Loop, tmp_path: Path) -> None:
    project(tmp_path / "p").close()
    arguments = [*REVIEW, "--project", str(tmp_path / "p"), "--workspace", str(loop.site("fourth"))]
    with served(arguments) as (_, address):
        reviewer = enter(address)
        reviewer.note(0)
        for _ in range(600):
            about = reviewer.client.get("/api/project").json()
            if about["problem"]:
                break
            time.sleep(0.05)
        reviewer.client.close()
    assert "other categories" in about["problem"]


def test_other_programs_are_served_on_this_machine(loop: Loop) -> None:
    workspace = loop.site("fourth")
    arguments = [
        sys.executable,
        "-m",
        "site_client",
        "serve-local",
        "--port",
        "0",
        "--workspace",
        str(workspace),
        "--json",
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        token = Path(said["token_file"]).read_text().strip()
        assert stat.S_IMODE(Path(said["token_file"]).stat().st_mode) == 0o600
        notes = [{"id": note.identifier, "text": note.text} for note in NOTES]
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=said["address"], headers=headers, timeout=60) as client:
            answer = client.post("/v1/batch", json={"notes": notes}).json()
            assert client.get("/v1/health", headers={"authorization": "Bearer x"}).status_code == 401
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert token not in rest
    assert rest == ""
    assert answer["failed"] == 0
    for note, one in zip(NOTES, answer["notes"], strict=True):
        assert one["id"] == note.identifier
        assert one["spans"]
        assert not [note.covered_text(span) for span in note.annotations if note.covered_text(span) in one["text"]]
