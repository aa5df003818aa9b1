"""The secret of a local service, in a file that its owner alone may read: one line of hexadecimal digits, for `curl` and any language."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from foundation.secret_files import make_secret

_BYTES = 32
_TOKEN = re.compile(rf"[0-9a-f]{{{2 * _BYTES}}}\n?")


def read_token(path: Path) -> str:
    """The token of a file, made now where there is none; of two who make it at once the first wins.

    Raises:
        StorageError: it is damaged, others than its owner may read it, or it can be neither read nor made.
    """
    if not os.path.lexists(path):
        make_secret(path, secrets.token_hex(_BYTES).encode() + b"\n")
    with map_os_errors(path), path.open("rb") as file:
        rights, data = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read(4 * _BYTES)
    if os.name == "posix" and rights & 0o077:
        raise StorageError(
            "a file that only its owner can read",
            received="wider rights",
            advice=f"run chmod 600 {path.name}, and remove it where others may have read it: another is made",
            place=path.name,
        )
    token = data.decode("ascii", "replace")
    if not _TOKEN.fullmatch(token):
        raise StorageError(
            f"{2 * _BYTES} hexadecimal digits",
            received="something else",
            advice="remove the file: another is made",
            place=path.name,
        )
    return token.strip()
