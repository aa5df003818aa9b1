"""The two programs as processes of their own, with Flower's below them, for tests of a deployment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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
        root = str(Path(__file__).resolve().parents[1])
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
