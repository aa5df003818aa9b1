"""The app at the site, in a process of Flower's own: hands a task to the trainer and its answer back. It sees no note and no key.

Where the process is ended, its connection to the trainer breaks, and the training with it.
"""

from __future__ import annotations

import json
import socket
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from protocols.federated.app import ANSWER, NODE_SOCKET, TASK
from protocols.federated.frames import receive_pieces, send_pieces

app = ClientApp()


@app.train()  # type: ignore[untyped-decorator, unused-ignore]
def train(message: Message, context: Context) -> Message:
    """One round: out to the trainer, and back."""
    record: Any = message.content[TASK]
    task, weights = record["task"], record["weights"]
    # Of anything else bytes could be made, too: of an int as many zeros.
    if not (isinstance(task, bytes) and isinstance(weights, bytes)):
        return _answer(message, b"", b"", b"a task that is none")
    told = json.dumps({"run": context.run_id, "node": context.node_id}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(str(context.node_config[NODE_SOCKET]))
        send_pieces(sock, told, task, weights)
        pieces = receive_pieces(sock, (3,)) or [b"", b"", b"the trainer has ended"]
    return _answer(message, *pieces)


def _answer(message: Message, result: bytes, weights: bytes, problem: bytes) -> Message:
    answer = ConfigRecord({"result": result, "weights": weights, "problem": problem.decode("ascii", "replace")})
    return Message(content=RecordDict({ANSWER: answer}), reply_to=message)
