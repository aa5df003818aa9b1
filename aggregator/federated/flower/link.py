"""Flower's link as a child of ours, and what is asked of it: which nodes may come, the app, a run and its end.

Its port serves calls of nodes and calls of control alike, and those of control need no credential of a user: whoever reaches the port can
run code at the sites' nodes. So it listens on loopback, and what stands before it lets calls of nodes through and no other (docs/federated.md).
It remembers nothing: a node whose key is not handed in with a training is not let into it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from flwr.cli.build import build_fab_from_files
from flwr.proto.control_pb2 import RegisterNodeRequest, StartRunRequest, StopRunRequest
from flwr.proto.fab_pb2 import Fab
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.primitives.asymmetric import public_key_to_bytes, uses_nist_ec_curve

from aggregator.errors import FederatedError
from command_line.flower import QUIET
from foundation.os_errors import map_os_errors
from protocols.federated.app import FILES, SOCKET
from shared.errors import ConfigurationError

_ENDING_S = 10.0
_STARTING_S = 60.0
_NAP_S = 0.2
_SET_DEATH_SIGNAL = 1


def _end_with_parent() -> None:
    """In the child: the system ends it when the thread that started it is gone."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


@dataclass(frozen=True)
class LinkFiles:
    """What a link works with.

    Args:
        folder: of its log and its home.
        authority: certificates that its own is verified by.
        certificate: its own, for 127.0.0.1 among others.
        key: private key of that.
        socket: where the relay finds this process.
    """

    folder: Path
    authority: Path
    certificate: Path
    key: Path
    socket: Path


class FlowerLink:
    """A running link.

    Args:
        files: that it works with.
        port: on loopback.

    Raises:
        ConfigurationError: the port is not free.
        FederatedError: it does not start.
    """

    def __init__(self, files: LinkFiles, port: int) -> None:
        self._files, self._port = files, port
        self._home = files.folder / "flower"
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_free(port)
        beside = Path(sys.executable).parent
        command = [
            str(beside / "flower-superlink"),
            *("--ssl-ca-certfile", str(files.authority.resolve())),
            *("--ssl-certfile", str(files.certificate.resolve())),
            *("--ssl-keyfile", str(files.key.resolve())),
            "--enable-supernode-auth",
            "--disable-runtime-dependency-installation",
            *("--host", "127.0.0.1"),
            *("--port", str(port)),
        ]
        self._log = (files.folder / "flower.log").open("ab")
        self._process = subprocess.Popen(
            command,
            env=self._environment(beside),
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            # A link whose provider was killed must not go on by itself.
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call of the system, which takes no lock
        )
        try:
            self._await_start()
        except BaseException:
            self.end()
            raise

    def _environment(self, beside: Path) -> dict[str, str]:
        return {
            "PATH": f"{beside}:/usr/bin:/bin",
            "HOME": str(self._home),
            "FLWR_HOME": str(self._home),
            **QUIET,
            "OMP_NUM_THREADS": "1",
            SOCKET: str(self._files.socket),
            **{name: os.environ[name] for name in ("PYTHONPATH", "LANG", "TMPDIR") if name in os.environ},
        }

    def _await_start(self) -> None:
        until = time.monotonic() + _STARTING_S
        while time.monotonic() < until and self.running:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), _NAP_S):
                self._control = ControlHttpClient.from_server_address(
                    f"127.0.0.1:{self._port}", False, self._files.authority.read_bytes(), []
                )
                return
            time.sleep(_NAP_S)
        raise FederatedError("expected Flower's link to start, it did not; see federated/flower.log")

    def register(self, public_key: Path) -> None:
        """Let the node of a key come.

        Raises:
            ConfigurationError: it is no public key of a node.
            FederatedError: the link does not take it.
        """
        with map_os_errors(public_key):
            data = public_key.read_bytes()
        try:
            key = load_ssh_public_key(data)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, ec.EllipticCurvePublicKey) or not uses_nist_ec_curve(key):
            raise ConfigurationError(
                f"{public_key.name}: expected the public key of a node, as `site-client federate --node-key` writes it, got another file"
            )
        request = RegisterNodeRequest(public_key=public_key_to_bytes(key), name=public_key.stem)
        try:
            self._control.RegisterNode(request)
        except Exception as error:
            raise FederatedError(
                f"{public_key.name}: expected a key that the link takes, it did not; is it there twice?"
            ) from error

    def start_run(self) -> int:
        """Hand the app in; the number of its run.

        Raises:
            FederatedError: it is not taken.
        """
        content = build_fab_from_files(dict(FILES))[0]
        fab = Fab(hash_str=sha256(content).hexdigest(), content=content)
        try:
            return int(self._control.StartRun(StartRunRequest(fab=fab)).run_id)
        except Exception as error:
            raise FederatedError("expected Flower to take the app, it did not; see federated/flower.log") from error

    def stop_run(self, run: int) -> None:
        """Stop a run: nodes learn of it when they ask."""
        # A link that has gone has stopped it, too.
        with suppress(Exception):
            self._control.StopRun(StopRunRequest(run_id=run))

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, and all that it has started."""
        for signal_ in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal_)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_S)
        self._log.close()


def _require_free(port: int) -> None:
    """Another program at the port would answer in the link's place."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            pass
    except OSError as error:
        raise ConfigurationError(
            f"expected port {port} of loopback to be free, it is not; give another --port"
        ) from error
