"""The dashboard as a process of its own beside the server for hospitals: neither waits for the other, nor falls with it.

The server writes one line of JSON, with options and passphrase, and reads one, with the address or why there is none. The process ends
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
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregator.dashboard.options import DashboardOptions
from aggregator.errors import AggregatorError
from aggregator.workspace import Workspace, open_workspace
from foundation.errors import DeidError, StorageError
from protocols.keys.passphrase import Passphrase
from shared.errors import ConfigurationError

if TYPE_CHECKING:
    import uvicorn

_GRACE_S = 40
_PATHS = ("certificate", "key")
_ERRORS = {kind.exit_code: kind for kind in (AggregatorError, ConfigurationError)}


@contextmanager
def beside(workspace: Workspace, options: DashboardOptions) -> Iterator[tuple[str, Callable[[], None]]]:
    """The dashboard of a workspace while the block runs; gives its address, and what has it read its certificate anew.

    Args:
        workspace: whose keys are unlocked.
        options: how it is served.

    Raises:
        AggregatorError, ConfigurationError, StorageError: it does not start, and why.
    """
    command = [sys.executable, "-P", "-m", __name__, str(workspace.root)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    secret = workspace.passphrase.known
    try:
        try:
            process.stdin.write(
                json.dumps({"options": asdict(options), "passphrase": secret.hex() if secret else None}, default=str)
                + "\n"
            )
            process.stdin.flush()
            said: dict[str, Any] = json.loads(process.stdout.readline())
        except (OSError, ValueError) as error:
            raise AggregatorError(
                "dashboard: expected it to start, its process ended; see the messages of the server"
            ) from error
        if "address" not in said:
            raise _error(said)
        yield str(said["address"]), partial(process.send_signal, signal.SIGHUP)
    finally:
        # Its input ends, and so does it.
        process.stdin.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _error(said: dict[str, Any]) -> DeidError:
    kind = _ERRORS.get(said["code"])
    if kind is not None:
        return kind(said["failed"])
    return (
        StorageError("a dashboard that starts", received="an error", advice=said["failed"])
        if said["code"] == StorageError.exit_code
        else AggregatorError(said["failed"])
    )


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
        say({"failed": str(error), "code": error.exit_code})
    except Exception as error:
        # The text of an error that nobody foresaw could hold anything.
        say({"failed": f"a fault in the program: {type(error).__name__}", "code": AggregatorError.exit_code})


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
