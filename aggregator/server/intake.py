"""From a whole upload to its receipt: the share is taken in beside the event loop, once, however often it is asked for.

Several are taken in at once, but of each site one after the other: whatever a site sends, it keeps one place busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from aggregator.errors import RequestError
from aggregator.registry.states import ShareState, UploadState
from aggregator.server.uploads import Upload, Uploads
from foundation.reading import file_sha256
from protocols.errors import ConflictError, ProtocolError
from protocols.share.bundle_header import read_header

# Longer than most shares take, shorter than a proxy waits.
WAIT_S = 20


class Taken(Protocol):
    """What became of a share."""

    @property
    def state(self) -> ShareState:
        """What was decided."""

    @property
    def receipt(self) -> bytes:
        """Signed."""


TakeIn = Callable[[Path], Taken]


class Intake:
    """Finishes uploads.

    Args:
        uploads: that are whole.
        take_in: decides about a bundle; `aggregator.ingestion.ingest.ingest`.
        decided: is told the state of every share that was decided.
        wait_s: how long a request waits for its receipt.
        workers: how many shares `take_in` can take in at once.
    """

    def __init__(
        self,
        uploads: Uploads,
        take_in: TakeIn,
        decided: Callable[[ShareState], None],
        wait_s: float = WAIT_S,
        workers: int = 1,
    ) -> None:
        self._uploads = uploads
        self._take_in = take_in
        self._decided = decided
        self._wait_s = wait_s
        # One more is hashed while others are taken in.
        self._workers = ThreadPoolExecutor(workers + 1, thread_name_prefix="intake")
        self._jobs: dict[str, asyncio.Future[bytes]] = {}
        self._sites: dict[str, asyncio.Lock] = {}
        self._closed = False

    async def finish(self, upload: Upload) -> bytes | None:
        """The receipt of an upload that is whole; None if it is not there yet: ask again.

        Raises:
            RequestError: bytes are missing, or it is not a bundle of this site.
        """
        if upload.state == UploadState.OPEN and upload.offset != upload.bundle_bytes:
            raise RequestError(
                f"expected all {upload.bundle_bytes} bytes first, got {upload.offset}; send the rest",
                status=409,
                code="offset",
            )
        job = self._jobs.get(upload.id)
        if job is None:
            job = asyncio.ensure_future(self._in_turn(upload))
            self._jobs[upload.id] = job
            job.add_done_callback(lambda ended: self._forget(upload.id, ended))
        await asyncio.wait((job,), timeout=self._wait_s)
        return job.result() if job.done() and not job.cancelled() else None

    async def _in_turn(self, upload: Upload) -> bytes:
        async with self._sites.setdefault(upload.site, asyncio.Lock()):
            if self._closed:
                raise asyncio.CancelledError
            return await asyncio.get_running_loop().run_in_executor(self._workers, self._receipt, upload)

    async def close(self) -> None:
        """Waits for what is being taken in; what still waits stays an open upload, and its site asks again."""
        self._closed = True
        self._workers.shutdown(wait=False, cancel_futures=True)
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)

    def _forget(self, name: str, job: asyncio.Future[bytes]) -> None:
        self._jobs.pop(name, None)
        # Looked at even if nobody waits any more; whoever asks again gets the same anew.
        job.cancelled() or job.exception()

    def _receipt(self, upload: Upload) -> bytes:
        # The site may have waited behind a request that finished it.
        upload = self._uploads.find(upload.site, upload.id)
        if upload.state == UploadState.FINISHED:
            known = self._uploads.receipt(upload.site, upload.bundle_sha256)
            if known is None:
                raise RequestError(
                    "expected an upload with a receipt, got one without; begin it anew", status=410, code="gone"
                )
            return known
        try:
            with self._uploads.held(upload) as path:
                taken = self._decide(upload, path)
        except RequestError:
            self._uploads.end(upload, UploadState.ABORTED)
            raise
        self._uploads.end(upload, UploadState.FINISHED)
        self._decided(taken.state)
        return taken.receipt

    def _decide(self, upload: Upload, path: Path) -> Taken:
        if file_sha256(path) != upload.bundle_sha256:
            raise RequestError(
                "expected the bundle that was announced, got other bytes; send it again", status=422, code="digest"
            )
        try:
            if read_header(path).site != upload.site:
                raise RequestError(
                    "expected a share of the site that sends it, got another's; let each site send its own", status=403
                )
            return self._take_in(path)
        except ProtocolError as error:
            raise refusal(error) from error


def refusal(error: ProtocolError) -> RequestError:
    """What a site is told of an error about its bundle."""
    if isinstance(error, ConflictError):
        return RequestError(str(error), status=409, code="conflict")
    return RequestError(str(error), status=422)
