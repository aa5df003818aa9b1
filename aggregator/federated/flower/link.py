"""Flower's link as a child of ours, and what is asked of it: which nodes may come, the app, a run and its end.

Its port serves calls of nodes and calls of control alike, and those of control need no credential of a user. So it listens on loopback, and
what stands before it lets calls of nodes through and no other (docs/federated.md). Other accounts of this machine reach it all the same, and
may hand in apps. So the link itself runs none: tasks are given out to whoever has a secret of this process alone, and it starts that of its
own run, and leaves all others where they are.
It remembers nothing: a node whose key is not handed in with a training is not let into it.
"""

from __future__ import annotations

import os
import secrets
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
from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor, SuperExecAuthHttpInterceptor
from flwr.supercore.primitives.asymmetric import public_key_to_bytes, uses_nist_ec_curve
from flwr.supercore.runtime import RuntimeHttpClient

from aggregator.errors import FederatedError
from command_line.flower import QUIET, end_with_parent
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.federated.app import FILES, SOCKET
from shared.errors import ConfigurationError

_ENDING_S = 10.0
_STARTING_S = 60.0
_NAP_S = 0.2
_BESIDE = Path(sys.executable).parent
_SECRET, _TOKEN = "tasks.secret", "task.token"
_KIND, _ACQUIRE = "flwr-serverapp", "/flwr.proto.Runtime/AcquireTask"


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
        self._secret = secrets.token_bytes(32)
        write_bytes(self._home / _SECRET, self._secret)
        command = [
            str(_BESIDE / "flower-superlink"),
            *("--ssl-ca-certfile", str(files.authority.resolve())),
            *("--ssl-certfile", str(files.certificate.resolve())),
            *("--ssl-keyfile", str(files.key.resolve())),
            "--enable-supernode-auth",
            "--disable-runtime-dependency-installation",
            *("--isolation", "process"),
            *("--superexec-auth-secret-file", str(self._home / _SECRET)),
            *("--host", "127.0.0.1"),
            *("--port", str(port)),
        ]
        self._log = (files.folder / "flower.log").open("ab")
        self._app: subprocess.Popen[bytes] | None = None
        self._process = self._child(command)
        try:
            self._await_start()
        except BaseException:
            self.end()
            raise

    def _child(self, command: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=self._environment(),
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            # One whose provider was killed must not go on by itself.
            preexec_fn=end_with_parent,  # noqa: PLW1509 - one call of the system, which takes no lock
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{_BESIDE}:/usr/bin:/bin",
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
                    self._address, False, self._files.authority.read_bytes(), []
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
        """Hand the app in, and start the provider's part of it; the number of its run.

        Raises:
            FederatedError: it is not taken, or not started.
        """
        content = build_fab_from_files(dict(FILES))[0]
        fab = Fab(hash_str=sha256(content).hexdigest(), content=content)
        try:
            run = int(self._control.StartRun(StartRunRequest(fab=fab)).run_id)
            token = self._task_of(run)
        except Exception as error:
            raise FederatedError("expected Flower to take the app, it did not; see federated/flower.log") from error
        # Not in the words of the command, which every account of this machine can read.
        write_bytes(self._home / _TOKEN, token.encode())
        command = [
            str(_BESIDE / "flwr-serverapp"),
            *("--runtime-api-address", self._address),
            *("--root-certificates", str(self._files.authority.resolve())),
            *("--token-file", str(self._home / _TOKEN)),
            *("--parent-pid", str(os.getpid())),
        ]
        self._app = self._child(command)
        return run

    def _task_of(self, run: int) -> str:
        """The token of the task of a run; tasks of runs that others have handed in are taken, and left."""
        signing = SuperExecAuthHttpInterceptor(master_secret=self._secret, protected_methods={_ACQUIRE})
        version = RuntimeVersionHttpInterceptor(component_name="SuperExec")
        client = RuntimeHttpClient.from_server_address(
            self._address, False, self._files.authority.read_bytes(), [version, signing]
        )
        until = time.monotonic() + _STARTING_S
        while time.monotonic() < until:
            found = client.AcquireTask(AcquireTaskRequest(supported_task_types=[_KIND]))
            if found.HasField("task") and (found.task.run_id, found.task.type) == (run, _KIND):
                return str(found.token)
            if not found.HasField("task"):
                time.sleep(_NAP_S)
        raise TimeoutError

    def stop_run(self, run: int) -> None:
        """Stop a run: nodes learn of it when they ask."""
        # A link that has gone has stopped it, too.
        with suppress(Exception):
            self._control.StopRun(StopRunRequest(run_id=run))

    @property
    def _address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def running(self) -> bool:
        """Whether it runs, and the app of a run that was started."""
        return self._process.poll() is None and (self._app is None or self._app.poll() is None)

    def end(self) -> None:
        """End it, and all that it has started."""
        for process in filter(None, (self._app, self._process)):
            for signal_ in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal_)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_ENDING_S)
        for name in (_SECRET, _TOKEN):
            (self._home / name).unlink(missing_ok=True)
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
