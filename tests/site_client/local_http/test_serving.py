from __future__ import annotations

import re
import secrets
import socket
import stat
import threading
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from foundation.errors import StorageError
from site_client.local_http import serving
from site_client.local_http.gates import BearerGate
from site_client.local_http.guard import Guard
from site_client.local_http.serving import listening, listening_at, serve
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


def test_a_socket_in_a_folder_is_its_owner_s_alone_and_answers(tmp_path: Path) -> None:
    path, ready = tmp_path / "service", threading.Event()
    app = Guard(PlainTextResponse("here"), None, BearerGate("secret"))

    def run() -> None:
        with listening_at(path) as listener:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            serve(app, listener, ready.set)

    # A daemon: in a thread nothing tells it to end.
    threading.Thread(target=run, daemon=True).start()
    assert ready.wait(20)
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(path)), headers={"authorization": "Bearer secret"}
    ) as client:
        assert client.get("http://localhost/").text == "here"
        assert client.get("http://elsewhere/").status_code == 421
    with pytest.raises(StorageError, match="--socket"), listening_at(path):
        pass


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: local"])
def test_attack_who_connects_and_says_no_more_is_cut_off(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SILENCE_S", 0.2)
    ready = threading.Event()
    with listening(0) as listener:
        port = listener.getsockname()[1]
        app = Guard(PlainTextResponse("here"), port, BearerGate("secret"))
        threading.Thread(target=serve, args=(app, listener, ready.set), daemon=True).start()
        assert ready.wait(20)
        # As many as are let in at all.
        silent = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(64)]
        for one in silent:
            one.sendall(said)
        for one in silent:
            assert one.recv(1) == b""
            one.close()
        headers = {"authorization": "Bearer secret"}
        assert httpx.get(f"http://127.0.0.1:{port}/", headers=headers, trust_env=False).text == "here"


def test_a_socket_where_others_can_write_or_over_a_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    with pytest.raises(StorageError, match="others can write"), listening_at(folder / "service"):
        pass
    with pytest.raises(StorageError, match="--socket"), listening_at(tmp_path / "none" / "service"):
        pass
    with pytest.raises(StorageError, match="too long"), listening_at(tmp_path / ("a" * 120)):
        pass
    (tmp_path / "notes.txt").write_text("a note")
    with pytest.raises(StorageError, match="--socket"), listening_at(tmp_path / "notes.txt"):
        pass
    assert (tmp_path / "notes.txt").read_text() == "a note"


def test_the_socket_of_a_killed_program_is_replaced_and_goes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "service"
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.close()
    with listening_at(path):
        assert path.is_socket()
    assert not path.exists()


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


def test_two_that_start_at_once_have_one_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins, and ends, at any moment of the first's making."""
    path, true, others = tmp_path / "a.token", secrets.token_hex, []

    def meanwhile(count: int) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(secrets, "token_hex", true)
            others.append(read_token(path))
        return true(count)

    monkeypatch.setattr(secrets, "token_hex", meanwhile)
    token = read_token(path)
    assert others
    assert {*others, token} == {path.read_text().strip()}
    assert [one.name for one in tmp_path.iterdir()] == ["a.token"]


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.token"
    read_token(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        read_token(path)
