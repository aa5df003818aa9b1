"""Whoever reaches Flower's processes on loopback, or answers in them, and is not who was meant. Needs the extra [federated]."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import Any, ClassVar

import pytest

from aggregator.federated.carrying import RelayCarrier
from bench.exchange.certificates import make_certificates
from bench.exchange.ports import unused_port
from protocols.federated.app import ANSWER, FILES
from tests.programs import Programs, wait_for


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
    tls, port, mark = make_certificates(programs.folder / "tls", "127.0.0.1"), unused_port(), programs.folder / "ran"
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


@pytest.mark.skipif(find_spec("flwr") is None, reason="the deployment's test says whether Flower is expected")
def test_attack_another_account_of_a_hospital_s_machine(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node gave tasks, and with them a round's weights, to whoever asked first."""
    from flwr.proto.runtime_pb2 import AcquireTaskRequest
    from flwr.supercore.runtime import RuntimeHttpClient

    from site_client.federated.flower import node
    from site_client.federated.node_key import make_node_key

    for name in ("PYTHONPATH", "TMPDIR"):
        monkeypatch.setenv(name, programs.environment[name])
    port, folder = unused_port(), programs.folder
    monkeypatch.setattr(node, "free_port", lambda: port)
    authority = make_certificates(folder / "tls", "127.0.0.1").authority
    # No link is at that port: what a node asks there is not the question.
    running = node.FlowerNode(node.NodeFiles(folder, make_node_key(folder)[0], authority, folder / "trainer"), 9)
    try:
        wait_for(lambda: _is_there(port))
        stranger = RuntimeHttpClient.from_server_address(f"127.0.0.1:{port}", True, None, [])
        with pytest.raises(Exception, match="401"):
            stranger.AcquireTask(AcquireTaskRequest(supported_task_types=["flwr-clientapp"]))
        assert running.code is None
        secret = folder / "flower" / "tasks.secret"
        assert not secret.stat().st_mode & 0o077
    finally:
        running.end()
    assert not secret.exists()


def _is_there(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
