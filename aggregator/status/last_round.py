"""The monthly round that is kept in `round/` of the workspace, as far as somebody who looks at how all stands needs it.

`aggregator.refreshing.kept` writes it and goes on with it; here nothing but a few fields are read. What can't be read is no round: the
next `aggregator refresh` says so, and looks everything up anew.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from aggregator.registry.times import as_moment
from aggregator.workspace import Workspace
from foundation.printable import escape_unprintable
from foundation.reading import read_text

_FILE = "round/round.json"
_DIGITS = 12


@dataclass(frozen=True)
class LastRound:
    """A round.

    Args:
        number: from 1.
        begun: when.
        ended: whether it has.
        unread: files that it was to take in and that came to no decision, so that the registry has nothing of them.
        which: a digest of these files and of what was said of them, so that others are another matter; "" for none.
    """

    number: int
    begun: datetime.datetime
    ended: bool
    unread: int
    which: str = ""


def read_last_round(workspace: Workspace) -> LastRound | None:
    """The round that goes on or ended last; None before the first.

    Raises:
        StorageError: the file is there and the system does not let it be read.
    """
    path = workspace.root / _FILE
    if not path.exists():
        return None
    try:
        given = json.loads(read_text(path))
        unread = sorted((name, str(one["line"])) for name, one in given["files"].items() if _is_unread(name, one))
        which = hashlib.sha256(json.dumps(unread).encode()).hexdigest()[:_DIGITS] if unread else ""
        return LastRound(int(given["number"]), as_moment(given["begun"]), bool(given["ended"]), len(unread), which)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_unread(path: str, taken: Mapping[str, Any]) -> bool:
    # A line about a share begins with its hospital; one about a file of which no share came, with the file.
    return bool(taken["refused"]) and str(taken["line"]).startswith(f"{escape_unprintable(PurePath(path).name)}: ")
