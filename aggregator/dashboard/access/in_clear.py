"""Sessions over plain HTTP: half of one is a cookie, the other half stands in the address of every page of it, `/s/KEY/shares`.

Threat: a browser sends the cookie of a host to every port of it, so also to the server of somebody else on the same machine; and over plain
HTTP nothing tells the two apart. The cookie is kept for addresses under `/s/KEY` alone, which no other server knows: browsers tell it to none
(`referrer-policy`). Whoever reads the address later, in a history or over a shoulder, lacks the cookie.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import MutableMapping
from typing import Any

from aggregator.dashboard.access.sessions import Session

_ROOM = re.compile(r"/s/[A-Za-z0-9_-]{43}(?=/)")


def find_room(scope: MutableMapping[str, Any]) -> None:
    """Notes what an address has ahead of the page as `root_path`, behind which routes are looked for; see ASGI."""
    found = _ROOM.match(scope["path"])
    scope["root_path"] = found[0] if found else ""


def room_of(session: Session) -> str:
    """What stands ahead of every page of a session."""
    return f"/s/{session.key}"


def is_in_room(session: Session, room: str) -> bool:
    """Whether what stands ahead of a page is that of the session."""
    return hmac.compare_digest(room.encode(), room_of(session).encode())
