"""What stands ahead of the dashboard: nothing behind it sees a request by another name, of another page, or past the proxy.

It gives every answer the headers that keep a browser from loading, running or framing anything that is not ours. It writes down no
address, no body and no text of an error that nobody foresaw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aggregator.errors import RequestError
from aggregator.server.connections.addresses import Proxies

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    # Without any referrer a browser would state the origin of our own forms as "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
}
OWN_SITES = frozenset({"same-origin", "none"})
"""What a browser states in `sec-fetch-site` of our own pages, and of what a person types."""
Failed = Callable[[Exception, Scope], ASGIApp]
"""Makes the answer to a request that was refused or went wrong."""


class Guard:
    """The outermost application.

    Args:
        app: what answers.
        origin: of the dashboard, such as https://dash.example.org.
        proxies: names of those that may speak to it; nobody else may, where there are any.
        alone: whether no proxy is named.
        failed: answers what is refused.
    """

    def __init__(self, app: ASGIApp, origin: str, proxies: Proxies, *, alone: bool, failed: Failed) -> None:
        self._app, self._origin, self._proxies, self._alone, self._failed = app, origin, proxies, alone, failed
        self._host = urlsplit(origin).netloc
        secure = {"strict-transport-security": "max-age=31536000"} if origin.startswith("https:") else {}
        self._headers = {**HEADERS, **secure}

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
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, sent)
        except Exception as error:
            if begun:
                # Half an answer is none: the server closes the connection, and the browser sees that it is not whole.
                return
            await self._failed(error, scope)(scope, receive, sent)

    def _check(self, scope: Scope) -> None:
        """Raises RequestError for what is not one of our pages' own."""
        headers, method = Headers(scope=scope), scope["method"]
        if not self._alone and not self._comes_through_proxy(scope):
            raise RequestError(
                "expected a request through the proxy that the provider names, got one past it", status=403
            )
        if [host.lower() for host in headers.getlist("host")] != [self._host]:
            raise RequestError("expected the address of the dashboard, got another name", status=421)
        if method not in ("GET", "HEAD", "POST"):
            raise RequestError("expected GET or POST, got another method", status=405)
        site, navigates = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode") == "navigate"
        if method == "POST":
            # Every browser states it with a form; what states none is no form of ours.
            if headers.getlist("origin") != [self._origin] or (site is not None and site not in OWN_SITES):
                raise RequestError("expected a form of the dashboard itself, got one of another page", status=403)
        elif site is not None and site not in OWN_SITES and not navigates:
            raise RequestError("expected a request of the dashboard itself, got one of another page", status=403)

    def _comes_through_proxy(self, scope: Scope) -> bool:
        try:
            return bool(scope["client"]) and scope["client"][0] in self._proxies
        except ValueError:
            return False
