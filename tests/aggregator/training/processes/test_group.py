"""Who finds whom, where they listen, and what is refused before anything is learned."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aggregator.training.processes import group, starting
from aggregator.training.processes.group import Place, listen, name_interface, open_store
from aggregator.training.processes.starting import several
from shared.errors import ConfigurationError, ProcessLostError
from tests.aggregator.training.processes.forked import Made, said, together

TOLD = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def test_a_process_learns_its_place_as_torchrun_tells_it() -> None:
    assert Place.of({}) is None
    assert Place.of(TOLD) == Place(1, 2, "127.0.0.1", 29500)
    assert Place.of(TOLD | {"TORCHELASTIC_USE_AGENT_STORE": "True"}) == Place(1, 2, "127.0.0.1", 29500, agent=True)


@pytest.mark.parametrize(
    "changed", [{"RANK": "2"}, {"RANK": "-1"}, {"RANK": "one"}, {"MASTER_PORT": "70000"}, {"MASTER_PORT": ""}]
)
def test_a_place_that_can_not_be_is_refused(changed: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="expected RANK"):
        Place.of(TOLD | changed)


def test_a_place_that_is_told_in_part_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="set all or none"):
        Place.of({"WORLD_SIZE": "2"})


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_the_loopback_needs_no_interface(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    name_interface(Place(0, 2, address, 1))
    assert os.environ["GLOO_SOCKET_IFNAME"].startswith("lo")


def test_processes_of_one_machine_meet_on_its_loopback_whatever_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth7")
    here: list[str] = []

    @contextmanager
    def join(*given: object, **more: object) -> Iterator[None]:
        here.append(os.environ["GLOO_SOCKET_IFNAME"])
        yield

    monkeypatch.setattr(starting, "joined", join)
    there = tmp_path / "there"
    tells = f"import os, pathlib; pathlib.Path({str(there)!r}).write_text(os.environ['GLOO_SOCKET_IFNAME'])"
    with several(2, [sys.executable, "-c", tells]):
        pass
    assert here[0].startswith("lo")
    assert there.read_text() == here[0]


@pytest.mark.parametrize("address", ["10.0.0.7", "0.0.0.0", "training.example.org"])
def test_on_a_network_the_interface_must_be_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    with pytest.raises(ConfigurationError, match="expected GLOO_SOCKET_IFNAME"):
        name_interface(Place(0, 2, address, 1))
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth7")
    name_interface(Place(0, 2, address, 1))


def test_the_first_process_listens_at_the_address_that_it_was_given_and_nowhere_else() -> None:
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    store = open_store(Place(0, 1, "127.0.0.1", port), 5, listener)
    store.set("here", "yes")
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_processes_that_do_not_come_are_not_waited_for_without_end() -> None:
    with (
        pytest.raises(ProcessLostError, match="not all came"),
        group.joined(Place(0, 2, "127.0.0.1", 0), timeout_s=0.2),
    ):
        pass


def test_a_process_that_is_silent_ends_the_others(tmp_path: Path) -> None:
    def run(one: group.Group) -> Made:
        if one.index:
            # It ends when the first has gone.
            time.sleep(3)
        one.hand_out(b"anything")
        return {}

    assert together(tmp_path, run, timeout_s=0.5) == [6, 6]
    assert "has ended or is silent" in said(tmp_path, 0)


def test_torchrun_and_the_option_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TOLD.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="as many as torchrun has started, 2"), several(3, []):
        pass


def test_one_process_is_alone() -> None:
    with several(1, []) as alone:
        assert alone is None
