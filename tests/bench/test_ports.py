"""A port for a server that is started later is none that a system gives to whoever connects meanwhile."""

import socket
from pathlib import Path

import pytest

from bench.exchange import ports
from bench.exchange.ports import unused_port


def test_it_is_none_that_systems_hand_out_by_themselves() -> None:
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(given.read_text().split()[0]) if given.exists() else 32_768
    assert unused_port() < lowest


def test_one_that_a_server_has_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    first = unused_port()
    monkeypatch.setattr(ports, "_PORTS", range(first, first + 1))
    with socket.create_server(("127.0.0.1", first)), pytest.raises(OSError, match="found none"):
        unused_port()
    assert unused_port() == first
