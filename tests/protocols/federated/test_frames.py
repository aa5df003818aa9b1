"""Pieces over a local socket: whole, bounded, or refused."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocols.errors import BoundsError, ProtocolError, TruncatedError
from protocols.federated.frames import MOST_BYTES, receive_pieces, send_pieces

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    left, right = socket.socketpair()
    with left, right:
        left.settimeout(5)
        right.settimeout(5)
        yield left, right


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(messages=st.lists(st.lists(st.binary(max_size=300), min_size=1, max_size=8), min_size=1, max_size=3))
def test_what_is_sent_is_what_comes(messages: list[list[bytes]], pair: Pair) -> None:
    left, right = pair
    for message in messages:
        send_pieces(left, *message)
    assert [receive_pieces(right, (len(message),)) for message in messages] == messages


def test_a_piece_larger_than_what_the_system_buffers_comes_whole(pair: Pair) -> None:
    left, right = pair
    large = bytes(range(256)) * 20_000
    sending = threading.Thread(target=send_pieces, args=(left, large, b""))
    sending.start()
    assert receive_pieces(right, (2,)) == [large, b""]
    sending.join()


def test_an_end_between_messages_is_none_and_one_within_is_refused(pair: Pair) -> None:
    left, right = pair
    left.sendall(struct.pack("<I", 1) + struct.pack("<Q", 5) + b"abc")
    left.shutdown(socket.SHUT_WR)
    with pytest.raises(TruncatedError, match="5 bytes"):
        receive_pieces(right, (1,))
    assert receive_pieces(right, (1,)) is None


@pytest.mark.parametrize(
    "head",
    [
        struct.pack("<I", 2) + struct.pack("<QQ", 1, 1),
        struct.pack("<I", 0),
        struct.pack("<I", 1) + struct.pack("<Q", MOST_BYTES + 1),
        struct.pack("<I", 2**32 - 1),
    ],
)
def test_other_numbers_and_lengths_are_refused_before_anything_is_read_for_them(head: bytes, pair: Pair) -> None:
    left, right = pair
    left.sendall(head)
    with pytest.raises(ProtocolError):
        receive_pieces(right, (1,))


def test_more_pieces_than_may_be_are_not_sent(pair: Pair) -> None:
    for pieces in ([b""] * 9, []):
        with pytest.raises(BoundsError):
            send_pieces(pair[0], *pieces)
