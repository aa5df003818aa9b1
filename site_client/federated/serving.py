"""The trainer behind a local socket: one task after the other, each ended when whoever brought it is gone, its run is over, or the
hospital says so.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from foundation.errors import DeidError
from protocols.errors import ProtocolError
from protocols.federated.frames import receive_pieces, send_pieces
from shared.errors import TrainingError
from shared.federated.local import StoppedError
from site_client.federated.control import Control
from site_client.federated.trainer import Trainer

RunIsOver = Callable[[int, int], Callable[[], bool]]
"""From a run and a node of the carrier to what says whether that run is over."""
Told = Callable[[str], None]
_WAIT_S = 0.5


class TrainerServer:
    """Serves until the hospital ends it.

    Args:
        path: of the socket, in a folder that nobody else can enter.
        trainer: answers tasks.
        control: what the hospital wants.
        run_is_over: asks the carrier.
        tell: is told a line for every task; no text of a note.
    """

    def __init__(
        self, path: Path, trainer: Trainer, control: Control, run_is_over: RunIsOver, tell: Told = lambda line: None
    ) -> None:
        self._trainer, self._control, self._run_is_over, self._tell = trainer, control, run_is_over, tell
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(4)
        self._socket.settimeout(_WAIT_S)
        self.ended = threading.Event()

    def serve(self) -> None:
        """Answer until ended. One task at a time: two rounds at once would count the same budget twice."""
        with self._socket:
            while not self.ended.is_set() and not self._control.ended():
                try:
                    connected, _ = self._socket.accept()
                except TimeoutError:
                    continue
                with connected:
                    connected.settimeout(None)
                    try:
                        self._answer(connected)
                    except Exception as error:
                        # The next message may be a better one.
                        self._tell(f"a message could not be answered: {type(error).__name__}")

    def _answer(self, connected: socket.socket) -> None:
        try:
            pieces = receive_pieces(connected, (3,))
            if pieces is None:
                return
            told, task, weights = pieces
            run = json.loads(told)
            over = self._run_is_over(int(run["run"]), int(run["node"]))
        except (ProtocolError, OSError, ValueError, KeyError, TypeError):
            self._tell("a message that is none was refused")
            return

        def stopped() -> bool:
            return self.ended.is_set() or _is_gone(connected) or over() or self._control.ended()

        self._tell("a round begins")
        try:
            result, learned = self._trainer.answer(task, weights, stopped, self._control.paused_s)
        except DeidError as error:
            # The class alone: what was expected of a note is nobody's business outside.
            self._tell(f"no round: {error}" if not isinstance(error, StoppedError) else "the round was stopped")
            self._reply(connected, b"", b"", _said(error))
        except Exception as error:
            # No text of what nobody foresaw: it may hold a note's.
            self._tell(f"no round: {type(error).__name__}")
            self._reply(connected, b"", b"", _said(error))
        else:
            self._tell("round done")
            self._reply(connected, result, learned, b"")

    def _reply(self, connected: socket.socket, *pieces: bytes) -> None:
        try:
            send_pieces(connected, *pieces)
        except OSError:
            self._tell("nobody waits for the answer any more")


def _said(error: Exception) -> bytes:
    """What the provider hears of a failure: its kind, but of one in training, which may hang on the notes, no more than that."""
    ahead = isinstance(error, DeidError) and not isinstance(error, TrainingError)
    return type(error).__name__.encode() if ahead else TrainingError.__name__.encode()


def _is_gone(connected: socket.socket) -> bool:
    """Whether the other side has closed; it sends nothing while it waits."""
    readable, _, _ = select.select([connected], [], [], 0)
    if not readable:
        return False
    try:
        return not connected.recv(1, socket.MSG_PEEK)
    except OSError:
        return True
