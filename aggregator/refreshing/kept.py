"""What a monthly round keeps in `round/` of the workspace, so that one that was cut goes on where it was.

round.json    the round's number, what became of each file, and from what the head was trained

It holds names of files, states and digests, no text of a note. A file that is damaged costs no more than a training once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aggregator.registry.times import now
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.files import write_text
from foundation.locks import lock_number
from foundation.os_errors import map_os_errors
from foundation.reading import read_text

_FORMAT = 1
_FILE, _LOCK = "round.json", "lock"


@dataclass(frozen=True)
class TakenFile:
    """What became of a file that was brought.

    Args:
        line: for people: whose share it was and what became of it, or why nothing did.
        refused: whether it does not count.
    """

    line: str
    refused: bool


@dataclass(frozen=True)
class KeptRound:
    """A round as it is kept.

    Args:
        number: from 1.
        begun: when.
        ended: when; "" while it goes on.
        files: what became of each by its path.
        inputs: digest of all that decided the head that was trained last; "" for none.
        head: digest of that head.
        measured: whether the influence of sites on it was measured.
    """

    number: int
    begun: str
    ended: str = ""
    files: Mapping[str, TakenFile] = field(default_factory=dict)
    inputs: str = ""
    head: str = ""
    measured: bool = False

    def save(self, workspace: Workspace) -> None:
        """Put it where the next run finds it."""
        write_text(workspace.root / "round" / _FILE, json.dumps({"format": _FORMAT, **asdict(self)}, indent=1))


@contextmanager
def one_round_at_a_time(workspace: Workspace) -> Iterator[None]:
    """Holds the lock of rounds.

    Raises:
        StorageError: another process has it.
    """
    folder = workspace.root / "round"
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    with lock_number(folder / _LOCK, 0, wait=False) as alone:
        if not alone:
            raise StorageError(
                "no other round in this workspace", received="one that runs", advice="wait until it has ended"
            )
        yield


def begin_round(workspace: Workspace, tell: Callable[[str], None]) -> tuple[KeptRound, bool]:
    """The round that was cut, or else the next; and whether it was cut.

    Args:
        workspace: the provider's.
        tell: is told where what was kept can't be read.
    """
    last = _read(workspace, tell)
    if last is not None and not last.ended:
        return last, True
    if last is None:
        return KeptRound(1, now()), False
    return replace(last, number=last.number + 1, begun=now(), ended="", files={}), False


def _read(workspace: Workspace, tell: Callable[[str], None]) -> KeptRound | None:
    path = workspace.root / "round" / _FILE
    if not path.exists():
        return None
    try:
        given: dict[str, Any] = json.loads(read_text(path))
        if given.pop("format") != _FORMAT:
            raise ValueError
        files = {str(name): TakenFile(str(one["line"]), bool(one["refused"])) for name, one in given["files"].items()}
        return KeptRound(**given | {"number": int(given["number"]), "files": files})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        tell(
            f"round/{_FILE} can't be read: what an earlier round has done is looked up anew, and its head trained again"
        )
        return None
