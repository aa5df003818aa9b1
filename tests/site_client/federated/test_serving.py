"""The trainer behind its socket: one task at a time, and none that nobody waits for."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from protocols.federated.frames import receive_pieces, send_pieces
from shared.federated.local import StoppedError
from site_client.errors import PolicyError
from site_client.federated.control import Control, Wish
from site_client.federated.serving import TrainerServer


@dataclass
class Fake:
    """A trainer that works until it is stopped, where a task says so."""

    began: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    paused_s: Callable[[], float] = lambda: 0.0

    def answer(
        self, task: bytes, weights: bytes, stopped: Callable[[], bool], paused_s: Callable[[], float]
    ) -> tuple[bytes, bytes]:
        self.paused_s = paused_s
        self.began.set()
        if task == b"refused":
            raise PolicyError("expected a policy that allows it, got the name Jane Doe")
        if task == b"unforeseen":
            raise RuntimeError("can't allocate memory for Jane Doe")
        if task == b"long":
            while not stopped():
                pass
            self.ended.set()
            raise StoppedError("stopped")
        return b"signed " + task, weights


@dataclass
class Served:
    path: Path
    trainer: Fake
    control: Control
    over: threading.Event
    told: list[str]
    unheard: threading.Event

    def connect(self, *pieces: bytes) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(10)
        sock.connect(str(self.path))
        if pieces:
            send_pieces(sock, *pieces)
        return sock


RUN = json.dumps({"run": 7, "node": 9}).encode()


@pytest.fixture
def served() -> Iterator[Served]:
    # The path of a socket is short; that of a test is not.
    folder = Path(tempfile.mkdtemp(prefix="deid-"))
    control, over, told = Control(folder / "wish"), threading.Event(), []  # type: ignore[var-annotated]
    control.say(Wish.RUN)
    asked: list[tuple[int, int]] = []
    unheard = threading.Event()

    def run_is_over(run: int, node: int) -> Callable[[], bool]:
        asked.append((run, node))
        if unheard.is_set():
            raise RuntimeError("no key of a node")
        return over.is_set

    trainer: Any = Fake()
    server = TrainerServer(folder / "trainer", trainer, control, run_is_over, told.append)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield Served(folder / "trainer", trainer, control, over, told, unheard)
    server.ended.set()
    thread.join(10)
    assert not thread.is_alive()
    assert set(asked) <= {(7, 9)}
    shutil.rmtree(folder)


def test_a_task_is_answered(served: Served) -> None:
    for number in range(2):
        with served.connect(RUN, b"task %d" % number, b"weights") as sock:
            assert receive_pieces(sock, (3,)) == [b"signed task %d" % number, b"weights", b""]


def test_a_refusal_tells_the_carrier_its_kind_and_nothing_else(served: Served) -> None:
    with served.connect(RUN, b"refused", b"") as sock:
        assert receive_pieces(sock, (3,)) == [b"", b"", b"PolicyError"]


def test_what_nobody_foresaw_tells_its_kind_and_the_next_task_is_answered(served: Served) -> None:
    with served.connect(RUN, b"unforeseen", b"") as sock:
        assert receive_pieces(sock, (3,)) == [b"", b"", b"TrainingError"]
    with served.connect(RUN, b"next", b"") as sock:
        assert receive_pieces(sock, (3,)) == [b"signed next", b"", b""]
    assert "no round: RuntimeError" in served.told
    assert "Jane" not in "".join(served.told)


def test_what_asks_for_a_run_may_fail(served: Served) -> None:
    served.unheard.set()
    with served.connect(RUN, b"task", b"") as sock:
        assert receive_pieces(sock, (3,)) is None
    served.unheard.clear()
    with served.connect(RUN, b"next", b"") as sock:
        assert receive_pieces(sock, (3,)) == [b"signed next", b"", b""]
    assert "a message could not be answered: RuntimeError" in served.told


def test_who_brought_a_task_and_is_gone_ends_it(served: Served) -> None:
    with served.connect(RUN, b"long", b""):
        assert served.trainer.began.wait(10)
        assert not served.trainer.ended.wait(0.2)
    assert served.trainer.ended.wait(10)
    with served.connect(RUN, b"next", b"") as sock:
        assert receive_pieces(sock, (3,)) == [b"signed next", b"", b""]


def test_a_run_that_is_over_ends_its_task(served: Served) -> None:
    with served.connect(RUN, b"long", b"") as sock:
        assert served.trainer.began.wait(10)
        served.over.set()
        assert receive_pieces(sock, (3,)) == [b"", b"", b"TrainingError"]


def test_a_pause_holds_a_task_and_an_end_ends_it(served: Served) -> None:
    with served.connect(RUN, b"long", b"") as sock:
        assert served.trainer.began.wait(10)
        served.control.say(Wish.PAUSE)
        assert not served.trainer.ended.wait(0.5)
        assert served.trainer.paused_s() > 0
        served.control.say(Wish.END)
        assert receive_pieces(sock, (3,)) == [b"", b"", b"TrainingError"]


@pytest.mark.parametrize(
    "pieces", [(b"no JSON", b"task", b""), (b"{}", b"task", b""), (b'{"run": "a", "node": 1}', b"", b"")]
)
def test_what_is_no_message_reaches_no_trainer(pieces: tuple[bytes, ...], served: Served) -> None:
    with served.connect(*pieces) as sock:
        assert receive_pieces(sock, (3,)) is None
    assert not served.trainer.began.is_set()
    assert served.told == ["a message that is none was refused"]
