"""Sends a bundle in pieces that survive any cut: whatever breaks, the server is asked how far it got, and the rest follows.

A piece counts once the server says that it is on its disk. A piece that was cut is sent again, half as large each time
down to `LEAST_BYTES`, so that a line that dies every few seconds makes progress too. Nothing is remembered here: who
asks for an upload of the same bytes gets the one that is open, or the receipt if it arrived long ago.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.http.messages import MAX_CHUNK_BYTES, UploadRequest
from site_client.errors import RefusedError, UnreachableError
from site_client.exchange.retry_policy import asked_seconds
from site_client.exchange.transport import Answer, Transport

LEAST_BYTES = 64 << 10
_LONGEST_CHECK_S = 6 * 3600
_PLACE = re.compile(r"/v1/uploads/[A-Za-z0-9_-]{1,128}")
# After these the server is asked anew where it stands.
_RESUMABLE = frozenset({"offset", "gone", "digest", "slow"})


def upload(
    transport: Transport, path: Path, sha256: str, progress: Callable[[int], object] = lambda arrived: None
) -> bytes:
    """Sends a bundle.

    Args:
        transport: with the site's key.
        path: the bundle.
        sha256: its digest.
        progress: takes the bytes that have arrived so far.

    Returns:
        the receipt, as it came.

    Raises:
        RefusedError: the server does not take it.
        UnreachableError: no answer, however often; another call goes on where this one ended.
        StorageError: the bundle can't be read.
    """
    asked = UploadRequest(sha256, regular_size(path)).to_bytes()
    furthest, failures, piece_bytes = -1, 0, MAX_CHUNK_BYTES
    while True:
        answer = transport.request("POST", "/v1/uploads", asked)
        if answer.status == 200:
            return answer.body
        place, arrived = _place(answer), _offset(answer)
        try:
            while arrived < regular_size(path):
                if arrived > furthest:
                    furthest, failures = arrived, 0
                    progress(arrived)
                piece = _read(path, arrived, piece_bytes)
                reached = _offset(transport.once("PATCH", place, piece, offset=arrived))
                if reached <= arrived:
                    raise UnreachableError(
                        "server: expected to have more after a piece, has as much as before", passing=True
                    )
                arrived = reached
                piece_bytes = min(2 * piece_bytes, MAX_CHUNK_BYTES)
            progress(arrived)
            return _finish(transport, place)
        except (UnreachableError, RefusedError) as error:
            failures += 1
            piece_bytes = max(piece_bytes // 2, LEAST_BYTES)
            transport.pause_after(_passing(error), failures)


def _finish(transport: Transport, place: str) -> bytes:
    """The receipt, waited for while the server checks the share."""
    began = transport.monotonic()
    while (answer := transport.request("POST", f"{place}/finish")).status == 202:
        # Not the pauses alone: the server may hold each answer back for as long as a proxy waits.
        if transport.monotonic() - began > _LONGEST_CHECK_S:
            raise UnreachableError(
                f"server: expected a receipt within {_LONGEST_CHECK_S // 3600} hours, it still checks the share, which has arrived; "
                "give the same command again later"
            )
        transport.sleep(transport.retry_policy.pause(1, asked_seconds(answer.headers.get("retry-after"))))
    return answer.body


def _place(answer: Answer) -> str:
    """Where the upload is: below the server's own address, whatever a proxy makes of its answer."""
    place = answer.headers.get("location", "")
    if not _PLACE.fullmatch(place):
        raise UnreachableError(
            "server: expected the place of an upload, got something else; check the address and the proxy"
        )
    return place


def _passing(error: UnreachableError | RefusedError) -> UnreachableError:
    if isinstance(error, UnreachableError):
        return error
    if error.code not in _RESUMABLE:
        raise error
    return UnreachableError(str(error), passing=True)


def _offset(answer: Answer) -> int:
    text = answer.headers.get("upload-offset", "")
    if not text.isdecimal() or len(text) > 16:
        raise UnreachableError(
            "server: expected how much has arrived, got something else; check the address and the proxy"
        )
    return int(text)


def _read(path: Path, start: int, size: int) -> bytes:
    with map_os_errors(path), path.open("rb") as file:
        file.seek(start)
        piece = file.read(size)
    if not piece:
        raise StorageError(
            "a bundle that stays as it is", received="a shorter one", advice="submit it again", place=path.name
        )
    return piece
