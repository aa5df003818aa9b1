"""What must hold where Flower is in a process: it calls nobody, loopback is reached directly, and it does not outlive whom it works for."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import threading
import time
from collections.abc import MutableMapping
from importlib.util import find_spec

from shared.errors import ConfigurationError

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""No telemetry, no look for updates."""
_LOOK_S = 0.5
_SET_DEATH_SIGNAL = 1
_LOOPBACK = ("127.0.0.1", "localhost")


def prepare_flower(environment: MutableMapping[str, str] = os.environ) -> None:
    """Find Flower, which is an extra, and quieten it.

    Args:
        environment: of this process, changed: a proxy of the house must not be asked for loopback.

    Raises:
        ConfigurationError: Flower is not installed.
    """
    if find_spec("flwr") is None:
        raise ConfigurationError(
            "expected Flower, which carries a training over a connection, found none; in the checkout run `pip install '.[federated]'`"
        )
    environment.update(QUIET)
    for name in ("no_proxy", "NO_PROXY"):
        named = [host for host in environment.get(name, "").split(",") if host]
        environment[name] = ",".join(dict.fromkeys([*named, *_LOOPBACK]))


def end_with_parent() -> None:
    """In a child, as it begins: the system ends it when the thread that started it is gone, and asks nobody."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def end_when_alone(sock: socket.socket, grace_s: float = 10.0) -> None:
    """End this process once whoever started it has gone, or the other side of a socket.

    Flower starts apps in sessions of their own and has them ask a link that is gone for ever, so ending what started them does not end them.

    Args:
        sock: connected.
        grace_s: that this process has to end by itself.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent and not _is_closed(sock):
            time.sleep(_LOOK_S)
        time.sleep(grace_s)
        # Threads of Flower's would hold up an ordinary exit.
        os._exit(1)

    threading.Thread(target=watch, name="end when alone", daemon=True).start()


def _is_closed(sock: socket.socket) -> bool:
    try:
        readable, _, _ = select.select([sock], [], [], 0)
        return bool(readable) and not sock.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):
        return True
