"""Requests to an application without a socket between."""

from __future__ import annotations

import asyncio
from json import dumps
from typing import Any

import httpx
from starlette.types import ASGIApp

PORT = 4000
OWN = f"http://127.0.0.1:{PORT}"


class Local:
    """Asks an application.

    Args:
        app: behind its guard, which takes PORT for its own.
        headers: of every request; cookies that answers set are kept.
    """

    def __init__(self, app: ASGIApp, headers: dict[str, str] | None = None) -> None:
        self._transport = httpx.ASGITransport(app)
        self.headers = dict(headers or {})
        self.cookies = httpx.Cookies()

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self._transport, base_url=OWN, headers=self.headers, cookies=self.cookies
            ) as client:
                answer = await client.request(method, path, **given)
                self.cookies.update(answer.cookies)
                return answer

        return asyncio.run(ask())

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.request("GET", path, **given)

    def post(
        self, path: str, json: object = None, headers: dict[str, str] | None = None, **given: Any
    ) -> httpx.Response:
        if json is not None:
            # Half a surrogate pair goes as an escape, as other programs send it.
            given["content"] = dumps(json).encode()
            headers = {"content-type": "application/json", **(headers or {})}
        return self.request("POST", path, headers=headers, **given)
