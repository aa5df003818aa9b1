"""Objects that no share names, such as those of a registry that an older one was restored over: counted, and left where they are.

Nobody but a person can say whether they may go: the store may be another workspace's, too, as where a restore is rehearsed. Counting
lists the whole store, so it is asked for by the command and not by every page of the dashboard.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from aggregator.registry.tables import ShareRow
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from shared.errors import ConfigurationError


@dataclass(frozen=True)
class Unnamed:
    """What was found.

    Args:
        digests: of the objects; None where the store could not be listed.
        problem: why it could not; "" where it could.
    """

    digests: tuple[str, ...] | None = ()
    problem: str = ""


def find_unnamed(workspace: Workspace) -> Unnamed:
    """The objects that no share names, whatever became of it. That of a share which is being taken in meanwhile may be among them.

    Raises:
        DatabaseError: the registry is gone.
    """
    try:
        # Before the registry is read, so that what comes meanwhile is named by then.
        found = set(workspace.objects().digests())
    except (StorageError, ConfigurationError) as error:
        # How the hospitals stand is told all the same.
        return Unnamed(None, str(error))
    with workspace.registry().reading() as session:
        for row in session.execute(select(ShareRow.bundle_sha256, ShareRow.payload_sha256)):
            found.difference_update(row)
    return Unnamed(tuple(sorted(found)))
