"""The provider's end of the socket: answers as they come, and a relay that breaks off is told from one that is done."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aggregator.errors import FederatedError
from aggregator.federated.carrying import RelayCarrier
from aggregator.federated.remote import Reply
from protocols.federated.frames import receive_pieces, send_pieces


@pytest.fixture
def path() -> Iterator[Path]:
    # The path of a socket is short; that of a test is not.
    folder = Path(tempfile.mkdtemp(prefix="deid-"))
    yield folder / "relay"
    shutil.rmtree(folder)


def relay(path: Path, serve: Callable[[socket.socket], object]) -> threading.Thread:
    def run() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(str(path))
            serve(sock)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_every_answer_comes_and_each_round_is_its_own(path: Path) -> None:
    carrier = RelayCarrier(path, 3, lambda: True)
    asked = []

    def serve(sock: socket.socket) -> None:
        while pieces := receive_pieces(sock, (3,)):
            asked.append(pieces)
            send_pieces(sock, b"reply", b"17", b"result of " + pieces[1], b"learned", b"")
            send_pieces(sock, b"reply", b"18", b"", b"", b"error 1 of the carrier")
            send_pieces(sock, b"end")

    thread = relay(path, serve)
    for task, only in ((b"one", ""), (b"two", "node 17")):
        assert list(carrier.exchange(task, b"weights", 5, only)) == [
            Reply("node 17", b"result of " + task, b"learned", ""),
            Reply("node 18", b"", b"", "error 1 of the carrier"),
        ]
    carrier.close()
    thread.join(10)
    assert [(json.loads(told), *rest) for told, *rest in asked] == [
        ({"timeout_s": 5, "least": least, "only": only}, task, b"weights")
        for task, least, only in ((b"one", 3, ""), (b"two", 1, "17"))
    ]


@pytest.mark.parametrize(
    "serve",
    [
        lambda sock: receive_pieces(sock, (3,)),
        lambda sock: (receive_pieces(sock, (3,)), send_pieces(sock, b"reply", b"17", b"", b"", b"")),
        lambda sock: (receive_pieces(sock, (3,)), sock.sendall(b"\xff" * 4)),
        lambda sock: None,
    ],
)
def test_a_relay_that_breaks_off_ends_the_training_with_what_to_do(
    serve: Callable[[socket.socket], object], path: Path
) -> None:
    carrier = RelayCarrier(path, 1, lambda: True)
    thread = relay(path, serve)
    with pytest.raises(FederatedError, match="--resume"):
        list(carrier.exchange(b"task", b"weights", 5))
    carrier.close()
    thread.join(10)


def test_a_run_that_does_not_start_is_not_waited_for_for_ever(path: Path) -> None:
    carrier = RelayCarrier(path, 1, lambda: False)
    with pytest.raises(FederatedError, match=r"flower\.log"):
        list(carrier.exchange(b"task", b"weights", 5))
    carrier.close()
