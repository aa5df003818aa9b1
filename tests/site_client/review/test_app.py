"""What the page may ask, and what somebody may who is not the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from site_client.local_http.gates import KEY_HEADER, BrowserGate
from site_client.review.app import ReviewApp
from site_client.review.project import Project
from site_client.review.spans import Span
from site_client.review.state import Edit
from tests.site_client.local_http.asgi import PORT, Local
from tests.site_client.review.projects import TEXT, doubt, found, notes, person, project

FOUND = [0, 4, "A", "found", 0.9, False]
PERSON = [9, 14, "B", "person", None, True]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Project]:
    made = project(tmp_path / "p", notes(5))
    made.find(1, [found(0, 4, 0.9), doubt(9, 14, 0.3)])
    made.find(2, [found(0, 4, 0.6)])
    made.find(3, [found(0, 4, None)])
    yield made
    made.close()


announced: list[str] = []


@pytest.fixture
def stranger(opened: Project) -> Local:
    announced.clear()
    gate = BrowserGate(announced.append, "review")
    gate.offer()
    return Local(ReviewApp(opened, None, gate).guarded(PORT))


@pytest.fixture
def page(stranger: Local) -> Local:
    stranger.headers[KEY_HEADER] = stranger.post("/api/session", json={"token": announced[-1]}).json()["key"]
    return stranger


def test_who_has_no_session_sees_an_empty_page_and_nothing_else(stranger: Local) -> None:
    for path in ("/", "/page.js", "/note.js", "/review.css"):
        answer = stranger.get(path)
        assert answer.status_code == 200
        assert "n1" not in answer.text.split()
        assert "Anna" not in answer.text
    for path in ("/api/project", "/api/notes", "/api/notes/1", "/api/next"):
        assert stranger.get(path).status_code == 401
    for path in ("/api/notes/1/edit", "/api/notes/1/undo", "/api/next"):
        assert stranger.post(path, json={"version": 0}).status_code == 401
    assert stranger.post("/api/session", json={"token": "guess"}).status_code == 401
    # The one that is out stays the one; no terminal is made to overflow.
    assert len(announced) == 1


def test_the_session_stands_in_a_cookie_that_scripts_and_other_sites_do_not_get(stranger: Local) -> None:
    answer = stranger.post("/api/session", json={"token": announced[0]})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/api/project").status_code == 401
    stranger.headers[KEY_HEADER] = answer.json()["key"]
    assert stranger.get("/api/project").status_code == 200
    stranger.cookies.clear()
    assert stranger.get("/api/project").status_code == 401


def test_notes_come_least_certain_first_and_in_parts(page: Local, opened: Project) -> None:
    def numbers(**asked: object) -> list[int]:
        return [row["number"] for row in page.get("/api/notes", params=asked).json()["notes"]]

    # Unknown, .6, .7 of a doubt; then what nobody has looked for.
    assert numbers() == [3, 2, 1, 0, 4]
    assert numbers(order="as they came") == [0, 1, 2, 3, 4]
    assert numbers(**{"from": 1, "count": 2}) == [2, 1]
    opened.finish(3, 1, True)
    assert numbers() == [2, 1, 0, 4, 3]
    assert numbers(show="open") == [2, 1, 0, 4]
    assert numbers(show="finished") == [3]
    assert page.post("/api/next", json={"after": 2}).json() == {"number": 1}
    assert page.post("/api/next", json={"after": -1}).json() == {"number": 2}
    for number in (0, 1, 4):
        opened.finish(number, opened.state(number).version, True)
    assert page.post("/api/next", json={"after": 2}).json() == {"number": None}


@pytest.mark.parametrize("asked", ["from=-1", "from=x", "count=0", "count=100000", "order=none", "show=none"])
def test_a_list_that_can_not_be_is_refused(page: Local, asked: str) -> None:
    assert page.get(f"/api/notes?{asked}").status_code == 400


def test_a_note_comes_with_its_text_and_changes_step_by_step(page: Local, opened: Project) -> None:
    note = page.get("/api/notes/1").json()
    assert (note["text"], note["spans"], note["version"]) == (TEXT, [FOUND, [9, 14, "B", "doubt", 0.3, False]], 1)
    accepted = [*FOUND[:5], True]
    answer = page.post("/api/notes/1/edit", json={"version": 1, "out": [FOUND], "in": [accepted]}).json()
    assert answer == {"out": [FOUND], "in": [accepted], "version": 2, "finished": False, "undo": True, "redo": False}
    assert opened.state(1).spans[0].accepted
    answer = page.post("/api/notes/1/undo", json={"version": 2}).json()
    assert (answer["out"], answer["in"], answer["redo"]) == ([accepted], [FOUND], True)
    assert page.post("/api/notes/1/redo", json={"version": 3}).json()["in"] == [accepted]
    assert page.post("/api/notes/1/finish", json={"version": 4}).json()["finished"] is True
    assert page.post("/api/notes/1/reopen", json={"version": 5}).json()["finished"] is False
    assert page.get("/api/project").json()["finished"] == 0


def test_a_note_is_shown_with_the_version_that_its_spans_have(
    page: Local, opened: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipeline finds spans while the answer is written: who finishes what was shown has not seen them."""
    written = Span.to_json

    def found_meanwhile(span: Span) -> list[object]:
        monkeypatch.setattr(Span, "to_json", written)
        opened.find(0, [found(9, 14, 0.9)])
        return written(span)

    monkeypatch.setattr(Span, "to_json", found_meanwhile)
    note = page.get("/api/notes/0").json()
    assert opened.state(0).version == 1
    assert (len(note["spans"]), note["version"], note["found"]) == (1, 0, False)
    assert page.post("/api/notes/0/finish", json={"version": note["version"]}).status_code == 409


