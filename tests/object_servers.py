"""An S3-compatible server on this machine, for tests."""

from __future__ import annotations

import logging
import secrets
import urllib.request
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of a running server."""
    # Imported where it is needed: it takes seconds.
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_url(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The setting for an empty bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    bucket = f"test-{secrets.token_hex(6)}"
    with urllib.request.urlopen(urllib.request.Request(f"{s3_server}/{bucket}", method="PUT")):
        pass
    return f"s3://{bucket}/shares?endpoint={s3_server}&region=us-east-1"
