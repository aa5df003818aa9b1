"""Messages between two of our own processes on one machine, over a local socket: a few pieces of bytes, each behind its length.

What carries tasks is another program, with processes of its own. It gets bytes and hands bytes on; keys, notes and weights in use stay
in the process that talks to it here.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from protocols.errors import BoundsError, TruncatedError

MOST_BYTES = 512 << 20
"""Of a piece: more than the largest weights."""
_MOST_PIECES = 8
_HEAD = struct.Struct("<I")
_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20


def send_pieces(sock: socket.socket, *pieces: bytes) -> None:
    """Send pieces, at most eight.

    Raises:
        BoundsError: more of them, or one too long.
        OSError: nobody takes them.
    """
    if not 0 < len(pieces) <= _MOST_PIECES or max(map(len, pieces)) > MOST_BYTES:
        raise BoundsError("at most 8 pieces of bounded length", received="more", advice="send less", place="message")
    sock.sendall(_HEAD.pack(len(pieces)) + b"".join(_LENGTH.pack(len(piece)) for piece in pieces))
    for piece in pieces:
        # Who has read all may be gone before nothing is sent.
        if piece:
            sock.sendall(piece)


def receive_pieces(sock: socket.socket, counts: Sequence[int]) -> list[bytes] | None:
    """The pieces of one message; None where the other side has ended.

    Args:
        sock: connected.
        counts: how many pieces there may be.

    Raises:
        BoundsError: another number of them, or one too long.
        TruncatedError: it ended within a message.
        OSError: the connection broke.
    """
    head = _read(sock, _HEAD.size, at_start=True)
    if not head:
        return None
    (count,) = _HEAD.unpack(head)
    if count not in counts:
        raise BoundsError(f"{counts} pieces", received=str(count), advice="use one version on both sides")
    lengths = [length for (length,) in _LENGTH.iter_unpack(_read(sock, count * _LENGTH.size))]
    if max(lengths) > MOST_BYTES:
        raise BoundsError(f"at most {MOST_BYTES} bytes", received=str(max(lengths)), advice="send less")
    return [_read(sock, length) for length in lengths]


def _read(sock: socket.socket, length: int, *, at_start: bool = False) -> bytes:
    read = bytearray()
    while len(read) < length:
        piece = sock.recv(min(_CHUNK, length - len(read)))
        if not piece:
            if at_start and not read:
                return b""
            raise TruncatedError(f"{length} bytes", received=str(len(read)), advice="start both sides again")
        read += piece
    return bytes(read)
