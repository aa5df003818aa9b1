"""What must hold before a command brings Flower into this process: it is here, it calls nobody, and loopback is reached directly."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from importlib.util import find_spec

from shared.errors import ConfigurationError

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""No telemetry, no look for updates."""
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
            "expected Flower, which carries a training over a connection, found none; run `pip install 'deid-commons[federated]'`"
        )
    environment.update(QUIET)
    for name in ("no_proxy", "NO_PROXY"):
        named = [host for host in environment.get(name, "").split(",") if host]
        environment[name] = ",".join(dict.fromkeys([*named, *_LOOPBACK]))
