"""A real deployment on loopback: Flower's link, three nodes behind their gates, TLS, keys; kills, refusals, a stop. Needs the extra [federated]."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest

from aggregator.errors import FederatedError
from aggregator.federated.carrying import RelayCarrier
from bench.exchange.certificates import Certificates, make_certificates
from protocols.federated.app import ANSWER, FILES
from site_client import ledger
from site_client.ledger import Entry, Event
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

    def left(self) -> list[str]:
        """Processes of the deployment that are still there, whoever started them."""
        mark = f"TMPDIR={self.folder}\0".encode()
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with suppress(OSError):
                    if mark in (process / "environ").read_bytes() + b"\0":
                        found.append((process / "cmdline").read_text().replace("\0", " "))
        return found


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
    # A shell lets what it starts in the background ignore Ctrl+C, and so would all that we start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield started
    signal.signal(signal.SIGINT, before)
    started.end()
    wait_for(lambda: not started.left(), 60)
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
    port = free_port()
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


@pytest.mark.skipif(find_spec("flwr") is None, reason="the deployment's test says whether Flower is expected")
def test_an_app_is_ours_under_its_own_name_alone() -> None:
    from flwr.cli.build import build_fab_from_files
    from flwr.proto.fab_pb2 import Fab, GetFabResponse

    from site_client.federated.flower.node import allows_app, app_digest

    allows, ours = allows_app(app_digest()), build_fab_from_files(dict(FILES))[0]

    def answer(name: str, content: bytes) -> bytes:
        return bytes(GetFabResponse(fab=Fab(hash_str=name, content=content)).SerializeToString())

    assert allows(answer(app_digest(), ours))
    for other in (answer("00" * 32, ours), answer("", ours), answer(app_digest(), ours + b" "), b"", b"\xff"):
        assert not allows(other)


@pytest.mark.skipif(find_spec("flwr") is None, reason="the deployment's test says whether Flower is expected")
def test_attack_answers_that_are_none_cost_nobody_else_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The relay at the provider, with a grid of hospitals of which all but one lie."""
    from types import SimpleNamespace

    from flwr.app import ConfigRecord, RecordDict

    from aggregator.federated.flower import relay
    from protocols.federated.frames import receive_pieces, send_pieces

    class Grid:
        content: ClassVar[list[Any]] = [
            {"result": 10**15, "weights": b"", "problem": ""},
            {"result": b"", "weights": b"", "problem": "\x1b[2K\r\nround 3"},
            ValueError("no message can be made of these objects"),
            {"result": b"signed", "weights": b"learned", "problem": ""},
        ]

        def get_node_ids(self) -> list[int]:
            return [0, 1, 2, 3]

        def push_messages(self, messages: list[Any]) -> list[str]:
            return [f"message {message.metadata.dst_node_id}" for message in messages]

        def pull_messages(self, wanted: list[str]) -> list[Any]:
            found = [self.content[int(one.split()[1])] for one in wanted]
            for one in found:
                if isinstance(one, Exception):
                    raise one
            return [
                SimpleNamespace(
                    has_error=lambda: False,
                    content=RecordDict({ANSWER: ConfigRecord(one)}),
                    metadata=SimpleNamespace(src_node_id=number, reply_to_message_id=wanted[number]),
                )
                for number, one in enumerate(found)
            ]

    ours, its = socket.socketpair()
    with ours, its:
        send_pieces(ours, b'{"timeout_s": 20, "least": 4, "only": ""}', b"task", b"weights")
        # A message of Flower's is made by a process of Flower's alone.
        monkeypatch.setattr(
            relay, "Message", lambda _, node, *__, ttl: SimpleNamespace(metadata=SimpleNamespace(dst_node_id=node))
        )
        relay.serve(Grid(), its)
        told = [receive_pieces(ours, (1, 5)) for _ in range(5)]
    none = b"an answer that is none"
    assert sorted(told, key=lambda one: (len(one or ()), one)) == [
        [b"end"],
        [b"reply", b"0", b"", b"", none],
        [b"reply", b"1", b"", b"", b"2Kround 3"],
        [b"reply", b"2", b"", b"", none],
        [b"reply", b"3", b"signed", b"learned", b""],
    ]


@pytest.mark.skipif(find_spec("flwr") is None, reason="the deployment's test says whether Flower is expected")
def test_attack_another_account_of_the_provider_s_machine(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control calls need no credential, and an app that is handed in by them was run as the provider."""
    from flwr.cli.build import build_fab_from_files
    from flwr.proto.control_pb2 import StartRunRequest
    from flwr.proto.fab_pb2 import Fab
    from flwr.proto.runtime_pb2 import AcquireTaskRequest
    from flwr.supercore.control import ControlHttpClient
    from flwr.supercore.runtime import RuntimeHttpClient

    from aggregator.federated.flower.link import FlowerLink, LinkFiles

    for name in ("PYTHONPATH", "TMPDIR"):
        monkeypatch.setenv(name, programs.environment[name])
    tls, port, mark = make_certificates(programs.folder / "tls", "127.0.0.1"), free_port(), programs.folder / "ran"
    link = FlowerLink(
        LinkFiles(programs.folder, tls.authority, tls.certificate, tls.key, programs.folder / "relay"), port
    )
    reached: Any = (f"127.0.0.1:{port}", False, tls.authority.read_bytes(), [])
    evil = dict(FILES) | {"deid_commons_federated/provider.py": f"open({str(mark)!r}, 'w').write('ran')\n".encode()}
    content = build_fab_from_files(evil)[0]
    asked = StartRunRequest(fab=Fab(hash_str=sha256(content).hexdigest(), content=content))
    try:
        stranger = ControlHttpClient.from_server_address(*reached)
        stranger.StartRun(asked)
        carrier = RelayCarrier(programs.folder / "relay", 1, lambda: link.running)
        link.start_run()
        carrier._connected()
        stranger.StartRun(asked)
        with pytest.raises(Exception, match="401"):
            RuntimeHttpClient.from_server_address(*reached).AcquireTask(
                AcquireTaskRequest(supported_task_types=["flwr-serverapp"])
            )
        time.sleep(5)
        assert not mark.exists()
        carrier.close()
    finally:
        link.end()


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
