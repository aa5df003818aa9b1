"""An answer as a carrier hands it on: nobody has signed it yet, so it may be anything, and is bytes of bounded length or none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from protocols.keys.signed_message import MAX_MESSAGE_BYTES

NO_ANSWER = b"an answer that is none"
_MOST_PROBLEM = 100
_UNTOLD = re.compile(r"[^A-Za-z0-9 .]")


def read_answer(answer: Mapping[str, object], most_weights: int) -> tuple[bytes, bytes, bytes]:
    """Result, weights and problem of what a node answered; a problem alone where it is no answer.

    Args:
        answer: what came, of any types.
        most_weights: bytes of weights, at most: as many as were sent.
    """
    result, weights, problem = (answer.get(name) for name in ("result", "weights", "problem"))
    # An int would make as many zeros, and a list as many bytes.
    if not (isinstance(result, bytes) and isinstance(weights, bytes) and isinstance(problem, str)):
        return b"", b"", NO_ANSWER
    if len(result) > MAX_MESSAGE_BYTES or len(weights) > most_weights:
        return b"", b"", NO_ANSWER
    return result, weights, plain(problem).encode("ascii")


def plain(told: str) -> str:
    r"""What nobody has signed, as it may stand on a terminal: letters, digits, spaces and points, 100 of them.

    >>> plain("\x1b[2K\r\nPolicyError 7.")
    '2KPolicyError 7.'
    """
    return _UNTOLD.sub("", told[:_MOST_PROBLEM])
