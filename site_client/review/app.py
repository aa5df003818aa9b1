"""The review over HTTP: for the page of one person, on this machine. All paths but the page itself need the session that its secret opened.

    POST /api/session               {"token"}: {"key"} and a cookie
    GET  /api/project               categories, counts
    GET  /api/notes                 a part of the list: ?from=0&count=100&order=...&show=...
    GET  /api/notes/NUMBER          text, spans, version
    POST /api/notes/NUMBER/edit     {"version", "out", "in"}; answered once it is on the disk
    POST /api/notes/NUMBER/undo     {"version"}; also redo, finish, reopen
    POST /api/next                  {"after"}: {"number"}

Notes have their numbers in addresses, never their ids: those may be of patients.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import resources

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from site_client.errors import LocalRequestError
from site_client.local_http.answers import integer_of, json_answer, only_keys, read_object, text_of
from site_client.local_http.gates import BrowserGate
from site_client.local_http.guard import Guard
from site_client.review.finding import Finding
from site_client.review.listing import PAGE, Order, Show, counts, listed, next_open, row
from site_client.review.project import Change, Project
from site_client.review.spans import Source, Span, span_of
from site_client.review.state import Edit

_BODY_BYTES = 8 << 20
_TOKEN_CHARACTERS = 200
# From whoever connects, before anything is known of who that is.
_STRANGERS_BYTES = 4096
_TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_INDEX = "index.html"


class ReviewApp:
    """The answers.

    Args:
        project: that is reviewed.
        finding: pre-labels in the background; None where nothing does.
        gate: of the person.
    """

    def __init__(self, project: Project, finding: Finding | None, gate: BrowserGate) -> None:
        self._project, self._finding, self._gate = project, finding, gate
        self._categories = project.scheme.category_index.keys()

    def guarded(self, port: int) -> ASGIApp:
        """The application, behind its guard."""
        page = {f"/{name}" if name != _INDEX else "/": (name, data) for name, data in _page_files().items()}
        files = [Route(path, partial(self._file, *held), methods=["GET"]) for path, held in page.items()]
        routes = [
            *files,
            Route("/api/session", self._session, methods=["POST"]),
            Route("/api/project", self._about, methods=["GET"]),
            Route("/api/notes", self._list, methods=["GET"]),
            Route("/api/notes/{number:int}", self._note, methods=["GET"]),
            Route("/api/notes/{number:int}/{what}", self._change, methods=["POST"]),
            Route("/api/next", self._next, methods=["POST"]),
        ]
        return Guard(Router(routes), port, self._gate, frozenset({*page, "/api/session"}))

    async def _file(self, name: str, data: bytes, request: Request) -> Response:
        return Response(data, media_type=_TYPES[name.rpartition(".")[2]])

    async def _session(self, request: Request) -> Response:
        body = await read_object(request, _STRANGERS_BYTES)
        session = self._gate.open(text_of(body.get("token"), "token", _TOKEN_CHARACTERS))
        if session is None:
            # Who has lost the key, in another window, finds the next secret at the terminal.
            self._gate.offer()
            raise LocalRequestError("expected the secret that the terminal shows now, got another", status=401)
        answer = json_answer({"key": session.key})
        answer.set_cookie(self._gate.cookie, session.cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def _about(self, request: Request) -> Response:
        found = counts(self._project)
        finding = self._finding
        return json_answer(
            {
                "name": self._project.folder.name,
                "categories": list(self._categories),
                "notes": found.notes,
                "finished": found.finished,
                "found": found.found,
                "finding": finding is not None and finding.working,
                "problem": "" if finding is None else finding.problem,
            }
        )

    async def _list(self, request: Request) -> Response:
        asked = request.query_params
        try:
            order, show = Order(asked.get("order", Order.LEAST_CERTAIN)), Show(asked.get("show", Show.ALL))
            begin, count = int(asked.get("from", "0")), int(asked.get("count", str(PAGE)))
        except ValueError:
            raise LocalRequestError("expected from, count, order and show, got something else") from None
        begin, count = integer_of(begin, "from", 0, 1 << 31), integer_of(count, "count", 1, PAGE + 1)
        numbers = await run_in_threadpool(listed, self._project, order, show)
        rows = [row(self._project, number, self._project.state(number)) for number in numbers[begin : begin + count]]
        return json_answer({"total": len(numbers), "from": begin, "notes": rows})

    async def _note(self, request: Request) -> Response:
        number = self._number(request)
        waiting = self._finding is not None and self._finding.will_find(number)
        if self._finding is not None:
            self._finding.want(number)
            self._finding.shown()
        document, state = await run_in_threadpool(self._project.snapshot, number)
        return json_answer(
            {
                **row(self._project, number, state),
                "text": document.text,
                "spans": [span.to_json() for span in state.spans],
                "version": state.version,
                "undo": state.can_undo,
                "redo": state.can_redo,
                "waiting": waiting,
            }
        )

    async def _change(self, request: Request) -> Response:
        number, what = self._number(request), request.path_params["what"]
        body = await read_object(request, _BODY_BYTES)
        version = integer_of(body.get("version"), "version", 0, 1 << 53)
        only_keys(body, "version", *(("out", "in") if what == "edit" else ()))
        changes: dict[str, Callable[[], Change]] = {
            "undo": partial(self._project.undo, number, version),
            "redo": partial(self._project.redo, number, version),
            "finish": partial(self._project.finish, number, version, True),
            "reopen": partial(self._project.finish, number, version, False),
        }
        if what == "edit":
            edit = Edit(self._spans(body.get("out"), number), self._spans(body.get("in"), number))
            if any(span.source is not Source.PERSON and not _was(span, edit.out) for span in edit.into):
                raise LocalRequestError("expected spans of a person, got others")
            changes[what] = partial(self._project.edit, number, version, edit)
        if what not in changes:
            raise LocalRequestError("expected edit, undo, redo, finish or reopen, got something else", status=404)
        change = await run_in_threadpool(changes[what])
        return json_answer(_as_json(change))

    async def _next(self, request: Request) -> Response:
        body = await read_object(request, _BODY_BYTES)
        after = integer_of(body.get("after"), "after", -1, len(self._project))
        return json_answer({"number": await run_in_threadpool(next_open, self._project, after)})

    def _number(self, request: Request) -> int:
        number: int = request.path_params["number"]
        if number >= len(self._project):
            raise LocalRequestError("expected the number of a note, got another", status=404)
        return number

    def _spans(self, value: object, number: int) -> tuple[Span, ...]:
        if not isinstance(value, list):
            raise LocalRequestError("expected a list of spans, got another value or none")
        try:
            return tuple(span_of(one, self._categories, self._project.characters[number]) for one in value)
        except ValueError as error:
            raise LocalRequestError(str(error)) from None


def _was(span: Span, out: tuple[Span, ...]) -> bool:
    """Whether a span is one that goes, with a person's word on it, or a piece of it: only so it stays of its source."""
    return any((one.source, one.certainty) == (span.source, span.certainty) for one in out)


def _as_json(change: Change) -> dict[str, object]:
    state = change.state
    return {
        "out": [span.to_json() for span in change.edit.out],
        "in": [span.to_json() for span in change.edit.into],
        "version": state.version,
        "finished": state.finished,
        "undo": state.can_undo,
        "redo": state.can_redo,
    }


def _page_files() -> dict[str, bytes]:
    """The page and what it loads, by name."""
    folder = resources.files("site_client.review") / "page"
    return {item.name: item.read_bytes() for item in folder.iterdir() if item.name.rpartition(".")[2] in _TYPES}
