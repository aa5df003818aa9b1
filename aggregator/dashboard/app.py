"""The dashboard over HTTP. All but the sign-in needs a session; what changes anything needs a form of that session, and the role.

GET  /, /sites, /shares, ...   the pages of `pages.registry`
GET  /live                     how far the works are, for the page that shows them
GET  /files/NAME               style and script
GET  /sign-in, POST /sign-in, POST /sign-out
POST /ask                      a form of an action: the page that says what will happen
POST /confirm                  exactly what that page said happens, once

Over plain HTTP all pages of a session lie under an address of its own: see `access.in_clear`.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from aggregator.dashboard.access.accounts import Account, find_account
from aggregator.dashboard.access.in_clear import find_room, is_in_room, room_of
from aggregator.dashboard.access.sessions import Session, Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.actions.action import Action, Asked
from aggregator.dashboard.actions.registry import ACTIONS
from aggregator.dashboard.forms import read_form
from aggregator.dashboard.guard import OWN_SITES, Guard
from aggregator.dashboard.jobs.running import Jobs
from aggregator.dashboard.options import DashboardOptions
from aggregator.dashboard.pages.reading import Reading
from aggregator.dashboard.pages.registry import PAGES, Place
from aggregator.dashboard.pages.work import shown_job
from aggregator.dashboard.rendering import Pages
from aggregator.errors import RequestError
from aggregator.server.connections.addresses import Proxies
from aggregator.workspace import Workspace
from foundation.errors import DeidError, StorageError

_OWN_PATH = re.compile(r"/(?:[A-Za-z0-9._-][A-Za-z0-9._/-]*)?(?:\?[A-Za-z0-9._=&%+-]*)?")
_NOT_HERE = "expected a page of the dashboard, got another address"


@dataclass(frozen=True)
class Visitor:
    """Somebody who has signed in.

    Args:
        account: as it is now.
        session: of the browser.
        secret: of the session, where it has just begun and the browser must be told; "" else.
    """

    account: Account
    session: Session
    secret: str = ""


class Dashboard:
    """The answers.

    Args:
        workspace: of the provider.
        jobs: that long works become.
        options: how it is served.
        origin: by which browsers call it.
        sessions: of those who have signed in.
        sign_in: decides who somebody is.
    """

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        options: DashboardOptions,
        origin: str,
        sessions: Sessions,
        sign_in: SignIn,
    ) -> None:
        self._workspace, self._jobs, self._options, self._origin = workspace, jobs, options, origin
        self._sessions, self._sign_in = sessions, sign_in
        self._pages = Pages(workspace.name)
        self._proxies = Proxies(options.proxies)
        self._secure = origin.startswith("https:")
        # With this prefix no other program of the host, and no page in clear, can set one for ours.
        self._cookie = "__Host-dashboard" if self._secure else "dashboard"
        # A proxy that signs people in states the name at every request: there a cookie alone is worth nothing either.
        self._in_rooms = not self._secure and options.user_header is None

    def guarded(self) -> ASGIApp:
        """The application, behind its guard."""
        routes = [Route(place.path, self._made(partial(self._page, place)), methods=["GET"]) for place in PAGES]
        routes += [
            Route("/live", self._made(self._live), methods=["GET"]),
            Route("/files/{name}", self._file, methods=["GET"]),
            Route("/sign-in", self._made(self._show_sign_in), methods=["GET"]),
            Route("/sign-in", self._posted(self._enter), methods=["POST"]),
            Route("/sign-out", self._posted(self._leave), methods=["POST"]),
            Route("/ask", self._posted(self._ask), methods=["POST"]),
            Route("/confirm", self._posted(self._confirm), methods=["POST"]),
        ]
        router = Router(routes, redirect_slashes=False, default=self._nothing)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if self._in_rooms and scope["type"] == "http":
                find_room(scope)
            await router(scope, receive, send)

        return Guard(app, self._origin, self._proxies, alone=not self._options.proxies, failed=self._failed)

    def _made(self, make: Callable[[Request], Response]) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(make, request)

        return answer

    def _posted(self, make: Callable[[Request, Mapping[str, str]], Response]) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(make, request, await read_form(request))

        return answer

    def _page(self, place: Place, request: Request) -> Response:
        visitor = self._known(request) or self._arrived(request)
        if visitor is None:
            return self._to_sign_in(request)
        query = {name: value[:200] for name, value in request.query_params.items()}
        path = {name: str(value) for name, value in request.path_params.items()}
        at = datetime.datetime.now(datetime.UTC)
        page = place.make(Reading(self._workspace, self._jobs, visitor.account.role, query, path, at))
        here, base = _own_path(_path(request)), self._base(visitor.session)
        said = visitor.session.said.pop(_path(request), "")
        answer: Response = self._pages.page(
            page, visitor.account, path=here, csrf=visitor.session.csrf, said=said, base=base
        )
        return self._remembered(answer, visitor)

    def _live(self, request: Request) -> Response:
        if self._known(request, used=False) is None:
            raise RequestError("expected somebody who has signed in, got nobody", status=403)
        works = [vars(shown_job(job)) | {"running": True} for job in self._jobs.running()]
        return Response(json.dumps(works), media_type="application/json")

    async def _file(self, request: Request) -> Response:
        found = self._pages.files.get(request.path_params["name"])
        if found is None:
            raise RequestError(_NOT_HERE, status=404)
        return Response(found[0], media_type=found[1])

    def _show_sign_in(self, request: Request) -> Response:
        following = _own_path(request.query_params.get("next", "/"))
        if (visitor := self._known(request)) is not None:
            return RedirectResponse(self._base(visitor.session) + following, 303)
        # Sent on from here, somebody who has just signed out would be signed in again.
        return self._pages.sign_in(following) if self._options.user_header is None else self._pages.at_proxy(following)

    def _enter(self, request: Request, form: Mapping[str, str]) -> Response:
        if self._options.user_header is not None:
            raise RequestError(
                "expected a sign-in at the proxy, got a password; nobody signs in by one here", status=403
            )
        following = _own_path(form.get("next", "/"))
        try:
            account = self._sign_in.by_password(
                form.get("name", "").strip(),
                form.get("password", "").encode("utf-8", "surrogatepass"),
                self._address(request),
            )
        except RequestError as error:
            return self._pages.sign_in(following, str(error), error.status)
        if account is None:
            # Not which of the two: a stranger must not learn who has an account.
            return self._pages.sign_in(following, "No account has this name and this password.", 403)
        # Whatever the browser brought is over: somebody else may know it.
        self._sessions.end(self._brought(request))
        secret = self._sessions.begin(account)
        session = self._sessions.find(secret)
        assert session is not None
        answer = RedirectResponse(self._base(session) + following, 303)
        self._give(answer, session, secret)
        return answer

    def _leave(self, request: Request, form: Mapping[str, str]) -> Response:
        session = self._owner(request, form).session
        self._sessions.end(self._brought(request))
        answer = RedirectResponse("/sign-in", 303)
        answer.delete_cookie(
            self._cookie, path=self._base(session) or "/", secure=self._secure, httponly=True, samesite="strict"
        )
        return answer

    def _ask(self, request: Request, form: Mapping[str, str]) -> Response:
        visitor = self._owner(request, form)
        action = self._action(form.get("action", ""), visitor)
        values = {name: value for name, value in form.items() if name not in ("csrf", "action", "back")}
        foretold = action.foretell(self._asked(visitor, values))
        pending = self._sessions.show(visitor.session, action.name, values | dict(foretold.bound))
        back = _own_path(form.get("back", "/"))
        csrf, base = visitor.session.csrf, self._base(visitor.session)
        return self._pages.confirm(visitor.account, foretold=foretold, csrf=csrf, pending=pending, back=back, base=base)

    def _confirm(self, request: Request, form: Mapping[str, str]) -> Response:
        visitor = self._owner(request, form)
        pending = self._sessions.confirm(visitor.session, form.get("pending", ""))
        if pending is None:
            raise RequestError(
                "expected something that was shown within ten minutes and not confirmed yet, got another; ask for it again",
                status=409,
            )
        action = self._action(pending.action, visitor)
        happened = action.carry_out(self._asked(visitor, pending.values))
        # For the page that shows it, whatever other tabs load meanwhile.
        visitor.session.said[happened.href] = happened.text
        return RedirectResponse(self._base(visitor.session) + happened.href, 303)

    def _action(self, name: str, visitor: Visitor) -> Action:
        """An action that the visitor may take."""
        action = ACTIONS.get(name)
        if action is None:
            raise RequestError("expected an action of the dashboard, got another", status=404)
        if not visitor.account.role.may(action.role):
            raise RequestError(
                f"expected the role {action.role}, yours is {visitor.account.role}; ask somebody who has it", status=403
            )
        return action

    def _asked(self, visitor: Visitor, values: Mapping[str, str]) -> Asked:
        return Asked(self._workspace, self._jobs, visitor.account, values, self._options.offline)

    def _owner(self, request: Request, form: Mapping[str, str]) -> Visitor:
        """Who has sent a form of their own session; raises RequestError for anybody else."""
        visitor = self._known(request)
        if visitor is None or not visitor.session.owns_form(form.get("csrf", "")):
            raise RequestError(
                "expected a form of your own session, got another; it may have ended: load the page again", status=403
            )
        return visitor

    def _known(self, request: Request, *, used: bool = True) -> Visitor | None:
        """Whose session a browser brings; the account as it is now, so that one that was removed is nobody."""
        session = self._sessions.find(self._brought(request), used=used)
        vouched = self._vouched(request)
        if session is None or vouched not in (None, session.name):
            return None
        if self._in_rooms and not is_in_room(session, request.scope["root_path"]):
            return None
        found = find_account(self._workspace, session.name)
        if found is not None and found[0].stamp == session.stamp and found[0].through_proxy == (vouched is not None):
            return Visitor(found[0], session)
        self._sessions.end(self._brought(request))
        return None

    def _arrived(self, request: Request) -> Visitor | None:
        """Whom the proxy states, in a session that begins; None where people sign in here, or another page sends them.

        For a page that somebody opens, and nothing else: what a page asks by itself, a form of no session, and the frames of a
        foreign page, from which a browser keeps our cookie, would begin session after session, each with an event, and put
        everybody else out.
        """
        vouched = self._vouched(request)
        if vouched is None or not _opened_here(request):
            return None
        account = self._sign_in.by_proxy(vouched)
        if account is None:
            raise RequestError(
                "expected an account of the name that the proxy states, found none; ask the provider for one",
                status=403,
            )
        secret = self._sessions.begin(account)
        session = self._sessions.find(secret)
        assert session is not None
        return Visitor(account, session, secret)

    def _vouched(self, request: Request) -> str | None:
        """The name that the proxy states, None where none is to; the guard has seen to it that a proxy asks."""
        if self._options.user_header is None:
            return None
        names = request.headers.getlist(self._options.user_header)
        if len(names) != 1 or not names[0].strip():
            raise RequestError("expected a name that the proxy states, once, got none or several", status=403)
        return names[0].strip()

    def _brought(self, request: Request) -> str:
        """The secret that a browser brings; of two of one name nobody can tell which is ours."""
        pairs = [part.strip().partition("=") for line in request.headers.getlist("cookie") for part in line.split(";")]
        found = [value for name, _, value in pairs if name == self._cookie]
        return found[0] if len(found) == 1 else ""

    def _address(self, request: Request) -> str:
        try:
            peer = request.client.host if request.client else ""
            return self._proxies.client(peer, request.headers.getlist("x-forwarded-for"))
        except ValueError:
            return "nowhere"

    def _base(self, session: Session) -> str:
        """What stands ahead of every path of a session's pages; "" over HTTPS."""
        return room_of(session) if self._in_rooms else ""

    def _give(self, answer: Response, session: Session, secret: str) -> None:
        path = self._base(session) or "/"
        answer.set_cookie(self._cookie, secret, path=path, secure=self._secure, httponly=True, samesite="strict")

    def _remembered(self, answer: Response, visitor: Visitor) -> Response:
        if visitor.secret:
            self._give(answer, visitor.session, visitor.secret)
        return answer

    def _to_sign_in(self, request: Request) -> Response:
        here = _own_path(_path(request) + (f"?{request.url.query}" if request.url.query else ""))
        if self._options.user_header is not None:
            return self._pages.at_proxy(here)
        return RedirectResponse("/sign-in" if here == "/" else f"/sign-in?{urlencode({'next': here})}", 303)

    async def _nothing(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise RequestError(_NOT_HERE, status=404)

    def _failed(self, error: Exception, scope: Scope) -> ASGIApp:
        """What is told of an error: the text of one that nobody foresaw could hold anything."""
        base = scope.get("root_path", "") if self._in_rooms else ""
        if isinstance(error, RequestError):
            return self._pages.error(error.status, str(error), base)
        if isinstance(error, DeidError):
            return self._pages.error(503 if isinstance(error, StorageError) else 409, str(error), base)
        return self._pages.error(500, f"a fault in the program ({type(error).__name__})", base)


def _path(request: Request) -> str:
    """The path without what is a session's own."""
    return request.url.path.removeprefix(request.scope.get("root_path", ""))


def _opened_here(request: Request) -> bool:
    """Whether somebody opened a page by a link of ours or the address bar; a browser that states neither is believed."""
    site, into = request.headers.get("sec-fetch-site"), request.headers.get("sec-fetch-dest")
    return site in (None, *OWN_SITES) and into in (None, "document")


def _own_path(path: str) -> str:
    """The path, if it is one of ours and nothing that a browser could take for another place; else the first page."""
    return path if _OWN_PATH.fullmatch(path) and not path.startswith(("//", "/sign-")) else "/"
