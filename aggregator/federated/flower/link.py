"""Flower's link as a child of ours: on loopback alone, with keys of nodes, without anything that it could install or tell.

Its control calls need no credential of a user: whoever reaches the port can run code at the sites' nodes. So it listens on loopback, and
what stands before it lets calls of nodes through and no other (docs/federated.md).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aggregator.errors import FederatedError
from foundation.files import write_bytes, write_text
from protocols.federated.app import FILES, SOCKET

NAME = "deid"
_ENDING_S = 10.0
_STARTING_S = 60.0
_NAP_S = 0.3
_SET_DEATH_SIGNAL = 1
_KNOWN = "already in use"


def _end_with_parent() -> None:
    """In the child: the system ends it when the thread that started it is gone."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


@dataclass(frozen=True)
class LinkFiles:
    """What a link works with.

    Args:
        folder: of its state.
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
    """

    def __init__(self, files: LinkFiles, port: int) -> None:
        self._files, self._port = files, port
        self._home = files.folder / "flower"
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._beside = Path(sys.executable).parent
        write_text(
            self._home / "config.toml",
            f'[superlink]\ndefault = "{NAME}"\n\n[superlink.{NAME}]\naddress = "127.0.0.1:{port}"\n'
            f'root-certificates = "{files.authority.resolve()}"\n',
        )
        command = [
            str(self._beside / "flower-superlink"),
            *("--ssl-ca-certfile", str(files.authority.resolve())),
            *("--ssl-certfile", str(files.certificate.resolve())),
            *("--ssl-keyfile", str(files.key.resolve())),
            "--enable-supernode-auth",
            "--disable-runtime-dependency-installation",
            *("--database", str(files.folder.resolve() / "link.sqlite")),
            *("--host", "127.0.0.1"),
            *("--port", str(port)),
        ]
        self._log = (files.folder / "flower.log").open("ab")
        self._process = subprocess.Popen(
            command,
            env=self._environment(),
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            # A link whose provider was killed must not go on by itself.
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call of the system, which takes no lock
        )
        self._await_start()

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self._beside}:/usr/bin:/bin",
            "HOME": str(self._home),
            "FLWR_HOME": str(self._home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "OMP_NUM_THREADS": "1",
            SOCKET: str(self._files.socket),
            **{name: os.environ[name] for name in ("PYTHONPATH", "LANG", "TMPDIR") if name in os.environ},
        }

    def _await_start(self) -> None:
        until = time.monotonic() + _STARTING_S
        while time.monotonic() < until and self._process.poll() is None:
            if self._ask("ls", NAME) is not None:
                return
            time.sleep(_NAP_S)
        self.end()
        raise FederatedError("expected Flower's link to start, it did not; see federated/flower.log")

    def register(self, public_key: Path, name: str) -> None:
        """Let the node of a key connect; one that may already is left as it is."""
        done = self._run("supernode", "register", str(public_key.resolve()), NAME, "--name", name)
        if done.returncode and _KNOWN not in done.stdout + done.stderr:
            raise FederatedError(f"{public_key.name}: expected the public key of a node, got another file")

    def start_run(self) -> int:
        """Hand the app in; the number of its run."""
        app = self._files.folder / "app"
        for name, content in FILES.items():
            path = app / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, content, private=False)
        said = self._ask("run", str(app), NAME)
        if said is None:
            raise FederatedError("expected Flower to take the app, it did not; see federated/flower.log")
        return int(said["run-id"])

    def stop_run(self, run: int) -> None:
        """Stop a run: nodes learn of it when they ask."""
        self._ask("stop", str(run), NAME)

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def _ask(self, *words: str) -> dict[str, Any] | None:
        """What `flwr` says to a command; None where it fails, which its exit code does not always say."""
        done = self._run(*words, "--format", "json")
        try:
            said = json.loads(done.stdout)
        except ValueError:
            return None
        return said if isinstance(said, dict) and said.get("success") is True else None

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self._beside / "flwr"), *words],
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_STARTING_S,
            check=False,
        )
        if done.returncode:
            self._log.write((done.stdout + done.stderr).encode())
            self._log.flush()
        return done

    def end(self) -> None:
        """End it, and all that it has started."""
        for signal_ in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal_)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_S)
        self._log.close()
