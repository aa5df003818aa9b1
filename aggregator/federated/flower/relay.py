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
        while pieces := receive_pieces(sock, (3,)):
            asked, task, weights = pieces
            wanted = json.loads(asked)
            until = time.monotonic() + wanted["timeout_s"]
            record = RecordDict({TASK: ConfigRecord({"task": task, "weights": weights})})
            nodes = _nodes(grid, wanted["least"], wanted["only"], until)
            left_s = max(until - time.monotonic(), 1.0)
            for reply in _replies(
                grid, [Message(record, node, MessageType.TRAIN, ttl=left_s) for node in nodes], until
            ):
                result, learned, problem = _read(reply)
                send_pieces(sock, b"reply", str(reply.metadata.src_node_id).encode(), result, learned, problem)
            send_pieces(sock, b"end")


def _nodes(grid: Grid, least: int, only: str, until: float) -> list[int]:
    """The nodes that are there, or the one that is asked for, as soon as there are so many, or time is half over."""
    half = time.monotonic() + (until - time.monotonic()) / 2
    while True:
        nodes = [node for node in grid.get_node_ids() if only in ("", str(node))]
        if len(nodes) >= least or time.monotonic() >= half:
            return nodes
        time.sleep(_NAP_S)


def _replies(grid: Grid, messages: list[Message], until: float) -> Iterator[Message]:
    """Replies as they come, until all are there or time is over."""
    waiting = {one for one in grid.push_messages(messages) if one} if messages else set()
    while waiting and time.monotonic() < until:
        for reply in grid.pull_messages(sorted(waiting)):
            waiting.discard(reply.metadata.reply_to_message_id)
            yield reply
        time.sleep(_NAP_S)


def _read(reply: Message) -> tuple[bytes, bytes, bytes]:
    if reply.has_error():
        return b"", b"", f"error {reply.error.code} of the carrier".encode()
    try:
        answer: Any = reply.content[ANSWER]
        return (
            bytes(answer["result"]),
            bytes(answer["weights"]),
            str(answer["problem"]).encode("ascii", "replace")[:100],
        )
    except (KeyError, TypeError, ValueError):
        return b"", b"", b"an answer that is none"
