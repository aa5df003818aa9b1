"""The dashboard as a process of its own beside the server for hospitals: neither waits for the other, nor falls with it.

The server writes one line of JSON, with options and passphrase, and a thread of it hears the answer: the address or why there is none. The process ends
when the pipe to it is closed, however the server ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregator.dashboard.options import DashboardOptions
from aggregator.workspace import Workspace, open_workspace
from foundation.errors import DeidError
from protocols.keys.passphrase import Passphrase

if TYPE_CHECKING:
    import uvicorn

_GRACE_S = 40
_PATHS = ("certificate", "key")
_ON = "hospitals are served without it; see to that, and start the server again"


@contextmanager
def beside(
    workspace: Workspace, options: DashboardOptions, tell: Callable[[str], None], warn: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """The dashboard of a workspace while the block runs, which does not wait for it; gives what has it read its certificate anew.

    Args:
        workspace: whose keys are unlocked.
        options: how it is served.
        tell: takes its address once it answers.
        warn: takes a line where it does not start, or ends by itself. Both are called by a thread.
    """
    command = [sys.executable, "-P", "-m", __name__, str(workspace.root)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        warn(f"dashboard: expected it to start, the machine starts no further process ({type(error).__name__}); {_ON}")
        yield lambda: None
        return
    watched = _Watched(process, tell, warn)
    assert process.stdin is not None
    secret = workspace.passphrase.known
    asked = {"options": asdict(options), "passphrase": secret.hex() if secret else None}
    try:
        # One that is gone already is told of by whoever reads what it says.
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asked, default=str) + "\n")
            process.stdin.flush()
        watched.start()
        yield watched.renew
    finally:
        watched.is_to_end = True
        with suppress(BrokenPipeError):
            # Its input ends, and so does it.
            process.stdin.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class _Watched(threading.Thread):
    """Hears what the dashboard says, and that it has ended."""

    def __init__(
        self, process: subprocess.Popen[str], tell: Callable[[str], None], warn: Callable[[str], None]
    ) -> None:
        super().__init__(daemon=True)
        self._process, self._tell, self._warn = process, tell, warn
        self._answers = self._renewal = self.is_to_end = False

    def run(self) -> None:
        """See `threading.Thread`."""
        assert self._process.stdout is not None
        said: dict[str, Any] = {}
        with self._process.stdout as lines:
            for line in lines:
                # Of one that was killed the last line may be half of one.
                with suppress(ValueError):
                    said = json.loads(line)
                if "address" in said and not self._answers:
                    self._answers = True
                    if self._renewal:
                        self._send()
                    self._tell(str(said["address"]))
        self._process.wait()
        if self.is_to_end:
            return
        if "failed" in said:
            self._warn(f"dashboard: {' '.join(str(said['failed']).split())}; {_ON}")
        else:
            done = "it has ended by itself" if self._answers else "its process has ended"
            self._warn(f"dashboard: expected it to run, {done} (code {self._process.returncode}); {_ON}")

    def renew(self) -> None:
        """Have it read its certificate anew, once it answers: before that a signal would end it."""
        self._renewal = True
        if self._answers:
            self._send()

    def _send(self) -> None:
        self._process.send_signal(signal.SIGHUP)


def main(root: Path) -> None:
    """The process: serves until its input ends."""
    from aggregator.dashboard.serving import run

    # Ctrl+C reaches the whole group, and so do a terminal that goes away and a service manager that stops it; the server decides when this ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(value: dict[str, object]) -> None:
        out.write(json.dumps(value) + "\n")
        out.flush()

    asked = json.loads(sys.stdin.readline())
    secret = asked["passphrase"]
    try:
        workspace = open_workspace(root, Passphrase.of_secret(bytes.fromhex(secret)) if secret else None)
        workspace.unlock()
        run(workspace, _options(asked["options"]), lambda address: say({"address": address}), _stopped_by_input)
    except DeidError as error:
        say({"failed": str(error)})
    except Exception as error:
        # The text of an error that nobody foresaw could hold anything.
        say({"failed": f"a fault in the program: {type(error).__name__}"})


def _options(given: dict[str, Any]) -> DashboardOptions:
    paths = {name: None if given[name] is None else Path(given[name]) for name in _PATHS}
    return DashboardOptions(
        **{**given, **paths, "proxies": tuple(given["proxies"]), "offline": tuple(map(Path, given["offline"]))}
    )


def _stopped_by_input(server: uvicorn.Server) -> None:
    """Ends the server when nobody holds the other end of the input any more."""

    def watch() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
