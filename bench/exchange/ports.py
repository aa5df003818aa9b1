"""Where a server may listen that is started later."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

# Below those that systems hand out by themselves, to whoever connects or asks for any: one of them could be gone by then.
_PORTS = range(20_000, 30_000)


def unused_port() -> int:
    """A port that nobody has, on no address of this machine."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with suppress(OSError), socket.create_server(("", port)):
            return port
    raise OSError("expected a port that nobody has, found none")
