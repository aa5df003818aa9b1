"""A real deployment on loopback: Flower's link, three nodes behind their gates, TLS, keys; kills, refusals, a stop. Needs the extra [federated]."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aggregator.errors import FederatedError
from aggregator.federated.carrying import RelayCarrier
from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.ports import unused_port
from protocols.federated.app import FILES
from site_client import ledger
from site_client.ledger import Entry, Event
from site_client.workspace import open_workspace
from tests.loop import Loop, done, enrol, found, hospital
from tests.programs import Programs, wait_for
from tests.tiny_notes import tiny_notes, write_notes

SITES = ("north", "south", "east")


@pytest.fixture
def ready(tmp_path: Path) -> tuple[Loop, Certificates]:
    """Three hospitals that may take part, and have handed in the keys of their nodes. Nobody has shared anything."""
    (tmp_path / "loop").mkdir()
    loop = found(tmp_path / "loop")
    write_notes(loop.notes("east"), list(tiny_notes(12, 9, "east")))
    nodes = loop.root / "nodes"
    nodes.mkdir()
    for name in SITES:
        enrol(loop, name)
        workspace = ("--workspace", loop.site(name))
        done(hospital("policy", "set", "--federated-rounds", 40, "--federated-epsilon", "none", *workspace))
        done(hospital("federate", "--node-key", nodes / f"{name}.pub", *workspace))
    return loop, make_certificates(tmp_path / "tls", "localhost", "127.0.0.1")


def begin(programs: Programs, loop: Loop, tls: Certificates, port: int, *more: object) -> subprocess.Popen[bytes]:
    words = ("--nodes", loop.root / "nodes", "--certificate", tls.certificate, "--key", tls.key, "--ca", tls.authority)
    return programs.start(
        "provider", "aggregator", "federate", *words, "--port", port, "--workspace", loop.provider, *more
    )


def join(
    programs: Programs,
    loop: Loop,
    tls: Certificates,
    port: int,
    name: str,
    notes: Path | None = None,
) -> subprocess.Popen[bytes]:
    words = ("--server", f"127.0.0.1:{port}", "--ca", tls.authority, "--workspace", loop.site(name))
    return programs.start(name, "site-client", "federate", notes or loop.notes(name), *words)


def entries_of(loop: Loop, name: str) -> list[Entry]:
    return list(ledger.entries(open_workspace(loop.site(name))))


def rounds_of(loop: Loop, name: str) -> list[int]:
    return [
        int(str(entry.details["round"])) for entry in entries_of(loop, name) if entry.event == Event.FEDERATED_ROUND
    ]


def test_three_hospitals_train_together_and_whatever_goes_wrong_meanwhile(
    programs: Programs, ready: tuple[Loop, Certificates]
) -> None:
    """One deployment for all of it: each process of it costs seconds to start."""
    loop, tls = ready
    port = unused_port()
    provider = begin(programs, loop, tls, port, "--epochs", 2, "--least-results", 4, "--timeout", 300)
    wait_for(lambda: "link on" in programs.said("provider"))
    joined = {name: join(programs, loop, tls, port, name) for name in SITES}
    assert_no_node_of_another_key_comes_in(programs, tls, port)
    wait_for(lambda: "round 1:" in programs.said("provider"))
    joined["north"].kill()
    joined["north"].wait()
    # So many that no machine is through with a hundred passes of them before it is stopped.
    many = write_notes(loop.root / "many", list(tiny_notes(24, 9, "north")))
    joined["north"] = join(programs, loop, tls, port, "north", many)
    assert provider.wait(300) == 0
    assert_all_took_part_in_both_rounds(programs, loop)
    for name in SITES:
        if name != "north":
            joined[name].terminate()
            (loop.root / "nodes" / f"{name}.pub").unlink()

    rounds = rounds_of(loop, "north")
    assert_a_stop_ends_what_a_hospital_trains(programs, loop, tls, port)
    assert_another_app_does_not_pass_the_gate(programs, loop, tls, port)
    why = [entry.details["why"] for entry in entries_of(loop, "north") if entry.event == Event.FEDERATED_REFUSED]
    assert why == ["StoppedError", "gate: an app that this program does not make"]
    assert rounds_of(loop, "north") == rounds
    assert not (programs.folder / "elsewhere").exists(), (programs.folder / "elsewhere").read_text()


def assert_no_node_of_another_key_comes_in(programs: Programs, tls: Certificates, port: int) -> None:
    """It comes without a gate, so what refuses it is the link."""
    from site_client.federated.flower.node import FlowerNode, NodeFiles
    from site_client.federated.node_key import make_node_key

    folder = programs.folder / "stranger"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", programs.environment["PYTHONPATH"])
        node = FlowerNode(NodeFiles(folder, make_node_key(folder)[0], tls.authority, folder / "none"), port)
    try:
        wait_for(lambda: node.code is not None)
    finally:
        node.end()


def assert_all_took_part_in_both_rounds(programs: Programs, loop: Loop) -> None:
    """The one that was killed has come back, and one that nobody let in was never there."""
    record: Any = json.loads((loop.provider / "head" / "training.json").read_text())
    assert [set(one["norms"]) for one in record["federated"]["rounds"]] == [{*SITES, "(public notes)"}] * 2
    assert record["federated"]["simulated"] is False
    assert {one["site"] for one in record["influence"]["sites"]} == set(SITES)
    for name in SITES:
        # The last round, and then the measuring of the head without this hospital.
        assert rounds_of(loop, name)[-2:] == [2, 2]
        rounds = [entry for entry in entries_of(loop, name) if entry.event == Event.FEDERATED_ROUND]
        assert rounds[-1].details["measured"] is True
    assert all(programs.said("provider").count(f"operating points: {name}: measured") == 1 for name in SITES)


def assert_a_stop_ends_what_a_hospital_trains(programs: Programs, loop: Loop, tls: Certificates, port: int) -> None:
    """A round of many passes, which the provider gives up."""
    heard = programs.said("north").count("a round begins")
    again = begin(programs, loop, tls, port, "--epochs", 100, "--local-epochs", 100, "--timeout", 300)
    wait_for(lambda: programs.said("north").count("a round begins") > heard)
    again.send_signal(signal.SIGINT)
    wait_for(lambda: "the round was stopped" in programs.said("north"), 60)
    assert again.wait(60) == 130


def assert_another_app_does_not_pass_the_gate(programs: Programs, loop: Loop, tls: Certificates, port: int) -> None:
    """The provider's own link, with an app that differs in a line."""
    from aggregator.federated.flower.link import FlowerLink, LinkFiles

    folder = programs.folder / "other"
    folder.mkdir()
    files = LinkFiles(folder, tls.authority, tls.certificate, tls.key, folder / "relay")
    other = {name: content + b"# another app\n" for name, content in FILES.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aggregator.federated.flower.link.FILES", other)
        patch.setenv("PYTHONPATH", programs.environment["PYTHONPATH"])
        link = FlowerLink(files, port)
        try:
            link.register(loop.root / "nodes" / "north.pub")
            carrier = RelayCarrier(files.socket, 1, lambda: True)
            link.start_run()
            asked = threading.Thread(target=_exchange, args=(carrier,), daemon=True)
            asked.start()
            wait_for(lambda: "the gate refused an app" in programs.said("north"))
        finally:
            link.end()
            # The relay has ended, and the thread with it.
            with suppress(RuntimeError):
                asked.join(30)
            carrier.close()


def _exchange(carrier: RelayCarrier) -> None:
    with suppress(FederatedError):
        list(carrier.exchange(b"task", b"weights", 300))
