"""Whether Flower is here, which is an extra."""

from __future__ import annotations

from importlib.util import find_spec

from shared.errors import ConfigurationError


def require_flower() -> None:
    """
    Raises:
        ConfigurationError: Flower is not installed.
    """
    if find_spec("flwr") is None:
        raise ConfigurationError(
            "expected Flower, which carries a training over a connection, found none; run `pip install 'deid-commons[federated]'`"
        )
