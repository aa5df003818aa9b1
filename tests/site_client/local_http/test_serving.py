from __future__ import annotations

import re
import socket
import stat
from pathlib import Path

import pytest

from foundation.errors import StorageError
from site_client.local_http.serving import listening
from site_client.local_http.token_file import read_token


def test_nobody_outside_of_this_machine_can_connect() -> None:
    with listening(0) as listener:
        address, port = listener.getsockname()
        assert address == "127.0.0.1"
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port), timeout=5)
        socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_a_port_that_is_taken_is_said_so() -> None:
    with listening(0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StorageError, match="--port"), listening(port):
            pass


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.token"
    token = read_token(path)
    assert re.fullmatch("[0-9a-f]{64}", token)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == f"{token}\n"
    assert read_token(path) == token
    assert read_token(tmp_path / "b.token") != token


@pytest.mark.parametrize("content", ["", "f" * 63, "g" * 64, "f" * 64 + "\n\n", "f" * 200])
def test_a_damaged_token_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.token"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(StorageError, match="hexadecimal"):
        read_token(path)


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.token"
    read_token(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        read_token(path)
