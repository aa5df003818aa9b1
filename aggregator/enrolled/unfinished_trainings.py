"""Where trainings that were cut keep their weights, and their end where a share that they saw counts no more.

No training goes on with other shares than it began with, so nothing is lost; what stayed were weights that a share had trained which
its hospital has taken back. Who takes shares in calls this, so it loads nothing of what trains (`aggregator.training.unfinished`).
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

from sqlalchemy import select

from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.locks import lock_number
from foundation.reading import read_text

COMMANDS = ("train-embeddings", "train-repr", "train-head", "federate", "train-lm")
INPUTS, LOCK = "inputs.json", "lock"


def unfinished_folder(workspace: Workspace) -> Path:
    """Holds a folder for each command that was cut, and the lock."""
    return workspace.root / "unfinished"


def read_inputs(run: Path) -> dict[str, object] | None:
    """What a training in a folder was started with; None where there is none."""
    with suppress(StorageError, ValueError):
        found = json.loads(read_text(run / INPUTS))
        return found if isinstance(found, dict) else None
    return None


def drop_withdrawn(workspace: Workspace) -> None:
    """Removes each training that was cut and has seen a share that counts no more; one that runs is left to the next call.

    What can't be removed now is, too: the share is taken back all the same.

    Raises:
        DatabaseError: the registry is gone.
    """
    folder = unfinished_folder(workspace)
    for number, command in enumerate(COMMANDS):
        if not _seen(folder / command):
            continue
        with suppress(StorageError), lock_number(folder / LOCK, number, wait=False) as alone:
            if alone and not _seen(folder / command) <= _counting(workspace):
                shutil.rmtree(folder / command, ignore_errors=True)


def _seen(run: Path) -> set[str]:
    """Digests of the payloads of the shares that a training was started with."""
    shares = (read_inputs(run) or {}).get("shares")
    return {one for one in shares if isinstance(one, str)} if isinstance(shares, list) else set()


def _counting(workspace: Workspace) -> set[str]:
    query = select(ShareRow.payload_sha256).where(ShareRow.state == ShareState.ACCEPTED)
    with workspace.registry().reading() as session:
        return {digest for digest in session.scalars(query) if digest is not None}
