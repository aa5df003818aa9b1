"""Reads the forms of our own pages: short, in UTF-8, every name once."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from aggregator.errors import RequestError

_TYPE = "application/x-www-form-urlencoded"
MOST_BYTES = 64 << 10
_MOST_FIELDS = 20
_BODY_S = 20


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form.

    Args:
        request: it.

    Raises:
        RequestError: another type, too long, too slow, or no form.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise RequestError(f"expected a body of type {_TYPE}, got another", status=415)
    body = await _body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            max_num_fields=_MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        raise RequestError("expected a form in UTF-8, got something else") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise RequestError("expected every field of a form once, got one twice")
    return form


async def _body(request: Request) -> bytes:
    too_long = RequestError(f"expected a form of at most {MOST_BYTES} bytes, got a longer one", status=413)
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for piece in request.stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise too_long
    except TimeoutError:
        raise RequestError(f"expected the whole form within {_BODY_S} s, got a part", status=408) from None
    except ClientDisconnect:
        raise RequestError("expected a whole form, got a part") from None
    return bytes(body)
