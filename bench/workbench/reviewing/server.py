"""A review that is served by a process of its own, and a client that speaks to it as the page does; both for tests and measurements.

python -m bench.workbench.reviewing.server FOLDER      serves the review in FOLDER, without pre-labelling
python -m bench.workbench.reviewing.server             serves one after the other the reviews whose folders it reads, each in a fork
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from site_client.local_http.gates import KEY_HEADER

Triple = tuple[int, int, str]


@dataclass
class Reviewer:
    """A person at the page.

    Args:
        client: with the session of the page.
    """

    client: httpx.Client

    def note(self, number: int) -> dict[str, Any]:
        """A note as the page gets it."""
        return self._said(self.client.get(f"/api/notes/{number}"))

    def change(self, number: int, what: str, **body: object) -> dict[str, Any]:
        """Change it; when this returns, the program has said that it is saved."""
        return self._said(self.client.post(f"/api/notes/{number}/{what}", json=body))

    def add(self, number: int, version: int, span: Triple) -> dict[str, Any]:
        """Label a stretch."""
        return self.change(number, "edit", version=version, out=[], **{"in": [[*span, "person", None, True]]})

    @staticmethod
    def _said(answer: httpx.Response) -> dict[str, Any]:
        answer.raise_for_status()
        value: dict[str, Any] = answer.json()
        return value


def enter(address: str) -> Reviewer:
    """Open the address that the terminal showed."""
    host, _, token = address.partition("/#")
    client = httpx.Client(base_url=host, timeout=60)
    key = client.post("/api/session", json={"token": token}).raise_for_status().json()["key"]
    client.headers[KEY_HEADER] = key
    return Reviewer(client)


@contextmanager
def served(arguments: Sequence[str], *, ended_by: int = signal.SIGINT) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves a review, and the address that it shows; it is ended with the block.

    Args:
        arguments: of Python.
        ended_by: the signal that ends it, if the block has not.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            shown += line
            if line.startswith("open "):
                yield process, line.split()[1]
                return
        raise RuntimeError(f"expected an address, got {shown!r}")
    finally:
        process.send_signal(ended_by)
        process.communicate(timeout=60)


def serving(folder: Path) -> list[str]:
    """The arguments with which Python serves a review alone."""
    return ["-m", "bench.workbench.reviewing.server", str(folder)]


@dataclass
class Forking:
    """A process that has loaded what serves reviews, so that each of them is there at once.

    Args:
        process: that forks.
    """

    process: subprocess.Popen[str]

    @contextmanager
    def served(self, folder: Path) -> Iterator[tuple[int, str]]:
        """A process of its own that serves a review: its number, and the address that it shows; it is ended with the block."""
        told, asked = self.process.stdout, self.process.stdin
        assert told is not None
        assert asked is not None
        print(folder, file=asked, flush=True)
        _, number, address = told.readline().split()
        try:
            yield int(number), address
        finally:
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGINT)
            # Before that it may have shown further addresses.
            while told.readline() not in ("ended\n", ""):
                pass


@contextmanager
def forking() -> Iterator[Forking]:
    """Serves reviews as long as the block."""
    arguments = [sys.executable, "-m", "bench.workbench.reviewing.server"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Forking(process)


def main(folder: Path, shown: str = "open") -> None:
    """Serve until a signal comes; the line with the address begins with `shown`."""
    from site_client.review.project import Project
    from site_client.review.running import run

    project = Project(folder)
    run(project, None, 0, lambda address: print(f"{shown} {address}", flush=True))
    project.close()


def fork_for_each() -> None:
    """Serve the reviews whose folders are read."""
    import site_client.review.running

    assert site_client.review.running
    for line in sys.stdin:
        child = os.fork()
        if not child:
            main(Path(line.removesuffix("\n")), f"open {os.getpid()}")
            os._exit(0)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        fork_for_each()
