"""What every page is made from: the workspace, the jobs, and what was asked for; and the records that trainings and audits left.

Nothing here changes anything. A record that is not there, or of an earlier version that said less, is an empty one.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aggregator.dashboard.jobs.running import Jobs
from aggregator.errors import RequestError
from aggregator.publishing.head_record import OWN_NOTES, RECORD
from aggregator.publishing.releases import compatible_releases, representer_digest
from aggregator.registry.states import AccountRole
from aggregator.workspace import Workspace
from foundation.errors import DeidError
from foundation.os_errors import map_os_errors
from foundation.reading import read_text
from shared.privacy.audit_record import RECORD as AUDIT

_LAST_PAGE = 1_000_000
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """A request for a page.

    Args:
        workspace: of the provider.
        jobs: of the dashboard.
        role: of who asks.
        query: what stands behind the question mark.
        path: what the address names, such as a site.
        at: the moment.
    """

    workspace: Workspace
    jobs: Jobs
    role: AccountRole
    query: Mapping[str, str]
    path: Mapping[str, str]
    at: datetime.datetime

    @property
    def day(self) -> datetime.date:
        """Of that moment, in UTC."""
        return self.at.date()

    @property
    def page(self) -> int:
        """Number of the part of a list that is asked for, from 1.

        Raises:
            RequestError: no number.
        """
        asked = self.query.get("page", "1")
        if not asked.isascii() or not asked.isdecimal() or not 1 <= int(asked[:8]) <= _LAST_PAGE:
            raise RequestError("page: expected a number from 1 on, got something else", status=404)
        return int(asked[:8])

    def number(self, name: str) -> int:
        """A number in the address.

        Raises:
            RequestError: none.
        """
        asked = self.path.get(name, "")
        if not asked.isascii() or not asked.isdecimal() or len(asked) > 15:
            raise RequestError(f"{name}: expected a number, got something else", status=404)
        return int(asked)

    def head_record(self) -> Record:
        """What the training of the head wrote down; empty where there is none."""
        return _record_at(self.workspace.head / RECORD)

    def head_scores(self) -> list[Record]:
        """What that head is worth at each hospital.

        Where no PHI was held out its training has written 0, which nobody has measured: it is None here.
        """
        unknown = dict.fromkeys(("recall", "precision", "alone_recall"))
        found = [one for one in self.head_record().get("sites", []) if one["site"] != OWN_NOTES]
        return [one if one["phi_tokens"] else {**one, **unknown} for one in found]

    def representer_record(self) -> Record:
        """The same of the representer."""
        return _record_at(self.workspace.representer / RECORD)

    def representer(self) -> str:
        """Digest of the representer in the workspace, for a page: taken anew only where one of its files has changed, for they are large.

        Raises:
            WorkspaceError: none is trained yet.
        """
        folder = self.workspace.representer
        with map_os_errors(folder):
            paths = sorted(folder.iterdir()) if folder.is_dir() else []
            stamps = [(path.name, one.st_mtime_ns, one.st_size, one.st_ino) for path in paths for one in [path.stat()]]
        known = _REPRESENTERS.get(folder)
        if known is None or known[0] != stamps:
            known = _REPRESENTERS[folder] = (stamps, representer_digest(self.workspace))
        return known[1]

    def audit_record(self) -> Record:
        """What the last audit of the representer in the workspace wrote down."""
        return _record_at(self.workspace.root / "audit" / AUDIT)

    def released(self, digest: str, name: str, file: str) -> Record:
        """A file of JSON of a release; empty where it has none such.

        Args:
            digest: of the release, by which it is remembered: what was signed does not change.
            name: of the release.
            file: of it.
        """
        known = _RELEASED.get((digest, file))
        if known is None:
            try:
                known = json.loads(self.workspace.repository().read(f"{name}/{file}"))
            except (DeidError, ValueError):
                return {}
            if len(_RELEASED) > _MOST_RELEASED:
                _RELEASED.clear()
            _RELEASED[digest, file] = known
        return known if isinstance(known, dict) else {}


_MOST_RELEASED = 500
_RELEASED: dict[tuple[str, str], Record] = {}
_REPRESENTERS: dict[Path, tuple[list[tuple[str, int, int, int]], str]] = {}
_FITTING: dict[Path, tuple[list[str], frozenset[str]]] = {}
EARLIER = "made with an earlier representer: it does not enter the next head"


def fitting_releases(workspace: Workspace) -> frozenset[str]:
    """Digests of the releases whose shares enter the next head: those of the representer that is published last.

    Remembered for the releases that there are: what was signed does not change.

    Raises:
        WorkspaceError, ProtocolError: the release repository is damaged.
    """
    names = workspace.repository().release_names()
    known = _FITTING.get(workspace.root)
    if known is None or known[0] != names:
        found = frozenset(compatible_releases(workspace)) if names else frozenset[str]()
        known = _FITTING[workspace.root] = (names, found)
    return known[1]


def address(path: str, **values: str) -> str:
    """A path with what stands behind its question mark; empty values are left out."""
    given = {name: value for name, value in values.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _record_at(path: Path) -> Record:
    try:
        status = path.stat()
    except OSError:
        return {}
    return _parsed(path, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=8)
def _parsed(path: Path, changed_ns: int, inode: int) -> Record:
    """The record in a file, read once for every state of it."""
    try:
        found = json.loads(read_text(path))
    except (DeidError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
