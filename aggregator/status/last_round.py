"""The monthly round that is kept in `round/` of the workspace, as far as somebody who looks at how all stands needs it.

`aggregator.refreshing.kept` writes it and goes on with it; here nothing but a few fields are read. What can't be read is no round: the
next `aggregator refresh` says so, and looks everything up anew.
"""

from __future__ import annotations

import datetime
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


@dataclass(frozen=True)
class LastRound:
    """A round.

    Args:
        number: from 1.
        begun: when.
        ended: whether it has.
        unread: files that it was to take in and that came to no decision, so that the registry has nothing of them.
    """

    number: int
    begun: datetime.datetime
    ended: bool
    unread: int


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
        unread = sum(_is_unread(name, one) for name, one in given["files"].items())
        return LastRound(int(given["number"]), as_moment(given["begun"]), bool(given["ended"]), unread)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_unread(path: str, taken: Mapping[str, Any]) -> bool:
    # A line about a share begins with its hospital; one about a file of which no share came, with the file.
    return bool(taken["refused"]) and str(taken["line"]).startswith(f"{escape_unprintable(PurePath(path).name)}: ")
