"""A real deployment on loopback: Flower's link, three nodes behind their gates, TLS, keys; kills, refusals, a stop. Needs the extra [federated]."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from aggregator.errors import FederatedError
from aggregator.federated.carrying import RelayCarrier
from bench.exchange.certificates import Certificates, make_certificates
from site_client import ledger
from site_client.ledger import Event
from site_client.workspace import open_workspace
from tests.expected import do_without
from tests.loop import Loop, done, enrol, hospital
from tests.tiny_notes import tiny_notes, write_notes

SITES = ("north", "south", "east")
# Of every process, so also of those that Flower starts: where it connects to, and what names it looks up.
WATCH = """
import os, sys
def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) or event == "socket.getaddrinfo":
        host = arguments[1][0] if event == "socket.connect" else arguments[0]
        host = host.decode() if isinstance(host, bytes) else str(host)
        if not (host.startswith("127.") or host in ("localhost", "::1", "None", "0.0.0.0", "::")):
            with open(os.environ.get("TMPDIR", "/tmp") + "/elsewhere", "a") as file:
                file.write(host + "\\n")
sys.addaudithook(watch)
"""


class Programs:
    """Programs of the deployment, each ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "watch").mkdir()
        (folder / "watch" / "sitecustomize.py").write_text(WATCH)
        root = str(Path(__file__).resolve().parents[2])
        self.environment = os.environ | {
            "PYTHONPATH": f"{folder / 'watch'}:{root}",
            "TMPDIR": str(folder),
            "OMP_NUM_THREADS": "1",
        }
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *words: object) -> subprocess.Popen[bytes]:
        program, *arguments = map(str, words)
        module = {"aggregator": "aggregator", "site-client": "site_client"}[program]
        with (self.folder / f"{name}.out").open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env=self.environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()

    def end(self) -> None:
        for signal_ in (signal.SIGTERM, signal.SIGKILL):
            for process in self.running:
                if process.poll() is None:
                    process.send_signal(signal_)
            for process in self.running:
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    continue


def wait_for(what: Callable[[], object], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.3)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    if find_spec("flwr") is None:
        do_without("flower", "the extra [federated] is not installed")
    # A socket's path is short; that of a test is not.
    folder = Path("/tmp") / f"deid-{os.getpid()}-{time.monotonic_ns() % 10**6}"
    folder.mkdir(mode=0o700)
    started = Programs(folder)
    yield started
    started.end()
    for name in sorted(path.stem for path in folder.glob("*.out")):
        print(f"--- {name}\n{started.said(name)}")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def ready(loop: Loop, tmp_path: Path) -> tuple[Loop, Certificates]:
    """Three hospitals that may take part, and have handed in the keys of their nodes."""
    write_notes(loop.notes("east"), list(tiny_notes(12, 9, "east")))
    enrol(loop, "east")
    nodes = loop.root / "nodes"
    nodes.mkdir()
    for name in SITES:
        workspace = ("--workspace", loop.site(name))
        done(hospital("policy", "set", "--federated-rounds", 40, "--federated-epsilon", "none", *workspace))
        # North and south have the pipeline before; what counts is the release that is newest.
        done(hospital("pull", *workspace))
        done(hospital("federate", "--node-key", nodes / f"{name}.pub", *workspace))
    return loop, make_certificates(tmp_path / "tls", "localhost", "127.0.0.1")


def free_port() -> int:
    from site_client.federated.flower.node import free_port

    return free_port()


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
    workspace: Path | None = None,
    notes: str | None = None,
) -> subprocess.Popen[bytes]:
    words = ("--server", f"127.0.0.1:{port}", "--ca", tls.authority, "--workspace", workspace or loop.site(name))
    return programs.start(name, "site-client", "federate", loop.notes(notes or name), *words)


def rounds_of(loop: Loop, name: str) -> list[int]:
    told = ledger.entries(open_workspace(loop.site(name)))
    return [int(str(entry.details["round"])) for entry in told if entry.event == Event.FEDERATED_ROUND]


def copy_with_another_node(loop: Loop) -> Path:
    """The workspace of a hospital whose node has a key that nobody has registered."""
    stranger = Path(shutil.copytree(loop.site("east"), loop.root / "stranger"))
    shutil.rmtree(stranger / "federated")
    return stranger


def test_three_hospitals_train_together_and_one_is_killed_and_comes_back(
    programs: Programs, ready: tuple[Loop, Certificates]
) -> None:
    loop, tls = ready
    port = free_port()
    provider = begin(programs, loop, tls, port, "--epochs", 3, "--least-results", 4, "--timeout", 300)
    wait_for(lambda: "link on" in programs.said("provider"))
    joined = {name: join(programs, loop, tls, port, name) for name in SITES}
    stranger = join(programs, loop, tls, port, "stranger", copy_with_another_node(loop), notes="east")
    wait_for(lambda: "the node ended with code" in programs.said("stranger"))
    stranger.terminate()
    wait_for(lambda: "round 1:" in programs.said("provider"))
    joined["north"].kill()
    joined["north"].wait()
    join(programs, loop, tls, port, "north")
    assert provider.wait(300) == 0
    # All rounds have all hospitals: the one that was killed has come back, and one that nobody let in was never there.
    record: Any = json.loads((loop.provider / "head" / "training.json").read_text())
    assert [set(one["norms"]) for one in record["federated"]["rounds"]] == [{*SITES, "(public notes)"}] * 3
    assert record["federated"]["simulated"] is False
    assert {one["site"] for one in record["influence"]["sites"]} == set(SITES)
    assert not rounds_of(loop, "stranger")
    for name in SITES:
        assert rounds_of(loop, name)[-1] == 3
    assert not (programs.folder / "elsewhere").exists(), (programs.folder / "elsewhere").read_text()


def _exchange(carrier: RelayCarrier) -> None:
    with suppress(FederatedError):
        list(carrier.exchange(b"task", b"weights", 40))


def test_a_stop_ends_what_hospitals_train_and_another_app_does_not_pass_the_gate(
    programs: Programs, ready: tuple[Loop, Certificates], tmp_path: Path
) -> None:
    from aggregator.federated.flower import link as flower

    loop, tls = ready
    port = free_port()
    # A round of many passes, which nobody waits for.
    provider = begin(programs, loop, tls, port, "--epochs", 100, "--local-epochs", 100, "--timeout", 300)
    wait_for(lambda: "link on" in programs.said("provider"))
    join(programs, loop, tls, port, "north")
    wait_for(lambda: "a round begins" in programs.said("north"))
    provider.send_signal(signal.SIGINT)
    wait_for(lambda: "the round was stopped" in programs.said("north"), 60)
    assert provider.wait(60) == 130
    assert not rounds_of(loop, "north")

    folder = programs.folder / "other"
    folder.mkdir()
    files = flower.LinkFiles(folder, tls.authority, tls.certificate, tls.key, folder / "relay")
    other = {name: content + b"# another app\n" for name, content in flower.FILES.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flower, "FILES", other)
        patch.setenv("PYTHONPATH", programs.environment["PYTHONPATH"])
        link = flower.FlowerLink(files, port)
        try:
            link.register(loop.root / "nodes" / "north.pub", "north")
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
    assert not rounds_of(loop, "north")
    why = [
        entry.details["why"]
        for entry in ledger.entries(open_workspace(loop.site("north")))
        if entry.event == Event.FEDERATED_REFUSED
    ]
    assert why == ["gate: an app that this program does not make"]
    assert not (programs.folder / "elsewhere").exists()
