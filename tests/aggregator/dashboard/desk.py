"""A provider's dashboard with an account for each role, asked as a browser would ask it."""

from __future__ import annotations

import asyncio
import html
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from aggregator.dashboard.access import accounts, passwords
from aggregator.dashboard.access.sessions import Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.app import Dashboard
from aggregator.dashboard.jobs.running import Jobs
from aggregator.dashboard.options import DashboardOptions
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole, ShareState
from aggregator.registry.tables import ShareRow
from aggregator.workspace import Workspace
from bench.exchange.world import Sentences, World, build
from protocols.share.sealing import read_envelope
from tests.aggregator.copied import copied
from tests.aggregator.registry.rows import share

ORIGIN = "http://127.0.0.1:8444"
PASSWORD = "correct horse battery staple"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _make(root: Path) -> None:
    """The world of every desk."""
    world = build(root)
    workspace = world.workspace()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", passwords.Cost(1, 64))
        for role in AccountRole:
            accounts.add_account(workspace, str(role), role, PASSWORD.encode())
    manifest = read_envelope(world.share("north", 1, Sentences()))
    with workspace.registry().transaction() as session:
        session.add(
            share(
                1,
                state=ShareState.QUARANTINED,
                manifest_sha256="cd" * 32,
                manifest=manifest,
                reason_code="overlap",
                reason="came before",
            )
        )
        session.add(share(2, state=ShareState.ACCEPTED, manifest_sha256="ef" * 32, sentences=10, tokens=100))
    workspace.registry().close()


class Desk:
    """The dashboard of a world; `north` and `south` are enrolled, and share 1 of north waits for a person."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.world = World(copied("desk", _make, root))
        self.workspace: Workspace = self.world.workspace()
        self.clock = Clock()
        self.jobs = Jobs(self.workspace.root)
        self.options = DashboardOptions("127.0.0.1", 8444, **options)
        self.origin = self.options.origin(8444)
        sessions, sign_in = Sessions(self.clock), SignIn(self.workspace, self.clock)
        self.app: ASGIApp = Dashboard(self.workspace, self.jobs, self.options, self.origin, sessions, sign_in).guarded()

    def browser(self, address: str = "127.0.0.1") -> Browser:
        return Browser(self, address)

    def signed_in(self, role: str) -> Browser:
        browser = self.browser()
        answer = browser.post("/sign-in", name=role, password=PASSWORD)
        assert answer.status_code == 303, answer.text
        return browser

    def events(self) -> list[tuple[str, str]]:
        """Who did what."""
        with self.workspace.registry().reading() as session:
            return [(event.actor, event.action) for event in audit_log.events(session)]

    def state(self, number: int) -> ShareState:
        with self.workspace.registry().reading() as session:
            return session.get_one(ShareRow, number).state


_ROOM = re.compile(r"/s/[A-Za-z0-9_-]{43}")


class Browser:
    """One browser: keeps its cookies for their paths, states where its forms come from, and follows nothing by itself.

    Over plain HTTP the pages of a session lie under an address of its own: `room`, which tests neither write nor read, but here.
    """

    def __init__(self, desk: Desk, address: str) -> None:
        self._desk, self._address = desk, address
        self.cookies: dict[str, str] = {}
        self.room, self._kept_for = "", "/"

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._asked("GET", path, headers)

    def post(self, path: str, headers: dict[str, str] | None = None, /, **form: str) -> httpx.Response:
        return self._asked("POST", path, {"origin": self._desk.origin, **(headers or {})}, form)

    def csrf(self, path: str = "/") -> str:
        """What the forms of this session's pages hold."""
        return field(self.get(path).text, "csrf")

    def ask(self, action: str, **values: str) -> httpx.Response:
        return self.post("/ask", csrf=self.csrf(), action=action, **values)

    def confirm(self, asked: httpx.Response) -> httpx.Response:
        assert asked.status_code == 200, shown(asked)
        return self.post("/confirm", csrf=field(asked.text, "csrf"), pending=field(asked.text, "pending"))

    def _asked(
        self, method: str, path: str, headers: dict[str, str], form: dict[str, str] | None = None
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._desk.app, client=(self._address, 40_000))
            async with httpx.AsyncClient(transport=transport, base_url=self._desk.origin) as client:
                given, at = dict(headers), path if path.startswith("/sign-in") else self.room + path
                if self.cookies and "cookie" not in given and at.startswith(self._kept_for):
                    given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
                return await client.request(method, at, headers=given, data=form)

        answer = asyncio.run(ask())
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
            self._kept_for = line.partition("Path=")[2].partition(";")[0]
            self.room = found[0] if (found := _ROOM.search(line)) else ""
        if self.room:
            if "location" in answer.headers:
                answer.headers["location"] = answer.headers["location"].removeprefix(self.room)
            answer._content = answer.content.replace(self.room.encode(), b"")
        return answer


def field(text: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, shown_text(text)
    return html.unescape(found[1])


def shown(answer: httpx.Response) -> str:
    """What a person reads of an answer."""
    return shown_text(answer.text)


def shown_text(text: str) -> str:
    return html.unescape(" ".join(re.sub("<[^>]+>", " ", text).split()))