def test_a_change_is_answered_as_it_was_made(opened: Project) -> None:
    change = opened.finish(1, 1, True)
    opened.edit(1, 2, Edit((), (person(19, 24),)))
    assert (change.state.version, change.state.finished, change.state.can_undo) == (2, True, False)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/notes/1/edit", {"version": 0, "out": [], "in": [PERSON]}, 409),
        ("/api/notes/1/edit", {"version": 1, "out": [], "in": [PERSON]}, 400),  # It lies over a doubt.
        ("/api/notes/1/edit", {"version": 1, "out": [], "in": []}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": [PERSON], "in": []}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": [], "in": [[19, 24, "C", "person", None, True]]}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": [], "in": [[19, 2400, "A", "person", None, True]]}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": [], "in": [[19, 24, "A", "found", 0.9, True]]}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": {}, "in": [[19, 24, "A", "person", None, True]]}, 400),
        ("/api/notes/1/edit", {"version": 1, "out": [[["a"]]], "in": [[19, 24, ["A"], "person", None, True]]}, 400),
        ("/api/notes/1/edit", {"out": [], "in": [[19, 24, "A", "person", None, True]]}, 400),
        ("/api/notes/1/edit", {"version": "1", "out": [], "in": [[19, 24, "A", "person", None, True]]}, 400),
        ("/api/notes/1/undo", {"version": 1}, 400),
        ("/api/notes/1/undo", {"version": True}, 400),
        ("/api/notes/1/undo", {"version": 1, "all": True}, 400),
        ("/api/notes/1/fly", {"version": 1}, 404),
        ("/api/notes/9/undo", {"version": 1}, 404),
        ("/api/next", {"after": 99}, 400),
        ("/api/next", {}, 400),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(
    page: Local, opened: Project, path: str, body: dict[str, object], status: int
) -> None:
    answer = page.post(path, json=body)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(("expected", "version:", "after:", "the note has changed"))
    assert opened.state(1).version == 1


def test_no_error_quotes_the_text(page: Local) -> None:
    answer = page.post(
        "/api/notes/1/edit", json={"version": 1, "out": [], "in": [[0, 4, "Anna", "person", None, True]]}
    )
    assert answer.status_code == 400
    assert "Anna" not in answer.text


def test_two_windows_can_not_overwrite_each_other(page: Local, opened: Project) -> None:
    opened.edit(1, 1, Edit((), (person(19, 24),)))
    answer = page.post("/api/notes/1/edit", json={"version": 1, "out": [FOUND], "in": []})
    assert answer.status_code == 409
    assert len(opened.state(1).spans) == 3


def test_what_the_pipeline_finds_meanwhile_is_shown_before_a_note_is_finished(page: Local, opened: Project) -> None:
    seen = page.get("/api/notes/0").json()
    assert ([span[3] for span in seen["spans"]], seen["version"]) == (["label"], 0)
    opened.find(0, [found(9, 14, 0.9)])
    for what, body in (("edit", {"out": [], "in": [[19, 24, "A", "person", None, True]]}), ("finish", {})):
        answer = page.post(f"/api/notes/0/{what}", json={"version": seen["version"], **body})
        assert answer.status_code == 409
        assert "by the pipeline" in answer.json()["error"]
    assert not opened.state(0).finished
    # Where it finds nothing, what was shown is what there is.
    opened.find(4, [])
    assert page.post("/api/notes/4/finish", json={"version": 0}).status_code == 200
