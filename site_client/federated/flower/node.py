"""Flower's node as a child of ours: with its own home, nothing of our environment, and no way out but the gate."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from flwr.cli.build import build_fab_from_files
from flwr.proto.fab_pb2 import GetFabResponse
from flwr.proto.node_pb2 import Node
from flwr.proto.run_pb2 import GetRunRequest
from flwr.supernode.fleet_http_client import FleetHttpClient
from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor
from google.protobuf.message import DecodeError

from command_line.flower import QUIET, end_with_parent
from foundation.files import write_bytes
from protocols.federated.app import FILES, NODE_SOCKET

_ENDING_S = 5.0
_SECRET = "tasks.secret"
_ASK_AGAIN_S = 2.0
_UNHEARD = 15
"""So often in a row may the provider say nothing of a run before a round of it is taken to be over."""


def app_digest() -> str:
    """SHA-256 of the app that this program makes."""
    return sha256(build_fab_from_files(dict(FILES))[0]).hexdigest()


def allows_app(digest: str) -> Callable[[bytes], bool]:
    """What tells whether an answer to a call for the app holds exactly the app of that digest."""

    def allows(answer: bytes) -> bool:
        read = GetFabResponse()
        try:
            read.ParseFromString(answer)
        except DecodeError:
            return False
        # By its name too: the node keeps apps under the name that came with them.
        return read.fab.hash_str == digest and sha256(read.fab.content).hexdigest() == digest

    return allows


@dataclass(frozen=True)
class NodeFiles:
    """What a node works with.

    Args:
        folder: its home.
        key: private key of the node.
        certificate: of the gate.
        socket: of the trainer.
    """

    folder: Path
    key: Path
    certificate: Path
    socket: Path


class FlowerNode:
    """A running node.

    Args:
        files: that it works with.
        gate_port: on loopback.
    """

    def __init__(self, files: NodeFiles, gate_port: int) -> None:
        home = files.folder / "flower"
        home.mkdir(mode=0o700, exist_ok=True)
        beside, port = Path(sys.executable).parent, str(free_port())
        # The node itself runs no app, and gives tasks to whoever has this: any account of the machine reaches it.
        self._secret = home / _SECRET
        write_bytes(self._secret, secrets.token_bytes(32))
        node = [
            str(beside / "flower-supernode"),
            "--superlink",
            f"127.0.0.1:{gate_port}",
            "--root-certificates",
            str(files.certificate),
            "--auth-supernode-private-key",
            str(files.key),
            "--node-config",
            f'{NODE_SOCKET}="{files.socket}"',
            "--isolation",
            "process",
            "--superexec-auth-secret-file",
            str(self._secret),
            "--host",
            "127.0.0.1",
            "--port",
            port,
        ]
        executor = [sys.executable, "-P", "-m", "site_client.federated.flower.executor", port, str(self._secret)]
        self._log = (files.folder / "node.log").open("ab")
        # Each in a session of its own, so that all that it starts can be ended with it.
        self._processes = [
            subprocess.Popen(
                command,
                env=environment(home, beside),
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
                # A node whose gate and trainer were killed must not go on by itself.
                preexec_fn=end_with_parent,  # noqa: PLW1509 - one call of the system, which takes no lock
            )
            for command in (node, executor)
        ]

    @property
    def code(self) -> int | None:
        """How it ended, or what runs its apps did; None while both run."""
        return next((one.returncode for one in self._processes if one.poll() is not None), None)

    def end(self) -> None:
        """End it, and all that it has started."""
        for process in reversed(self._processes):
            for signal_ in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal_)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_ENDING_S)
        self._secret.unlink(missing_ok=True)
        self._log.close()


def environment(home: Path, beside: Path) -> dict[str, str]:
    """All that a process of Flower's is told: no telemetry, no look for updates, no environment of ours."""
    return {
        "PATH": f"{beside}:/usr/bin:/bin",
        "HOME": str(home),
        "FLWR_HOME": str(home),
        **QUIET,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Where the program runs from a checkout.
        **{name: os.environ[name] for name in ("PYTHONPATH", "LANG", "TMPDIR") if name in os.environ},
    }


def free_port() -> int:
    """A port of loopback that nobody has at the moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class RunWatch:
    """Asks the provider, as the node and through the gate, whether a run still goes on: Flower does not tell an app that trains.

    Args:
        files: of the node.
        gate_port: on loopback.
    """

    def __init__(self, files: NodeFiles, gate_port: int) -> None:
        self._files, self._port = files, gate_port

    def __call__(self, run: int, node: int) -> Callable[[], bool]:
        """What says whether a run is over; asks at most every two seconds, in a thread of its own."""
        key = load_ssh_private_key(self._files.key.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        client = FleetHttpClient.from_server_address(
            f"127.0.0.1:{self._port}",
            False,
            self._files.certificate.read_bytes(),
            [NodeAuthHttpInterceptor(key, key.public_key())],
        )
        over = threading.Event()
        asked = threading.Event()

        def watch() -> None:
            unheard = 0
            while not over.is_set() and asked.is_set():
                asked.clear()
                try:
                    client.GetRun(GetRunRequest(node=Node(node_id=node), run_id=run))
                    unheard = 0
                except Exception as error:
                    unheard += 1
                    if _says_no(error) or unheard >= _UNHEARD:
                        over.set()
                time.sleep(_ASK_AGAIN_S)

        threads: list[threading.Thread] = []

        def is_over() -> bool:
            asked.set()
            if not threads or not threads[0].is_alive():
                threads[:] = [threading.Thread(target=watch, name="run watch", daemon=True)]
                threads[0].start()
            return over.is_set()

        return is_over


def _says_no(error: Exception) -> bool:
    """Whether the provider has answered, and the answer is that this run does not go on."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return isinstance(status, int) and 400 <= status < 500
