"""De-identification for other programs of the hospital, over HTTP on this machine's loopback.

    GET  /v1/health        {"status", "release", "categories", "modes"}
    POST /v1/annotate      {"text"}: {"spans"}, offsets in code points; no text
    POST /v1/deidentify    {"text", "mode"}: {"text", "spans", "mode"}
    POST /v1/batch         {"notes": [{"id", "text"}], "mode"}: {"notes": [{"id", "text", "spans"} or {"id", "error"}], "failed"}

Every request carries `Authorization: Bearer TOKEN`. No text goes back that the pipeline has not been through: what fails for one note is told in its
place, and its text is withheld; modes that hide nothing are not offered. Nothing is logged, nothing is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from foundation.errors import DeidError
from shared.errors import ConfigurationError, CorpusError
from site_client.api import Deidentified, Pipeline, Span, hiding_mode, hiding_modes
from site_client.deid.registry import DEFAULT
from site_client.errors import LocalRequestError
from site_client.local_http.answers import json_answer, only_keys, read_object, text_of
from site_client.local_http.gates import BearerGate
from site_client.local_http.guard import Guard

MAX_BODY_BYTES = 32 << 20
MAX_NOTES = 1000
MAX_CHARACTERS = 4 << 20
_ID_CHARACTERS = 200
# Who waits behind so many would give up before it is its turn.
_WAITING = 16

Answer = TypeVar("Answer")


class LocalService:
    """The answers.

    Args:
        pipeline: gives what finds and hides, asked for each request; one at a time, since all of them share the processor.
    """

    def __init__(self, pipeline: Callable[[], Pipeline]) -> None:
        self._pipeline = pipeline
        self._turn = asyncio.Lock()
        self._waiting = 0

    def guarded(self, port: int | None, token: str) -> ASGIApp:
        """The application, behind its guard; no port for a socket in a folder."""
        routes = [
            Route("/v1/health", self._health, methods=["GET"]),
            Route("/v1/annotate", self._annotate, methods=["POST"]),
            Route("/v1/deidentify", self._deidentify, methods=["POST"]),
            Route("/v1/batch", self._batch, methods=["POST"]),
        ]
        return Guard(Router(routes), port, BearerGate(token))

    async def _health(self, request: Request) -> Response:
        # Whoever asks whether it lives does not wait behind notes.
        pipeline = await run_in_threadpool(self._pipeline)
        said = {"status": "ready", "release": pipeline.release, "categories": pipeline.categories}
        return json_answer(said | {"modes": hiding_modes()})

    async def _annotate(self, request: Request) -> Response:
        body = await self._body(request, "text")
        text = text_of(body.get("text"), "text", MAX_CHARACTERS)
        spans = await self._in_turn(lambda: _or_refused(lambda: self._pipeline().annotate(text)))
        return json_answer({"spans": _as_json(spans)})

    async def _deidentify(self, request: Request) -> Response:
        body = await self._body(request, "text", "mode")
        text, mode = text_of(body.get("text"), "text", MAX_CHARACTERS), _mode(body)
        done = await self._in_turn(lambda: _or_refused(lambda: self._pipeline().deidentify(text, mode)))
        return json_answer({"text": done.text, "spans": _as_json(done.spans), "mode": done.mode})

    async def _batch(self, request: Request) -> Response:
        body = await self._body(request, "notes", "mode")
        notes, mode = _notes(body.get("notes")), _mode(body)
        done = await self._in_turn(lambda: _each(self._pipeline(), [text for _, text in notes], mode))
        answers = [{"id": identifier, **one} for (identifier, _), one in zip(notes, done, strict=True)]
        return json_answer({"notes": answers, "failed": sum("error" in one for one in done), "mode": mode})

    async def _body(self, request: Request, *known: str) -> dict[str, Any]:
        if self._waiting >= _WAITING:
            raise LocalRequestError(
                f"expected at most {_WAITING} requests at once, got more; repeat it later", status=503
            )
        body = await read_object(request, MAX_BODY_BYTES)
        only_keys(body, *known)
        return body

    async def _in_turn(self, work: Callable[[], Answer]) -> Answer:
        self._waiting += 1
        try:
            async with self._turn:
                return await run_in_threadpool(work)
        finally:
            self._waiting -= 1


def _mode(body: dict[str, Any]) -> str:
    name = text_of(body.get("mode", DEFAULT.name), "mode", _ID_CHARACTERS)
    try:
        return hiding_mode(name).name
    except ConfigurationError as error:
        raise LocalRequestError(str(error), status=422) from None


def _notes(value: object) -> list[tuple[str, str]]:
    if not isinstance(value, list) or len(value) > MAX_NOTES:
        raise LocalRequestError(f"notes: expected a list of at most {MAX_NOTES}, got something else")
    found = []
    for one in value:
        if not isinstance(one, dict):
            raise LocalRequestError('notes: expected objects such as {"id": "1", "text": "..."}, got something else')
        only_keys(one, "id", "text")
        found.append((text_of(one.get("id"), "id", _ID_CHARACTERS), text_of(one.get("text"), "text", MAX_CHARACTERS)))
    if len({identifier for identifier, _ in found}) != len(found):
        raise LocalRequestError("notes: expected each id once, got one twice; rename it")
    return found


def _each(pipeline: Pipeline, texts: list[str], mode: str) -> list[dict[str, object]]:
    """What goes back for each note: all at once where nothing is wrong, else one by one, so that one that fails spoils no other."""
    try:
        return [_told(one) for one in pipeline.deidentify_batch(texts, mode)]
    except Exception:  # Whatever it was, it comes again below, at its own note.
        return [_alone(pipeline, text, mode) for text in texts]


def _alone(pipeline: Pipeline, text: str, mode: str) -> dict[str, object]:
    try:
        return _told(pipeline.deidentify(text, mode))
    except CorpusError as error:
        return {"error": error.problem}
    except DeidError as error:
        return {"error": str(error)}
    except Exception as error:  # Its own text may hold text of the note.
        return {"error": f"a fault in the program ({type(error).__name__}); the text is withheld"}


def _told(one: Deidentified) -> dict[str, object]:
    return {"text": one.text, "spans": _as_json(one.spans)}


def _or_refused(work: Callable[[], Answer]) -> Answer:
    """What a text is refused for is the caller's business, without the text."""
    try:
        return work()
    except CorpusError as error:
        raise LocalRequestError(f"text: {error.problem}", status=422) from None


def _as_json(spans: list[Span] | tuple[Span, ...]) -> list[dict[str, object]]:
    return [asdict(span) for span in spans]
