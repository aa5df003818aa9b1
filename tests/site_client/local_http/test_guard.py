"""Requests that are not the owner's, as other pages, other people and other names send them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from shared.errors import ConfigurationError
from site_client.local_http.answers import json_answer, read_object
from site_client.local_http.gates import BearerGate
from site_client.local_http.guard import HEADERS, Guard
from tests.site_client.local_http.asgi import OWN, PORT, Local

SECRET = "Wilhelmina Quillfeather"
reached: list[str] = []


async def echo(request: Request) -> Response:
    reached.append(request.url.path)
    return json_answer(await read_object(request, 1000) if request.method == "POST" else {})


def fails(request: Request) -> Response:
    raise RuntimeError(SECRET)


def refuses(request: Request) -> Response:
    raise ConfigurationError("expected one thing, got another")


@pytest.fixture
def client() -> Local:
    reached.clear()
    routes = [
        Route("/", echo),
        Route("/echo", echo, methods=["GET", "POST"]),
        Route("/fails", fails),
        Route("/refuses", refuses),
    ]
    return Local(Guard(Router(routes), PORT, BearerGate("t"), frozenset({"/"})), {"authorization": "Bearer t"})


@pytest.mark.parametrize("host", ["127.0.0.1:4000", "localhost:4000"])
def test_the_owner_is_answered(client: Local, host: str) -> None:
    assert client.get("/echo", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "rebound.example:4000",
        "127.0.0.1",
        "127.0.0.1:4001",
        "localhost",
        "127.0.0.1:4000.rebound.example",
        "rebound.example@127.0.0.1:4000",
        "[::1]:4000",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/echo"])
def test_a_strangers_name_that_points_here_is_refused(client: Local, host: str, path: str) -> None:
    assert client.get(path, headers={"host": host}).status_code == 421
    assert not reached


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:4001"},
        {"origin": "https://127.0.0.1:4000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_what_another_page_sends_is_refused_even_with_the_secret(client: Local, headers: dict[str, str]) -> None:
    assert client.post("/echo", json={}, headers=headers).status_code == 403
    assert client.get("/echo", headers=headers).status_code == 403
    assert not reached


def test_a_link_leads_to_the_empty_page_and_nowhere_else(client: Local) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200
    assert client.get("/echo", headers=followed).status_code == 403


def test_the_page_itself_is_answered(client: Local) -> None:
    own = {"origin": OWN, "sec-fetch-site": "same-origin"}
    assert client.post("/echo", json={"a": 1}, headers=own).json() == {"a": 1}


def test_without_the_secret_nothing_but_what_is_public(client: Local) -> None:
    for header in ("", "Bearer u"):
        assert client.get("/echo", headers={"authorization": header}).status_code == 401
        assert client.get("/fails", headers={"authorization": header}).status_code == 401
        assert client.get("/nothing", headers={"authorization": header}).status_code == 401
        assert client.get("/", headers={"authorization": header}).status_code == 200
    assert reached == ["/", "/"]


@pytest.mark.parametrize("path", ["/", "/echo", "/fails", "/refuses", "/nothing"])
def test_every_answer_has_the_headers_that_bind_a_browser(client: Local, path: str) -> None:
    answer = client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "access-control-allow-origin" not in answer.headers


def test_errors_hold_no_text_that_nobody_foresaw(
    client: Local, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = client.get("/fails")
    assert answer.status_code == 500
    assert answer.json() == {"error": "a fault in the program (RuntimeError)"}
    assert client.get("/refuses").json() == {"error": "expected one thing, got another"}
    seen = caplog.text + "".join(capfd.readouterr())
    assert SECRET not in seen


@pytest.mark.parametrize(
    ("body", "content", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"a=1", "application/x-www-form-urlencoded", 415),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"\xff{}", "application/json", 400),
        (b"[" * 900, "application/json", 400),
        (b'{"a":"' + b"x" * 1000 + b'"}', "application/json", 413),
    ],
)
def test_bodies_are_held_to_their_form_and_length(client: Local, body: bytes, content: str, status: int) -> None:
    assert client.post("/echo", content=body, headers={"content-type": content}).status_code == status


def test_a_body_that_lies_about_its_length_is_cut(client: Local) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b'{"a":"', *[b"x" * 100] * 20, b'"}'):
            yield piece

    headers = {"content-type": "application/json"}
    assert client.post("/echo", content=pieces(), headers=headers).status_code == 413
    for length in ("-1", "1e3", "9" * 30):
        assert client.post("/echo", content=b"{}", headers={**headers, "content-length": length}).status_code == 413
