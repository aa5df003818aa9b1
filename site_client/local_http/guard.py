"""What stands ahead of everything that listens on loopback: nothing behind it sees a request that is not the owner's.

It refuses a request by another name than the loopback's (a page of a stranger whose name was made to point here: DNS rebinding), one that
another page sent, and one that its gate does not admit. It gives every answer the headers that keep a browser from loading or running
anything that is not ours. It writes nothing down: neither addresses nor bodies, and of errors nothing but their type to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foundation.errors import DeidError
from site_client.errors import LocalRequestError
from site_client.local_http.answers import Problem
from site_client.local_http.gates import Gate

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
}
# What a browser says of where a request comes from: our own page, or an address that somebody typed.
_OWN_SITES = frozenset({"same-origin", "none"})


class Guard:
    """The outermost application.

    Args:
        app: what answers.
        port: that it listens at; None for a socket in a folder, whose requests are to `localhost`.
        gate: who may speak to it.
        public: paths that need no secret, because they hold none: the empty page, its scripts, the exchange of a token.
    """

    def __init__(self, app: ASGIApp, port: int | None, gate: Gate, public: frozenset[str] = frozenset()) -> None:
        self._app, self._gate, self._public = app, gate, public
        self._hosts = frozenset({"localhost"} if port is None else {f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; see ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, sent)
        except Exception as error:
            if begun:
                # Half an answer is none: the server closes the connection, and the caller sees that it is not whole.
                return
            await _problem(error).answer()(scope, receive, sent)

    def _check(self, scope: Scope) -> None:
        """Raises LocalRequestError for what is not the owner's."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            raise LocalRequestError("expected the address of this machine's loopback, got another name", status=421)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        navigates = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and scope["path"] == "/"
        if origin is not None and origin not in self._origins:
            raise LocalRequestError("expected a request of the page itself, got one of another page", status=403)
        # A link in another page may lead to ours: the page is empty without its key.
        if site is not None and site not in _OWN_SITES and not navigates:
            raise LocalRequestError("expected a request of the page itself, got one of another page", status=403)
        if scope["path"] not in self._public and not self._gate.admits(dict(headers.items())):
            raise LocalRequestError("expected a secret that admits, got none or another", status=401)


def _problem(error: Exception) -> Problem:
    """The error as the caller may see it: what nobody foresaw could hold anything, text of a note too."""
    if isinstance(error, LocalRequestError):
        return Problem(error.status, str(error))
    if isinstance(error, DeidError):
        return Problem(503, str(error))
    return Problem(500, f"a fault in the program ({type(error).__name__})")
