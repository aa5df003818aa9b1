"""The ingest in processes of its own, so that the server stays small and answers while shares are decrypted and checked.

A few of them take shares in side by side, so that a share that takes long keeps no other waiting; one more finishes what an
earlier run left. Whoever works on a share keeps the others off it (`aggregator.ingestion.ingest`).

Server and process talk in lines of JSON over a pipe, one share at a time. The process starts with the first question; if it dies, the
share is still `received` or not yet there, the site is told to ask again, and the next question starts another one. One that
does not answer for longer than the slowest machine would take is killed. It ends when the server does, however that ends: then its pipe
is closed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from aggregator.errors import AggregatorError, RequestError
from aggregator.registry.states import ShareState
from aggregator.server.intake import refusal
from foundation.errors import DeidError
from protocols.errors import ProtocolError
from protocols.keys.passphrase import Passphrase

# For a question without a bundle to speak of, and for each byte beyond: a store over a slow line, read twice, and two checks.
_ANSWER_S, _BYTES_PER_S = 2 * 3600.0, 100_000
# Of all that an earlier run left: what is cut is gone on with by the next.
_RESUMED_S = 3 * 24 * 3600.0


@dataclass(frozen=True)
class Taken:
    """What became of a share.

    Args:
        state: what was decided.
        receipt: signed.
    """

    state: ShareState
    receipt: bytes


class IngestProcess:
    """The server's end.

    Args:
        root: folder of the workspace.
        passphrase: that opens its keys, if the server was asked for it; the process is told over its pipe.
    """

    def __init__(self, root: Path, passphrase: Passphrase | None = None) -> None:
        self._root = root
        self._passphrase = passphrase
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._resuming: subprocess.Popen[str] | None = None
        self._stopped = False

    def take_in(self, path: Path) -> Taken:
        """Decides about a bundle.

        Raises:
            RequestError: it is refused, and why.
            AggregatorError: it can't be done now; repeat it.
        """
        answer = self._ask({"bundle": str(path)})
        return Taken(ShareState(answer["state"]), answer["receipt"].encode())

    def resume(self) -> None:
        """Finishes what an earlier run left.

        Raises:
            AggregatorError: not everything could be finished.
        """
        self._ask({"resume": "all"})

    def stop(self) -> None:
        """Answers no further question; a share that is being taken in is finished, a resume is cut: it can be repeated."""
        self._stopped = True
        resuming = self._resuming
        if resuming is not None:
            resuming.kill()

    def close(self) -> None:
        """Lets the process end with what it does."""
        with self._lock:
            self._end()

    def _ask(self, question: dict[str, str]) -> dict[str, str]:
        with self._lock:
            self._check_running()
            process = self._process if self._process is not None else self._start()
            # Noted before the second look: either `stop` finds the process, or it is found here to have been called.
            self._resuming = process if "resume" in question else None
            self._check_running()
            assert process.stdin is not None
            assert process.stdout is not None
            late = threading.Event()

            def give_up() -> None:
                late.set()
                process.kill()

            deadline = threading.Timer(_longest_s(question), give_up)
            deadline.daemon = True
            deadline.start()
            try:
                process.stdin.write(json.dumps(question) + "\n")
                process.stdin.flush()
                answer: dict[str, str] = json.loads(process.stdout.readline())
            except (OSError, ValueError) as error:
                self._end()
                why = "it did not come for hours" if late.is_set() else "its process ended"
                raise AggregatorError(f"ingest: expected an answer, {why}; see the log of the server") from error
            finally:
                deadline.cancel()
        if "failed" in answer:
            raise AggregatorError(answer["failed"])
        if "refused" in answer:
            raise RequestError(answer["refused"], status=int(answer["status"]), code=answer["code"])
        return answer

    def _check_running(self) -> None:
        if self._stopped:
            raise AggregatorError("ingest: expected a server that runs, got one that ends; repeat it with the next one")

    def _start(self) -> subprocess.Popen[str]:
        # Without the folder that this is run in: Python files there are nobody's to run beside the provider's keys.
        command = [sys.executable, "-P", "-m", __name__, str(self._root)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        secret = None if self._passphrase is None else self._passphrase.known
        if secret is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps({"passphrase": secret.hex()}) + "\n")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            # Its input ends; what it is doing it finishes.
            process.communicate()


def _longest_s(question: dict[str, str]) -> float:
    if "bundle" not in question:
        return _RESUMED_S
    try:
        size = Path(question["bundle"]).stat().st_size
    except OSError:
        size = 0
    return _ANSWER_S + size / _BYTES_PER_S


class IngestWorkers:
    """A bounded number of such processes, each of which starts when it is first needed.

    Args:
        root: folder of the workspace.
        workers: how many shares are taken in at once.
        process: makes one.
    """

    def __init__(self, root: Path, workers: int, process: Callable[[Path], IngestProcess] = IngestProcess) -> None:
        self._workers = [process(root) for _ in range(workers)]
        self._finisher = process(root)
        self._idle: queue.LifoQueue[IngestProcess] = queue.LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def take_in(self, path: Path) -> Taken:
        """Decides about a bundle, once a process is free; raises as `IngestProcess.take_in`."""
        worker = self._idle.get()
        try:
            return worker.take_in(path)
        finally:
            self._idle.put(worker)

    def resume(self) -> None:
        """Finishes what an earlier run left, beside the shares that come; raises as `IngestProcess.resume`."""
        try:
            self._finisher.resume()
        finally:
            # It is asked again in minutes: until then its memory is better used.
            self._finisher.close()

    def stop(self) -> None:
        """Answers no further question; see `IngestProcess.stop`."""
        for one in (*self._workers, self._finisher):
            one.stop()

    def close(self) -> None:
        """Lets the processes end with what they do."""
        for one in (*self._workers, self._finisher):
            one.close()


def main(root: Path) -> None:
    """The process: answers questions until there are no more."""
    from aggregator.ingestion.ingest import ingest, resume
    from aggregator.workspace import open_workspace

    # Ctrl+C reaches the whole group, and so do a terminal that goes away and a service manager that stops it; the server decides when this ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    answers = _own_output()
    workspace = open_workspace(root)
    for line in sys.stdin:
        if not line.endswith("\n"):
            # The server died while it asked.
            return
        question = json.loads(line)
        if "passphrase" in question:
            workspace = open_workspace(root, Passphrase.of_secret(bytes.fromhex(question["passphrase"])))
            continue
        answer = {}
        try:
            if "bundle" in question:
                decision = ingest(workspace, Path(question["bundle"]))
                answer = {"state": decision.state, "receipt": decision.receipt.decode()}
            else:
                resume(workspace)
        except ProtocolError as error:
            answer = _refused(error)
        except DeidError as error:
            answer = {"failed": str(error)}
        except Exception as error:
            # The text of an error that nobody foresaw could hold anything.
            answer = {"failed": f"a fault in the program: {type(error).__name__}"}
        try:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
        except BrokenPipeError:
            # The server died meanwhile. What was decided is in the registry; at its end the interpreter would try once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())
            return


def _refused(error: ProtocolError) -> dict[str, str]:
    request = refusal(error)
    return {"refused": str(request), "status": str(request.status), "code": request.code}


def _own_output() -> TextIO:
    """The pipe to the server, for answers alone: whatever else is printed goes where errors go."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


if __name__ == "__main__":
    main(Path(sys.argv[1]))
