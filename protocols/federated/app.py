"""The app that Flower carries between provider and sites: a few lines that call what is installed, and nothing else.

Both sides make it from this very text. So a site lets pass exactly the app that its own version of this program makes, by the digest
of its bytes, and no other: there is no list of approved apps that anybody could add to.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

VERSION = "1.0.0"
SOCKET = "DEID_COMMONS_FEDERATED_SOCKET"
"""Of the environment: where the provider's relay finds the process that it works for."""
NODE_SOCKET = "socket"
"""Of a node's config: the same at a site."""
TASK, ANSWER = "task", "answer"
"""Names of the records in a message, and its way back."""

_PROJECT = f"""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "deid-commons-federated"
version = "{VERSION}"
description = "Relays signed messages between installed programs"
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "deid-commons"

[tool.flwr.app.components]
serverapp = "deid_commons_federated.provider:app"
clientapp = "deid_commons_federated.site:app"

[tool.flwr.app.config]
"""
FILES: Mapping[str, bytes] = MappingProxyType(
    {
        "pyproject.toml": _PROJECT.encode(),
        "deid_commons_federated/__init__.py": b"",
        "deid_commons_federated/provider.py": b"from aggregator.federated.flower.relay import app as relay\n\napp = relay\n",
        "deid_commons_federated/site.py": b"from site_client.federated.flower.relay import app as relay\n\napp = relay\n",
    }
)
"""The files of the app, by their paths."""
