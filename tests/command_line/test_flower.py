"""Where Flower is in a process, it calls nobody, loopback is reached directly, and it does not outlive whom it works for."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line.flower import QUIET, prepare_flower
from shared.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]


def test_without_flower_there_is_one_line_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: None)
    environment: dict[str, str] = {}
    with pytest.raises(ConfigurationError, match=r"pip install '\.\[federated\]'"):
        prepare_flower(environment)
    assert not environment


def test_no_telemetry_no_updates_and_no_proxy_before_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: object())
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "intranet.example")
    # Set, so that all of it is as it was behind this test.
    for name in ("NO_PROXY", *QUIET):
        monkeypatch.setenv(name, "")
    # The standard library is what says whether a host goes through a proxy.
    assert not urllib.request.proxy_bypass("127.0.0.1")
    prepare_flower()
    prepare_flower()
    assert all(urllib.request.proxy_bypass(host) for host in ("127.0.0.1", "localhost", "intranet.example"))
    assert not urllib.request.proxy_bypass("elsewhere.example")


def test_both_settings_are_what_flower_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: object())
    environment: dict[str, str] = {"FLWR_TELEMETRY_ENABLED": "1"}
    prepare_flower(environment)
    assert environment["FLWR_TELEMETRY_ENABLED"] == "0"
    assert environment["FLWR_DISABLE_UPDATE_CHECK"] == "1"
    assert environment["NO_PROXY"] == environment["no_proxy"] == "127.0.0.1,localhost"


CHILD = """
import socket, sys, time
from command_line.flower import end_when_alone
sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
sock.connect(sys.argv[1])
end_when_alone(sock, 0.1)
sock.sendall(b"here")
time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
time.sleep(60)
"""


@pytest.fixture
def listening() -> Iterator[tuple[str, socket.socket]]:
    # The path of a socket is short; that of a test is not.
    folder = tempfile.mkdtemp(prefix="deid-")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(folder + "/socket")
        sock.listen()
        sock.settimeout(30)
        yield folder + "/socket", sock
    shutil.rmtree(folder)


def test_a_process_ends_when_nobody_is_at_the_other_side_any_more(listening: tuple[str, socket.socket]) -> None:
    path, sock = listening
    child = subprocess.Popen([sys.executable, "-c", CHILD, path], cwd=ROOT)
    connected, _ = sock.accept()
    assert connected.recv(4) == b"here"
    assert child.poll() is None
    connected.close()
    assert child.wait(30) == 1


def test_a_process_ends_when_whoever_started_it_was_killed(listening: tuple[str, socket.socket]) -> None:
    path, sock = listening
    parent = subprocess.Popen([sys.executable, "-c", PARENT, path, CHILD], cwd=ROOT)
    connected, _ = sock.accept()
    connected.settimeout(30)
    with connected:
        assert connected.recv(4) == b"here"
        parent.kill()
        parent.wait()
        # The end of the child is the end of its connection.
        assert connected.recv(1) == b""
