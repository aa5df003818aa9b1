"""The site's secret for surrogates that come again, for hashes and for vaults: made on first use, and never anew without a word.

Under another secret the same notes get other surrogates, so that their budgets are spent once more, and hashes of earlier runs are met by no later one.
That there is one is written into the settings of the workspace, so that one that was restored without it is seen.
"""

from __future__ import annotations

from pathlib import Path

from foundation.secret_files import read_kept_secret, read_secret
from site_client.errors import WorkspaceError


def surrogates_secret(path: Path, *, made_before: bool) -> bytes:
    """The secret in a file.

    Args:
        path: of the file.
        made_before: whether there was one ever; if not it is made now.

    Raises:
        WorkspaceError: there was one, and the file is missing.
        StorageError: as `read_secret`.
    """
    if made_before and not path.exists():
        raise WorkspaceError(
            f"{path.name}: expected the secret of earlier surrogates and hashes, found no file; restore it from the backup of the workspace, or, if it "
            "is lost for good, give deid --new-link-key: the same notes then get other surrogates, which spends their budgets once more, and other hashes"
        )
    return read_secret(path)


def kept_secret(path: Path) -> bytes:
    """The secret in a file, for what was made with it before: another one would open nothing, so none is made.

    Raises:
        WorkspaceError: the file is missing.
        StorageError: as `read_kept_secret`.
    """
    if not path.exists():
        raise WorkspaceError(
            f"{path.name}: expected the secret that the vault is under, found no file; restore it from a backup"
        )
    return read_kept_secret(path)
