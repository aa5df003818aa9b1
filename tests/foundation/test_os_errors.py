from __future__ import annotations

import errno
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors, storage_error

PATH = Path("/notes of Brunhilda/share.parquet")


@pytest.mark.parametrize(
    ("error", "received", "advice"),
    [
        (OSError(errno.ENOSPC, "x"), "a full disk (No space left on device)", "free some space"),
        (OSError(errno.EDQUOT, "x"), "a full disk (Disk quota exceeded)", "free some space"),
        (OSError(errno.EFBIG, "x"), "a full disk (File too large)", "free some space"),
        (PermissionError(errno.EACCES, "x", str(PATH)), "Permission denied", "check the path and its permissions"),
        (FileNotFoundError(errno.ENOENT, "x", str(PATH)), "No such file or directory", "check the path"),
        (OSError(errno.EMFILE, "x"), "Too many open files", "raise the limit (`ulimit -n`)"),
        (OSError(errno.ENFILE, "x"), "Too many open files in system", "raise the limit (`ulimit -n`)"),
        (OSError(errno.ENOMEM, "x"), "Cannot allocate memory", "raise its limit (`ulimit -v`"),
        # Libraries raise such: what they say may quote anything.
        (OSError(f"{PATH} looks damaged"), "OSError", "check the path"),
    ],
)
def test_it_says_what_happened_and_what_to_do_and_where_by_name_only(
    error: OSError, received: str, advice: str
) -> None:
    message = str(storage_error(PATH, error))
    assert message.startswith("share.parquet: expected ")
    assert f", received {received}; {advice}" in message
    assert "Brunhilda" not in message


def test_a_path_without_a_name_is_named_all_the_same() -> None:
    assert str(storage_error(Path("/"), OSError(errno.EIO, "x"))).startswith("/: ")


def test_only_errors_of_the_operating_system_are_mapped() -> None:
    cause = OSError(errno.EIO, "x")
    with pytest.raises(StorageError) as caught, map_os_errors(PATH):
        raise cause
    assert caught.value.__cause__ is cause
    with pytest.raises(ValueError, match="another"), map_os_errors(PATH):
        raise ValueError("another")
