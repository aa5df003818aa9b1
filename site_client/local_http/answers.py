"""Requests and answers in JSON, each within its bounds."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from site_client.errors import LocalRequestError

_JSON = "application/json"
_BODY_S = 60


@dataclass(frozen=True)
class Problem:
    """Why something was not done.

    Args:
        status: of HTTP.
        message: one line, without text of a note.
    """

    status: int
    message: str

    def answer(self) -> Response:
        """It, as {"error": MESSAGE}."""
        headers = {"www-authenticate": "Bearer"} if self.status == 401 else {}
        return json_answer({"error": self.message}, self.status, headers)


def json_answer(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    # Half a surrogate pair, which no UTF-8 holds, stays an escape.
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(data.encode("utf-8", "backslashreplace"), status, headers, _JSON)


async def read_object(request: Request, most_bytes: int) -> dict[str, Any]:
    """The body of a request: a JSON object.

    Args:
        request: it.
        most_bytes: of the body; no more is read.

    Raises:
        LocalRequestError: it is too long, too slow, of another type, or no such object.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        # What a form of another page can send without asking first is none of this type.
        raise LocalRequestError(f"expected a body of type {_JSON}, got another", status=415)
    try:
        value = json.loads((await _body(request, most_bytes)).decode("utf-8"))
    except (ValueError, RecursionError):
        raise LocalRequestError("expected a JSON object in UTF-8, got something else") from None
    if not isinstance(value, dict):
        raise LocalRequestError("expected a JSON object, got another value")
    return value


async def _body(request: Request, most_bytes: int) -> bytes:
    too_long = LocalRequestError(f"expected a body of at most {most_bytes} bytes, got a longer one", status=413)
    stated = request.headers.get("content-length", "0")
    if not stated.isascii() or not stated.isdecimal() or len(stated) > 18 or int(stated) > most_bytes:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for piece in request.stream():
                body += piece
                if len(body) > most_bytes:
                    raise too_long
    except TimeoutError:
        raise LocalRequestError(f"expected the whole body within {_BODY_S} s, got a part", status=408) from None
    except ClientDisconnect:
        raise LocalRequestError("expected a whole body, got a part", status=400) from None
    return bytes(body)


def text_of(value: object, name: str, most_characters: int) -> str:
    """A string within its bounds.

    Raises:
        LocalRequestError: another value, or a longer one.
    """
    if not isinstance(value, str):
        raise LocalRequestError(f"{name}: expected a string, got another value or none")
    if len(value) > most_characters:
        raise LocalRequestError(f"{name}: expected at most {most_characters} characters, got {len(value)}", status=413)
    return value


def integer_of(value: object, name: str, least: int, below: int) -> int:
    """A whole number within its bounds.

    Raises:
        LocalRequestError: another value, or one outside.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < below:
        raise LocalRequestError(f"{name}: expected a whole number from {least} to {below - 1}, got something else")
    return value


def only_keys(value: dict[str, Any], *known: str) -> None:
    """
    Raises:
        LocalRequestError: there is a key that nobody knows: what a caller asks for and does not get must not go unseen.
    """
    if set(value) - set(known):
        raise LocalRequestError(f"expected no keys but {', '.join(known)}, got others; remove them")
