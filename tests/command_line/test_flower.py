"""Before Flower comes into a process, it calls nobody, and loopback is reached directly."""

from __future__ import annotations

import urllib.request

import pytest

from command_line.flower import prepare_flower
from shared.errors import ConfigurationError


def test_without_flower_there_is_one_line_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: None)
    environment: dict[str, str] = {}
    with pytest.raises(ConfigurationError, match=r"pip install 'deid-commons\[federated\]'"):
        prepare_flower(environment)
    assert not environment


def test_no_telemetry_no_updates_and_no_proxy_before_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: object())
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "intranet.example")
    monkeypatch.delenv("NO_PROXY", raising=False)
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
