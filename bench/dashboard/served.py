"""A workspace's dashboard in this process: asked without a network, or served to a browser; with somebody who has signed in."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.types import ASGIApp

from aggregator.dashboard.access.accounts import add_account
from aggregator.dashboard.access.sessions import Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.app import Dashboard
from aggregator.dashboard.jobs.running import Jobs
from aggregator.dashboard.options import DashboardOptions
from aggregator.dashboard.serving import at, configure
from aggregator.registry.states import AccountRole
from aggregator.workspace import Workspace

NAME, PASSWORD = "approver", "correct horse battery staple"


def make_app(workspace: Workspace, origin: str, options: DashboardOptions) -> ASGIApp:
    """The application."""
    return Dashboard(workspace, Jobs(workspace.root), options, origin, Sessions(), SignIn(workspace)).guarded()


def add_approver(workspace: Workspace) -> None:
    """Somebody who sees every form."""
    add_account(workspace, NAME, AccountRole.APPROVER, PASSWORD.encode())


def cpu_seconds(workspace: Workspace, paths: list[str], turns: int) -> dict[str, list[float]]:
    """What each page costs, several times: CPU seconds of this process, client and all.

    Raises:
        RuntimeError: a page that is not answered well.
    """
    options = DashboardOptions("127.0.0.1", 8444)
    app, origin = make_app(workspace, options.origin(8444), options), options.origin(8444)

    async def ask() -> dict[str, list[float]]:
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
            who = {"name": NAME, "password": PASSWORD}
            room = (await client.post("/sign-in", data=who, headers={"origin": origin})).headers["location"].rstrip("/")
            found: dict[str, list[float]] = {}
            for _ in range(turns):
                for path in paths:
                    began = time.process_time()
                    answer = await client.get(room + path)
                    found.setdefault(path, []).append(time.process_time() - began)
                    if answer.status_code != 200 or "Sign out" not in answer.text:
                        raise RuntimeError(f"{path}: expected a page, got {answer.status_code}")
            return found

    return asyncio.run(ask())


@contextmanager
def serving(workspace: Workspace) -> Iterator[str]:
    """The dashboard at a port of this machine while the block runs; gives its address."""
    options = DashboardOptions("127.0.0.1", 0)
    with at(options) as listener:
        origin = options.origin(listener.getsockname()[1])
        server = uvicorn.Server(configure(make_app(workspace, origin, options), listener, None))
        thread = threading.Thread(target=lambda: server.run([listener]), daemon=True)
        thread.start()
        try:
            yield origin
        finally:
            server.should_exit = True
            thread.join(30)
