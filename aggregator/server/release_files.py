"""The release repository as files: for everybody, unsigned, since TUF verifies whatever comes out of it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from starlette.responses import FileResponse

from aggregator.errors import RequestError

_ASK_FIRST = "no-cache"
# Targets are led by the SHA-256 of their content. Metadata, checkpoint and the unfinished end of the log are replaced under their names.
_CACHES = {"targets": "public, max-age=31536000, immutable"}
# Every part begins with a letter, digit or "_": no "..", no hidden file, nothing half-written.
_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,250}"
_NAME = re.compile(rf"(metadata|targets|log)(/{_PART}){{1,6}}")


def release_file(root: Path, name: str, ranges: str = "") -> FileResponse:
    """A file of the repository; a range is answered by the response.

    Args:
        root: folder of the repository.
        name: as the request has it, decoded.
        ranges: its header Range; "" for none.

    Raises:
        RequestError: there is no such file, or it lies elsewhere; or more than one range of it is asked for.
    """
    path = root / name
    if _NAME.fullmatch(name):
        try:
            # No link leads out, whoever made it.
            status = path.lstat() if path.resolve().is_relative_to(root.resolve()) else None
        except OSError:
            status = None
        if status is not None and stat.S_ISREG(status.st_mode):
            # Nobody signs this, and each of thousands of ranges would cost as much as a request.
            if "," in ranges:
                raise _several_ranges(status.st_size)
            headers = {
                "cache-control": _CACHES.get(name.partition("/")[0], _ASK_FIRST),
                "x-content-type-options": "nosniff",
            }
            return FileResponse(path, headers=headers, media_type="application/octet-stream", stat_result=status)
    raise RequestError("expected a file of the releases, got none of this name; check it", status=404, code="not-found")


def _several_ranges(size: int) -> RequestError:
    return RequestError(
        "expected one range, got several; ask for each by itself",
        status=416,
        headers={"content-range": f"bytes */{size}"},
    )
