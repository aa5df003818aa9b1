"""Bundles that come in pieces: what the registry says has arrived is on the disk, whatever happens to the server.

An upload is a row in the registry and a file in `uploads/` of the workspace. The row's offset is the truth. A piece comes
into a file without a name and is hashed on the way; once it is whole, and what was signed, it is written behind the
offset and flushed to the disk, and only then the offset moves. What a crash left behind the offset is written over. Where
the bytes are fewer than the row says, as after a restore of the registry alone, the upload has ended, and its site begins anew.

Of two writers at one upload the one that is whole first wins, since the other is the half of a broken connection that does
not know it yet. A lock on the file keeps them apart, also if two servers run, so that no byte in front of the offset is
ever touched again.

All methods but `append` block and belong into a thread; `append` runs in the event loop and writes as the bytes come.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from aggregator.enrolled.reserved import counted_against, fair_part, reserved_bytes
from aggregator.errors import RequestError
from aggregator.objects.room import COPIES, free_room, has_room
from aggregator.registry import Registry
from aggregator.registry.states import ShareState, UploadState
from aggregator.registry.tables import ShareRow, UploadRow, upload_file
from aggregator.registry.times import as_text
from aggregator.server.authentication import Caller
from aggregator.server.limits import Limits, all_reserved, no_room, telling_of_room
from aggregator.server.waiting import Turns
from foundation.files import flush
from foundation.locks import lock
from foundation.os_errors import map_os_errors
from protocols.http.messages import MAX_CHUNK_BYTES, UploadRequest

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Upload:
    """An upload as the registry has it.

    Args:
        id: random, hard to guess.
        site: whose it is.
        bundle_sha256: digest of the whole.
        bundle_bytes: size of the whole.
        offset: bytes that are on the disk.
        state: whether it goes on.
    """

    id: str
    site: str
    bundle_sha256: str
    bundle_bytes: int
    offset: int
    state: UploadState


class Uploads:
    """The uploads of all sites.

    Args:
        registry: knows them.
        folder: holds their files.
        limits: of each site.
        clock: seconds since 1970.
        turns: of sites that send pieces.
    """

    def __init__(
        self, registry: Registry, folder: Path, limits: Limits, clock: Callable[[], float], turns: Turns | None = None
    ) -> None:
        self._turns = turns or Turns()
        self._registry = registry
        self._folder = folder
        self._limits = limits
        self._clock = clock

    def path(self, upload: Upload) -> Path:
        """Where the bytes of an upload lie."""
        return self._path(upload.id)

    def _path(self, name: str) -> Path:
        return self._folder / upload_file(name)

    def receipt(self, site: str, bundle_sha256: str) -> bytes | None:
        """The receipt of a bundle that this site has sent before; None if there is none yet."""
        with self._registry.reading() as session:
            return _receipt(session, site, bundle_sha256)

    def begin(self, site: str, request: UploadRequest) -> Upload | bytes:
        """The upload of a bundle, made or found again; the receipt if the bundle arrived before.

        Raises:
            RequestError: more than the site may send, or than there is room for.
            StorageError: the file can't be made.
        """
        now, name = self._now(), secrets.token_urlsafe(16)
        # Who asks again, as after every cut, writes nothing and waits for nobody who does.
        with self._registry.reading() as session:
            known = self._known(session, site, request, now)
        if known is not None and not (isinstance(known, Upload) and self._is_lost(known.id, known.offset)):
            return known
        with self._registry.transaction() as session:
            known = self._known(session, site, request, now)
            if isinstance(known, Upload) and self._is_lost(known.id, known.offset):
                _give_up(session.get_one(UploadRow, known.id))
                known = None
            if known is not None:
                return known
            self._check_limits(session, site, request.bundle_bytes, now)
            until = now + datetime.timedelta(hours=self._limits.upload_hours)
            row = UploadRow(
                id=name,
                site=site,
                bundle_sha256=request.bundle_sha256,
                bundle_bytes=request.bundle_bytes,
                offset=0,
                state=UploadState.OPEN,
                created_at=as_text(now),
                expires_at=as_text(until),
            )
            upload = _upload(row)
            path = self.path(upload)
            with telling_of_room(path):
                path.touch(0o600, exist_ok=False)
                flush(self._folder)
            session.add(row)
        return upload

    def _known(
        self, session: Session, site: str, request: UploadRequest, now: datetime.datetime
    ) -> Upload | bytes | None:
        receipt = _receipt(session, site, request.bundle_sha256)
        if receipt is not None:
            return receipt
        asked = request.bundle_sha256, request.bundle_bytes
        same = (row for row in self._open(session, site, now) if (row.bundle_sha256, row.bundle_bytes) == asked)
        return next(map(_upload, same), None)

    def find(self, site: str, name: str) -> Upload:
        """An upload of a site, open or finished.

        Raises:
            RequestError: there is none, or it has ended.
        """
        upload = self._found(site, name)
        if upload.state != UploadState.OPEN or not self._is_lost(name, upload.offset):
            return upload
        with self._registry.transaction() as session:
            row = session.get_one(UploadRow, name)
            # Looked at again under the lock: who ends an upload says so before its file goes.
            if row.state == UploadState.OPEN and self._is_lost(name, row.offset):
                _give_up(row)
        return self._found(site, name)

    async def append(self, caller: Caller, name: str, pieces: AsyncIterator[bytes]) -> int:
        """Writes a piece at its offset; when this returns it is on the disk.

        Args:
            caller: whose signature covers offset and digest of the piece.
            name: of the upload.
            pieces: the bytes as they come.

        Returns:
            the new offset.

        Raises:
            RequestError: at another offset, too long, or no room; nothing counts.
            DigestError: not the bytes that were signed; nothing counts.
            StorageError: the file can't be written.
        """
        upload = await self._turns.run(caller.site, self._ready, caller, name)
        digest, end = hashlib.sha256(), upload.offset
        with telling_of_room(self.path(upload)), tempfile.TemporaryFile(dir=self._folder) as arrived:
            async for piece in pieces:
                end += len(piece)
                if end > upload.bundle_bytes:
                    raise RequestError("expected the bytes that were announced, got more", status=413, code="too-large")
                digest.update(piece)
                arrived.write(piece)
            caller.parts.check_body(digest.digest())
            await self._turns.run(caller.site, self._advance, upload, end, arrived)
        return end

    @contextmanager
    def held(self, upload: Upload) -> Iterator[Path]:
        """The file of an upload that is whole, which stays until the block ends, however long its share is in work."""
        path = self.path(upload)
        with map_os_errors(path):
            file = path.open("rb")
        with file:
            with map_os_errors(path):
                lock(file.fileno())
            yield path

    def end(self, upload: Upload, state: UploadState) -> None:
        """Marks an upload as finished or aborted, and removes its file."""
        with self._registry.transaction() as session:
            session.execute(update(UploadRow).where(UploadRow.id == upload.id).values(state=state))
        with map_os_errors(self.path(upload)):
            self.path(upload).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Ends uploads that are over, lost, or of a decided share, forgets those of long ago, and removes files of no open one."""
        now = self._now()
        decided = select(ShareRow.id).where(
            ShareRow.site == UploadRow.site,
            ShareRow.bundle_sha256 == UploadRow.bundle_sha256,
            ShareRow.receipt.is_not(None),
        )
        with self._registry.transaction() as session:
            still_open = UploadRow.state == UploadState.OPEN
            session.execute(update(UploadRow).where(still_open, decided.exists()).values(state=UploadState.FINISHED))
            kept = set()
            for row in session.scalars(select(UploadRow).where(still_open)):
                if self._is_lost(row.id, row.offset):
                    _give_up(row)
                elif row.expires_at <= as_text(now) and self._is_at_rest(row.id):
                    row.state = UploadState.ABORTED
                else:
                    kept.add(row.id)
            # Those of the last day count for what a site may send in one.
            long_over = UploadRow.expires_at <= as_text(now - _DAY)
            session.execute(delete(UploadRow).where(UploadRow.state != UploadState.OPEN, long_over))
            # Inside the transaction, since an upload that begins meanwhile has its file before its row.
            for path in self._folder.glob("*.part"):
                if path.stem not in kept:
                    with map_os_errors(path):
                        path.unlink(missing_ok=True)

    def _found(self, site: str, name: str) -> Upload:
        with self._registry.reading() as session:
            row = session.get(UploadRow, name)
            # Another site's upload is as good as none: nothing is to be learnt about it.
            if row is None or row.site != site:
                raise RequestError("expected an upload of this site, got none; begin it", status=404, code="not-found")
            over = row.expires_at <= as_text(self._now()) and row.offset < row.bundle_bytes
            if row.state == UploadState.ABORTED or (row.state == UploadState.OPEN and over):
                raise RequestError(
                    "expected an upload that is open, got one that has ended; begin it anew", status=410, code="gone"
                )
            return _upload(row)

    def _is_lost(self, name: str, offset: int) -> bool:
        """Whether fewer bytes are on the disk than have arrived: no backup has them."""
        path = self._path(name)
        with map_os_errors(path):
            try:
                return path.stat().st_size < offset
            except FileNotFoundError:
                return True

    def _is_at_rest(self, name: str) -> bool:
        path = self._path(name)
        with map_os_errors(path), path.open("rb") as file:
            return _can_lock(file)

    def _ready(self, caller: Caller, name: str) -> Upload:
        """The upload, if a piece at the caller's offset can follow."""
        upload = self.find(caller.site, name)
        _check_place(upload, caller.parts.offset)
        self._check_room(min(MAX_CHUNK_BYTES, upload.bundle_bytes - upload.offset))
        return upload

    def _advance(self, upload: Upload, end: int, arrived: IO[bytes]) -> None:
        """Writes a piece that is whole, and moves the offset behind it."""
        with self.path(upload).open("r+b") as file:
            # Nobody waits here, with a thread of everybody's: a share may be in work for hours.
            if not _can_lock(file):
                raise RequestError(
                    "expected an upload at rest, got one in work; ask how far it got", status=409, code="offset"
                )
            # Who was faster has moved the offset, and what lies in front of it counts.
            _check_place(self.find(upload.site, upload.id), upload.offset)
            file.seek(upload.offset)
            arrived.seek(0)
            shutil.copyfileobj(arrived, file)
            file.flush()
            os.fsync(file.fileno())
            self._move(upload, end)

    def _move(self, upload: Upload, end: int) -> None:
        with self._registry.transaction() as session:
            here = (UploadRow.id == upload.id, UploadRow.state == UploadState.OPEN, UploadRow.offset == upload.offset)
            if session.scalar(update(UploadRow).where(*here).values(offset=end).returning(UploadRow.id)) is None:
                raise RequestError(
                    "expected an upload that stays, got one that ended; ask how far it got", status=409, code="offset"
                )

    def _check_limits(self, session: Session, site: str, size: int, now: datetime.datetime) -> None:
        limits = self._limits
        if size > limits.bundle_bytes:
            raise RequestError(
                f"expected a bundle of at most {limits.bundle_bytes} bytes, got {size}; split the share",
                status=413,
                code="too-large",
            )
        if len(self._open(session, site, now)) >= limits.open_uploads:
            raise RequestError(
                f"expected at most {limits.open_uploads} uploads at once, got one more; finish them first",
                status=429,
                code="too-many",
                retry_after_s=60,
            )
        since = as_text(now - _DAY)
        sent = session.scalar(
            select(func.sum(UploadRow.bundle_bytes)).where(UploadRow.site == site, UploadRow.created_at > since)
        )
        if int(sent or 0) + size > limits.day_bytes:
            raise RequestError(
                f"expected at most {limits.day_bytes} bytes a day, got more; go on tomorrow",
                status=429,
                code="too-many",
                retry_after_s=3600,
            )
        if self._refused(session, site, since) >= limits.day_refused:
            raise RequestError(
                f"expected at most {limits.day_refused} bundles a day that are refused, got more; look at the receipts, then go on tomorrow",
                status=429,
                code="too-many",
                retry_after_s=3600,
            )
        needed, free = (1 + COPIES) * size, free_room(self._folder)
        if free < needed:
            raise no_room()
        reserved = counted_against(site, reserved_bytes(session, as_text(now)), fair_part(session, free))
        if free < reserved + needed:
            raise all_reserved()

    def _check_room(self, needed: int) -> None:
        if not has_room(self._folder, needed):
            raise no_room()

    @staticmethod
    def _open(session: Session, site: str, now: datetime.datetime) -> list[UploadRow]:
        # One that is whole goes on until `tidy` ends it: its share may be in work.
        goes_on = (UploadRow.expires_at > as_text(now)) | (UploadRow.offset == UploadRow.bundle_bytes)
        open_ones = select(UploadRow).where(UploadRow.site == site, UploadRow.state == UploadState.OPEN, goes_on)
        return list(session.scalars(open_ones))

    @staticmethod
    def _refused(session: Session, site: str, since: str) -> int:
        """Bundles of a site that were refused since: those with a receipt, and those that did not get that far."""
        rejected = (ShareRow.site == site, ShareRow.state == ShareState.REJECTED, ShareRow.received_at > since)
        # What is refused had come whole; an upload that ended before says nothing against its site.
        whole = UploadRow.offset == UploadRow.bundle_bytes
        aborted = (UploadRow.site == site, UploadRow.state == UploadState.ABORTED, whole, UploadRow.created_at > since)
        counts = (
            select(func.count()).select_from(of).where(*what)
            for of, what in ((ShareRow, rejected), (UploadRow, aborted))
        )
        return sum(session.scalar(count) or 0 for count in counts)

    def _now(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self._clock(), datetime.UTC)


def _receipt(session: Session, site: str, bundle_sha256: str) -> bytes | None:
    return session.scalar(
        select(ShareRow.receipt).where(ShareRow.site == site, ShareRow.bundle_sha256 == bundle_sha256)
    )


def _upload(row: UploadRow) -> Upload:
    return Upload(row.id, row.site, row.bundle_sha256, row.bundle_bytes, row.offset, row.state)


def _can_lock(file: IO[bytes]) -> bool:
    """Locks a file, unless a share is being taken in from it, or a piece written into it, in this process or another."""
    try:
        lock(file.fileno(), wait=False)
    except BlockingIOError:
        return False
    return True


def _give_up(row: UploadRow) -> None:
    """Ends an upload whose bytes are lost: through no fault of its site, so none of it counts as having come whole."""
    row.state, row.offset = UploadState.ABORTED, 0


def _check_place(upload: Upload, offset: int | None) -> None:
    if upload.state != UploadState.OPEN or offset != upload.offset:
        raise RequestError(
            f"expected bytes from {upload.offset} on, got others; go on from there", status=409, code="offset"
        )
