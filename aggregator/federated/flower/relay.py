"""The app at the provider, in a process of Flower's own: takes a task from `aggregator federate`, sends it to every node, hands the answers back.

It keeps nothing and decides nothing. It ends when the process that it works for has ended.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from flwr.app import ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.serverapp import Grid, ServerApp

from command_line.flower import end_when_alone
from protocols.federated.answers import NO_ANSWER, read_answer
from protocols.federated.app import ANSWER, SOCKET, TASK
from protocols.federated.frames import receive_pieces, send_pieces

app = ServerApp()
_NAP_S = 0.5


@app.main()  # type: ignore[untyped-decorator, unused-ignore]
def main(grid: Grid, context: Context) -> None:
    """Relay until there is nothing more to relay."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(os.environ[SOCKET])
        end_when_alone(sock)
        while serve(grid, sock):
            pass


def serve(grid: Grid, sock: socket.socket) -> bool:
    """Relay a task and the answers to it; whether there was one."""
    pieces = receive_pieces(sock, (3,))
    if pieces is None:
        return False
    asked, task, weights = pieces
    wanted = json.loads(asked)
    until = time.monotonic() + wanted["timeout_s"]
    record = RecordDict({TASK: ConfigRecord({"task": task, "weights": weights})})
    nodes = _nodes(grid, wanted["least"], wanted["only"], until)
    left_s = max(until - time.monotonic(), 1.0)
    messages = [Message(record, node, MessageType.TRAIN, ttl=left_s) for node in nodes]
    for node, answer in _answers(grid, messages, until, len(weights)):
        send_pieces(sock, b"reply", str(node).encode(), *answer)
    send_pieces(sock, b"end")
    return True


def _nodes(grid: Grid, least: int, only: str, until: float) -> list[int]:
    """The nodes that are there, or the one that is asked for, as soon as there are so many, or time is half over."""
    half = time.monotonic() + (until - time.monotonic()) / 2
    while True:
        nodes = [node for node in grid.get_node_ids() if only in ("", str(node))]
        if len(nodes) >= least or time.monotonic() >= half:
            return nodes
        time.sleep(_NAP_S)


def _answers(
    grid: Grid, messages: list[Message], until: float, most_weights: int
) -> Iterator[tuple[int, tuple[bytes, bytes, bytes]]]:
    """Each node and its answer, as they come, until all are there or time is over."""
    sent = grid.push_messages(messages) if messages else ()
    waiting = {one: message.metadata.dst_node_id for one, message in zip(sent, messages, strict=True) if one}
    while waiting and time.monotonic() < until:
        for one, node in list(waiting.items()):
            # One at a time: of a message of which none can be made, Flower says so for all that were asked for with it.
            try:
                answers = [_read(reply, most_weights) for reply in grid.pull_messages([one])]
            except Exception:
                answers = [(b"", b"", NO_ANSWER)]
            for answer in answers[:1]:
                del waiting[one]
                yield node, answer
        time.sleep(_NAP_S)


def _read(reply: Message, most_weights: int) -> tuple[bytes, bytes, bytes]:
    if reply.has_error():
        return b"", b"", f"error {reply.error.code} of the carrier".encode()
    answer: Any = reply.content[ANSWER]
    return read_answer(answer, most_weights)
